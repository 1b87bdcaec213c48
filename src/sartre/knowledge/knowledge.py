"""Prior knowledge: edges that must or must not be in the graph, and which variables come before which others."""

from __future__ import annotations

import json
import tomllib
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sartre.compute.files import reading
from sartre.graph.paths import find_cycle, transitive_closure
from sartre.settings import listed, suggestion

MOST_NAMED = 30  # columns in a warning


@dataclass(frozen=True, eq=False)
class Constraints:
    """Knowledge about the columns of one table, as boolean matrices of shape (d, d).

    before: [earlier, later], transitively closed. forbidden, required: [parent, child]. confounded: symmetric; the two
    have a common cause that is not a column. outside_tiers: the columns whose place beside those of the tiers is not
    known; empty without tiers.
    """

    names: tuple[str, ...]
    before: NDArray[np.bool_]
    forbidden: NDArray[np.bool_]
    required: NDArray[np.bool_]
    confounded: NDArray[np.bool_]
    outside_tiers: tuple[str, ...] = ()

    @property
    def open(self) -> NDArray[np.bool_]:
        """Edges that are left to the data: neither required nor excluded."""
        return ~(self.forbidden | self.required | self.before.T | np.eye(len(self.names), dtype=bool))

    def settles(self, cause: int, effect: int) -> bool:
        """Return whether the direction of an edge is known: it must not point the other way."""
        return bool(self.before[cause, effect] or self.forbidden[effect, cause])

    def check_order(self, order: NDArray[np.intp], step: str) -> None:
        """Refuse an order that contradicts the knowledge, naming the step that made it."""
        if not self.before.any():
            return
        position = np.argsort(order)
        for a, b in np.argwhere(self.before & (position[:, None] >= position)).tolist():
            raise ValueError(
                f"{step} did not put '{self.names[a]}' before '{self.names[b]}', as the knowledge requires. "
                "Use another orderer."
            )

    def check_edges(self, adjacency: NDArray[Any], step: str) -> None:
        """Refuse a graph that contradicts the knowledge, naming the step that made it."""
        present = np.asarray(adjacency) != 0
        for a, b in np.argwhere(self.required).tolist():
            if not present[a, b]:
                raise ValueError(
                    f"{step} left out the required edge {self.names[a]} -> {self.names[b]}. Use another pruner."
                )
        for a, b in np.argwhere(present).tolist():
            if self.forbidden[a, b] or self.before[b, a]:
                raise ValueError(
                    f"{step} kept the edge {self.names[a]} -> {self.names[b]}, which the knowledge excludes. "
                    "Use another pruner."
                )


