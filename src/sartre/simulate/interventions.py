"""What is acted on in simulated environments, and which rows are theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sartre.data.row_design import PERFECT, SOFT
from sartre.settings import check_number, listed

OBSERVATIONAL = "observational"
Actions = Mapping[str, tuple[str, list[str]]]  # by environment, the kind of its intervention and its targets
_FORM = "must map names of environments to lists of column names, or to ('soft', list)"


@dataclass(frozen=True)
class Environments:
    """The rows of a simulation: observational ones first, then equally many for each environment.

    Examples
    --------
    >>> rows = Environments(3, 2, {"drug": ("perfect", ["b"]), "diet": ("soft", ["a", "c"])})
    >>> rows.labels.tolist()
    ['observational', 'observational', 'observational', 'drug', 'drug', 'diet', 'diet']
    >>> rows.described
    {'drug': ['b'], 'diet': ('soft', ['a', 'c'])}
    """

    n_observational: int
    n_intervened: int = 0
    actions: Actions = field(default_factory=dict)

    def __len__(self) -> int:
        return self.n_observational + self.n_intervened * len(self.actions)

    @property
    def n_reference(self) -> int:
        """How many of the first rows the units of a mechanism's inputs are taken from: observational ones, if any."""
        return self.n_observational if self.n_observational >= 2 else len(self)

    @property
    def labels(self) -> NDArray[Any]:
        """The environment of every row."""
        sizes = [self.n_observational] + [self.n_intervened] * len(self.actions)
        return np.repeat(np.array([OBSERVATIONAL, *self.actions], dtype=object), sizes)

    @property
    def described(self) -> dict[str, Any]:
        """What was acted on, as `CausalDiscovery.fit` takes it."""
        return {name: (SOFT, targets) if kind == SOFT else targets for name, (kind, targets) in self.actions.items()}

    def acting_on(self, variable: str) -> Iterator[tuple[str, slice, str]]:
        """Yield the name and the rows of each environment that acts on a variable, and how it does."""
        for place, (name, (kind, targets)) in enumerate(self.actions.items()):
            if variable in targets:
                start = self.n_observational + place * self.n_intervened
                yield name, slice(start, start + self.n_intervened), kind


def read_environments(
    n_samples: Any, interventions: Any, n_intervened: Any, names: Sequence[str], owner: str = "simulate"
) -> Environments:
    """Check numbers of rows and interventions on the variables of a graph.

    Examples
    --------
    >>> read_environments(10, {"drug": ["b"]}, None, ["a", "b"])
    Environments(n_observational=10, n_intervened=10, actions={'drug': ('perfect', ['b'])})
    """
    check_number(owner, "n_samples", n_samples, low=2 if interventions is None else 0, integer=True)
    if interventions is None:
        if n_intervened is not None:
            raise ValueError(f"The 'n_intervened' parameter of {owner} needs 'interventions'. Got {n_intervened!r}.")
        return Environments(int(n_samples))
    actions = _actions(interventions, names, owner)
    if n_intervened is None and n_samples == 0:
        raise ValueError(
            f"The 'n_intervened' parameter of {owner} must be given if 'n_samples' is 0. Got None instead."
        )
    each = n_samples if n_intervened is None else n_intervened
    check_number(owner, "n_intervened", each, low=1, integer=True)
    found = Environments(int(n_samples), int(each), actions)
    if len(found) < 2:
        raise ValueError(f"{owner} needs at least two rows in all. Got 1; raise 'n_samples' or 'n_intervened'.")
    return found


def check_set_to(set_to: Any, owner: str = "simulate") -> tuple[float, float]:
    """Check the distribution of values that are set, a mean and a standard deviation."""
    complaint = (
        f"The 'set_to' parameter of {owner} must be a pair of finite numbers, a mean and a standard deviation of 0 or "
        f"more. Got {set_to!r} instead."
    )
    if not (isinstance(set_to, (tuple, list)) and len(set_to) == 2 and all(isinstance(v, Real) for v in set_to)):
        raise TypeError(complaint)
    mean, deviation = float(set_to[0]), float(set_to[1])
    if not (np.isfinite(mean) and 0 <= deviation < np.inf):
        raise ValueError(complaint)
    return mean, deviation


def _actions(interventions: Any, names: Sequence[str], owner: str) -> Actions:
    """Return the kind and the targets of every intervention, after checking their form and their columns."""
    if not isinstance(interventions, Mapping):
        raise TypeError(
            f"The 'interventions' parameter of {owner} {_FORM}. Got {type(interventions).__name__} instead."
        )
    if not interventions:
        raise ValueError(f"The 'interventions' parameter of {owner} {_FORM}. Got none; leave it out to observe only.")
    return {_environment(name, owner): _action(name, given, names, owner) for name, given in interventions.items()}


def _environment(name: Any, owner: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"The 'interventions' parameter of {owner} {_FORM}. Got the name {name!r}, which is no text.")
    if name == OBSERVATIONAL:
        raise ValueError(
            f"No environment of the 'interventions' parameter of {owner} may be named {OBSERVATIONAL!r}: rows in which "
            "nothing is acted on have that name. Choose another one."
        )
    return name


def _action(name: str, given: Any, names: Sequence[str], owner: str) -> tuple[str, list[str]]:
    kind, targets = PERFECT, given
    if isinstance(given, tuple) and len(given) == 2 and (not isinstance(given[1], str) or given[0] == SOFT):
        kind, targets = given
    if kind not in (SOFT, PERFECT) or not isinstance(targets, (list, tuple)):
        raise TypeError(f"The 'interventions' parameter of {owner} {_FORM}. Got {given!r} for {name!r}.")
    unknown = [str(target) for target in targets if target not in names]
    if unknown:
        raise ValueError(
            f"The 'interventions' parameter of {owner} acts on {listed(unknown)} in {name!r}, but the graph has no "
            f"such variable. Choose from {listed(names)}."
        )
    return kind, list(dict.fromkeys(targets))
