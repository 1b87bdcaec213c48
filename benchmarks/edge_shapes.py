"""How often the shape of an edge is that of the function that made the data.

Thirteen functions of a normal or uniform cause are fitted beside those of a second cause that follows the first. The
two constants of `sartre.evidence.shapes`, the share of the range and the number of standard errors that a curve must
come back to have turned, were chosen on seeds 0 to 11:

    python benchmarks/edge_shapes.py --first-seed 110100 --seeds 20
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import Any

import numpy as np

from sartre.additive.mechanism import fit_mechanism
from sartre.evidence.shapes import shape_of

SHAPES: dict[str, list[Any]] = {
    "rising": [
        lambda x: x,
        lambda x: np.tanh(2 * x),
        np.exp,
        lambda x: x**3 / 4 + x / 4,
        lambda x: np.maximum(x, 0),
    ],
    "falling": [lambda x: -x, lambda x: -np.tanh(2 * x)],
    "U-shaped": [np.square, np.abs, lambda x: (x - 0.6) ** 2],
    "inverted U": [lambda x: -(x**2), np.cos, lambda x: -((x + 0.6) ** 2)],
    "wavy": [lambda x: np.sin(2 * x), lambda x: np.sin(3 * x)],
}
FUNCTIONS = [(shape, function) for shape, functions in SHAPES.items() for function in functions]


def found(rng: np.random.Generator, n: int, share: float, function: Any, *, normal: bool) -> str:
    """Return the shape found for a function that explains a share of the target's variance."""
    normal_cause, uniform_cause = rng.normal(size=n), rng.uniform(-2, 2, size=n)
    cause = normal_cause if normal else uniform_cause
    other = 0.6 * cause + rng.normal(size=n)
    effect = function(cause)
    effect = (effect - effect.mean()) / effect.std() * np.sqrt(share)
    target = effect + 0.3 * np.sin(other) + rng.normal(size=n) * np.sqrt(1 - share)
    low, high = np.quantile(cause, [0.025, 0.975]).tolist()
    grid = np.linspace(low, high, 41)
    return shape_of(fit_mechanism(np.column_stack([cause, other]), target).curve(0, grid))


def main() -> None:
    """Print the share of right shapes for each number of rows and strength."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--first-seed", type=int, default=0)
    asked = parser.parse_args()
    print("rows  share of variance  right, by shape")
    for n, share in product((200, 500, 2000), (0.1, 0.3, 0.8)):
        right: dict[str, list[bool]] = {shape: [] for shape in SHAPES}
        for seed in range(asked.first_seed, asked.first_seed + asked.seeds):
            for k, (shape, function) in enumerate(FUNCTIONS):
                rng = np.random.default_rng([seed, k])
                right[shape].append(found(rng, n, share, function, normal=seed % 2 == 1) == shape)
        everything = np.mean([each for shape in right.values() for each in shape])
        shown = ", ".join(f"{shape} {np.mean(each):.2f}" for shape, each in right.items())
        print(f"{n:4d}  {share:.1f}  {everything:.3f}  {shown}")


if __name__ == "__main__":
    main()