@dataclass(frozen=True, kw_only=True, repr=False)
class Knowledge:
    """Prior knowledge about a graph, by column names; every result of `CausalDiscovery` obeys it.

    Constraints that contradict each other are refused at once, with the reason.

    Parameters
    ----------
    required : list of pairs (cause, effect)
        Edges that must be in the graph.
    forbidden : list of pairs (cause, effect)
        Edges that must not be in the graph; an indirect effect is still possible.
    tiers : list of lists of names
        No variable is a cause, direct or indirect, of one in an earlier tier. Variables in no tier may come anywhere;
        a fit that learns the order names them in a warning.
    before : list of pairs (earlier, later)
        The later variable is not a cause, direct or indirect, of the earlier one.
    roots, leaves : lists of names
        Variables without causes, and variables without effects.
    confounded : pairs (a, b), either way round
        Variables with a common cause that is not a column. An edge between them is only learnt if the one acts on the
        other through more than what its own causes leave unexplained; their common cause explains the rest.

    Examples
    --------
    >>> Knowledge(required=[("smoking", "tar")], tiers=[["age"], ["smoking", "tar", "cancer"]], leaves=["cancer"])
    Knowledge(required=[('smoking', 'tar')], tiers=[['age'], ['cancer', 'smoking', 'tar']], leaves=['cancer'])
    >>> Knowledge(required=[("a", "b")], before=[("b", "a")])
    Traceback (most recent call last):
    ValueError: No order can place a before b before a: a -> b is required, 'before' puts b before a. Drop one of these
    constraints.
    """

    required: Iterable[Sequence[str]] = ()
    forbidden: Iterable[Sequence[str]] = ()
    tiers: Iterable[Iterable[str]] = ()
    before: Iterable[Sequence[str]] = ()
    roots: Iterable[str] = ()
    leaves: Iterable[str] = ()
    confounded: Iterable[Sequence[str]] = ()

    def __post_init__(self) -> None:
        for key in ("required", "forbidden", "before", "confounded"):
            object.__setattr__(self, key, _pairs(key, getattr(self, key)))
        unordered = {tuple(sorted(pair)) for pair in self.confounded}
        object.__setattr__(self, "confounded", tuple(sorted(unordered)))
        for key in ("roots", "leaves"):
            object.__setattr__(self, key, _names(key, getattr(self, key)))
        tiers = (_names("tiers", tier) for tier in _listed("tiers", self.tiers, "lists of column names"))
        object.__setattr__(self, "tiers", tuple(tier for tier in tiers if tier))
        self._check_tiers()
        self._check_required()
        self._check_cycles()

    @classmethod
    def read(cls, path: str | Path) -> Knowledge:
        """Read a TOML or JSON file whose keys are these parameters; a pair is a list of two names.

        An example in TOML::

            required = [["smoking", "tar"]]
            tiers = [["age", "sex"], ["smoking", "tar", "cancer"]]
            leaves = ["cancer"]
        """
        path = Path(path)
        readers = {".toml": tomllib.loads, ".json": json.loads}
        if path.suffix.lower() not in readers:
            raise ValueError(f"The name of a knowledge file must end in .toml or .json. Got '{path}' instead.")
        if not path.is_file():
            raise FileNotFoundError(f"There is no file '{path}'; check its name and folder.")
        try:
            with reading(path):
                text = path.read_text(encoding="utf-8-sig")
            return cls._from_dict(readers[path.suffix.lower()](text))
        except (ValueError, TypeError) as error:  # invalid TOML, JSON or UTF-8 is a ValueError
            raise ValueError(f"'{path}': {error}") from None
        except RecursionError:
            raise ValueError(f"'{path}' has too many brackets within brackets; list names, pairs and tiers.") from None

    @classmethod
    def _from_dict(cls, data: Any) -> Knowledge:
        keys = [field.name for field in fields(cls)]
        if not isinstance(data, dict):
            raise TypeError(f"the file must hold some of the keys {', '.join(keys)}. Got a {type(data).__name__}.")
        for key in data:
            if key not in keys:
                raise ValueError(
                    f"there is no key '{key}'. The keys are {', '.join(keys)}.{suggestion(str(key), keys)}"
                )
        return cls(**data)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the non-empty parameters as plain lists, ready for JSON; `read` reads them back."""
        return {
            field.name: [list(item) if isinstance(item, tuple) else item for item in getattr(self, field.name)]
            for field in fields(self)
            if getattr(self, field.name)
        }

    def resolve(self, names: Sequence[str]) -> Constraints:
        """Return the constraints on the columns of a table; every name must be one of them.

        Roots come before the other variables, and leaves after them, as far as `before` and the tiers allow: any graph
        without edges into the roots and out of the leaves has such an order.

        Examples
        --------
        >>> Knowledge(before=[("a", "b")], roots=["c"]).resolve(["a", "b", "c"]).before.astype(int)
        array([[0, 1, 0],
               [0, 0, 0],
               [1, 1, 0]])
        """
        index = {name: j for j, name in enumerate(names)}
        strange = [name for _, name in self._mentioned() if name not in index]
        unknown = [f"'{name}' (in '{key}')" for key, name in self._mentioned() if name not in index]
        if unknown:
            raise ValueError(
                f"The knowledge must name only columns of the table. Got {', '.join(dict.fromkeys(unknown))}. "
                f"The columns are {', '.join(names)}.{suggestion(strange[0], names)}"
            )
        d = len(names)
        if self == Knowledge():
            nothing = np.broadcast_to(np.False_, (d, d))  # this takes no memory
            return Constraints(tuple(names), nothing, nothing, nothing, nothing)
        required, forbidden, confounded = np.zeros((3, d, d), dtype=bool)
        roots, leaves = np.zeros((2, d), dtype=bool)
        named = (required, self.required), (forbidden, self.forbidden), (confounded, self.confounded)
        for mask, pairs in named:
            for cause, effect in pairs:
                mask[index[cause], index[effect]] = True
        roots[[index[name] for name in self.roots]] = True
        leaves[[index[name] for name in self.leaves]] = True
        before = _outermost(transitive_closure(self._earlier(index)), roots, leaves)
        excluded, confounded = forbidden | roots[None, :] | leaves[:, None], confounded | confounded.T
        return Constraints(tuple(names), before, excluded, required, confounded, self._outside_tiers(index, before))

    def _mentioned(self) -> Iterable[tuple[str, str]]:
        for field in fields(self):
            value = getattr(self, field.name)
            flat = value if field.name in {"roots", "leaves"} else chain.from_iterable(value)
            yield from ((field.name, name) for name in flat)

    def _earlier(self, index: dict[str, int]) -> NDArray[np.bool_]:
        """Return every constraint that one variable comes before another, [earlier, later]."""
        matrix = np.zeros((len(index), len(index)), dtype=bool)
        for a, b in chain(self.required, self.before):
            matrix[index[a], index[b]] = True
        past: list[int] = []
        for tier in self.tiers:
            here = [index[name] for name in tier]
            matrix[np.ix_(past, here)] = True
            past += here
        return matrix

    def _outside_tiers(self, index: dict[str, int], before: NDArray[np.bool_]) -> tuple[str, ...]:
        """Return the columns in no tier that nothing else puts before or after every column of the tiers."""
        inside = [index[name] for name in chain.from_iterable(self.tiers)]
        placed = (before | before.T)[:, inside]
        return tuple(name for name, j in index.items() if j not in inside and not placed[j].all())

    def _check_tiers(self) -> None:
        tier_of: dict[str, int] = {}
        for number, tier in enumerate(self.tiers, start=1):
            for name in tier:
                if name in tier_of:
                    raise ValueError(f"'{name}' is in tier {tier_of[name]} and in tier {number}. Keep it in one.")
                tier_of[name] = number

    def _check_required(self) -> None:
        for cause, effect in self.required:
            reason = None
            if (cause, effect) in set(self.forbidden):
                reason = "it is also forbidden"
            elif effect in set(self.roots):
                reason = f"'{effect}' is a root, which has no cause"
            elif cause in set(self.leaves):
                reason = f"'{cause}' is a leaf, which has no effect"
            if reason:
                raise ValueError(
                    f"The edge {cause} -> {effect} is required, but {reason}. Drop one of these constraints."
                )

    def _check_cycles(self) -> None:
        names = sorted({name for _, name in self._mentioned()})
        matrix = self._earlier({name: j for j, name in enumerate(names)})
        if not transitive_closure(matrix).diagonal().any():
            return
        cycle = [names[j] for j in find_cycle(matrix)]
        reasons = ", ".join(self._why(a, b) for a, b in pairwise(cycle))
        raise ValueError(f"No order can place {' before '.join(cycle)}: {reasons}. Drop one of these constraints.")

    def _why(self, a: str, b: str) -> str:
        if (a, b) in self.required:
            return f"{a} -> {b} is required"
        if (a, b) in self.before:
            return f"'before' puts {a} before {b}"
        number = {name: k for k, tier in enumerate(self.tiers, start=1) for name in tier}
        return f"tier {number[a]} has {a} and tier {number[b]} has {b}"

    def __repr__(self) -> str:
        given = {
            field.name: [list(item) if field.name == "tiers" else item for item in getattr(self, field.name)]
            for field in fields(self)
        }
        return f"Knowledge({', '.join(f'{key}={value!r}' for key, value in given.items() if value)})"


def warn_about_tiers(known: Constraints, stacklevel: int = 2) -> None:
    """Warn about the columns in no tier, which may cause those of every tier."""
    if known.outside_tiers:
        warnings.warn(
            f"The tiers of 'knowledge' leave these columns out: {listed(known.outside_tiers, MOST_NAMED)}. A column in "
            "no tier may come anywhere: it may cause any column of any tier, the first included. Put it in a tier, or "
            "use 'roots', 'leaves' or 'before', unless this is what you mean.",
            UserWarning,
            stacklevel=stacklevel + 1,
        )


def constraints(model: Any, names: Sequence[str]) -> Constraints:
    """Return the constraints of a model on the columns; there are none if it has no knowledge."""
    knowledge = getattr(model, "knowledge", None)
    if knowledge is None:
        knowledge = Knowledge()
    if not isinstance(knowledge, Knowledge):
        raise TypeError(
            f"The 'knowledge' parameter of {type(model).__name__} must be a Knowledge. Got "
            f"{type(knowledge).__name__} instead. For a file, pass Knowledge.read(path)."
        )
    return knowledge.resolve(names)


def _outermost(before: NDArray[np.bool_], roots: NDArray[np.bool_], leaves: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Put roots before and leaves after all others, unless a root must follow, or a leaf must precede, one of them."""
    first = roots & ~before[~roots].any(axis=0)
    last = leaves & ~before[:, ~leaves].any(axis=1) & ~first
    return before | np.outer(first, ~first) | np.outer(~last, last)


def _pairs(key: str, value: Any) -> tuple[tuple[str, str], ...]:
    pairs = []
    for item in _listed(key, value, "pairs of column names"):
        pair = _names(key, item, ordered=True)
        if len(pair) != 2 or pair[0] == pair[1]:
            raise ValueError(f"'{key}' must be a list of pairs of two different column names. Got {item!r} in it.")
        pairs.append((pair[0], pair[1]))
    return tuple(sorted(set(pairs)))


def _names(key: str, value: Any, *, ordered: bool = False) -> tuple[str, ...]:
    names = _listed(key, value, "column names")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"'{key}' must give column names as text. Got {name!r} of type {type(name).__name__}.")
    return tuple(names) if ordered else tuple(sorted(set(names)))


def _listed(key: str, value: Any, what: str) -> list[Any]:
    if isinstance(value, (str, bytes, dict)) or not isinstance(value, Iterable):
        raise TypeError(f"'{key}' must be a list of {what}. Got {value!r}.")
    return list(value)
