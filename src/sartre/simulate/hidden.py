"""Hidden common causes: each acts on two or three variables of a graph, and is then left out of the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sartre.settings import check_choice, check_number
from sartre.simulate.mechanisms import gp_fourier, standardized

if TYPE_CHECKING:
    from sartre.simulate.interventions import Environments

HiddenEffect = Literal["additive", "linear", "joint"]
Stream = Callable[..., np.random.Generator]
SPREAD = 1.5  # standard deviation of each hidden effect, in those of the noise of the variable
CHOICE, VALUES, EFFECT = 257, 258, 259  # no bytes: they part the streams of hidden causes from those of variables


@dataclass(frozen=True)
class DrawnCauses:
    """The values of hidden causes, and the variables that each acts on.

    Attributes
    ----------
    values : array of shape (n, k)
        Independent and standard normal, one column per hidden cause.
    targets : tuple of k tuples of names
    effect : {"additive", "linear", "joint"}
    """

    values: NDArray[np.float64]
    targets: tuple[tuple[str, ...], ...]
    effect: HiddenEffect

    @property
    def confounded(self) -> set[tuple[str, str]]:
        """The pairs of variables with a common hidden cause, each sorted by name."""
        return {pair for targets in self.targets for pair in combinations(sorted(targets), 2)}

    def beside_parents(self, variable: str) -> NDArray[np.float64]:
        """Return the hidden causes that act jointly with the variable's parents, shape (n, k)."""
        return self.values[:, self._acting_on(variable) if self.effect == "joint" else []]

    def added_to(self, variable: str, stream: Stream, n_reference: int) -> NDArray[np.float64] | float:
        """Return what hidden causes add to a variable, in standard deviations of its noise, shape (n,)."""
        added: NDArray[np.float64] | float = 0.0
        for k in [] if self.effect == "joint" else self._acting_on(variable):
            rng, cause = stream(variable, EFFECT, k), self.values[:, [k]]
            drawn = gp_fourier(cause, rng) if self.effect == "additive" else rng.choice([-1.0, 1.0]) * cause[:, 0]
            added += SPREAD * standardized(drawn, n_reference)
        return added

    def _acting_on(self, variable: str) -> list[int]:
        return [k for k, targets in enumerate(self.targets) if variable in targets]


def draw_hidden(
    number: Any, effect: Any, names: Sequence[str], rows: Environments, stream: Stream, owner: str = "simulate"
) -> DrawnCauses:
    """Check the settings, choose the variables that each hidden cause acts on, and draw its values.

    Which variables these are depends on the names and the seed alone, not on the order of the columns or the rows.

    Examples
    --------
    >>> from sartre.simulate.interventions import Environments
    >>> found = draw_hidden(2, "linear", ["a", "b", "c"], Environments(5), lambda *key: np.random.default_rng(len(key)))
    >>> found.values.shape, [len(targets) in (2, 3) for targets in found.targets]
    ((5, 2), [True, True])
    """
    check_number(owner, "hidden", number, low=0, integer=True)
    check_choice(owner, "hidden_effect", effect, get_args(HiddenEffect))
    if number and len(names) < 2:
        raise ValueError(
            f"The 'hidden' parameter of {owner} needs a graph of two variables or more. Got {len(names)}; leave it out."
        )
    targets, values = [], np.empty((len(rows), int(number)))
    for k in range(int(number)):
        rng = stream(CHOICE, k)
        several = min(int(rng.integers(2, 4)), len(names))
        targets.append(tuple(rng.choice(sorted(names), size=several, replace=False).tolist()))
        sources = [(stream(VALUES, k), rows.n_observational)]
        sources += [(stream(VALUES, k, name), rows.n_intervened) for name in rows.actions]
        values[:, k] = np.concatenate([source.standard_normal(n) for source, n in sources])
    return DrawnCauses(values, tuple(targets), effect)
