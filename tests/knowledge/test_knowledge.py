"""Knowledge: refused if and only if it contradicts itself, and obeyed by every pair of steps."""

from __future__ import annotations

import json
import warnings
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

import sartre.order
import sartre.prune
from sartre import CausalDiscovery, Dag, Knowledge
from sartre.graph.paths import transitive_closure
from sartre.knowledge.precedence import obeyed
from sartre.order import (
    CAM,
    RESIT,
    SCORE,
    CaPS,
    DiffAN,
    FixedOrder,
    NoGAM,
    OrderSearch,
    R2Sort,
    RandomOrder,
    VarianceSort,
)
from sartre.prune import DAS, SARTRE, CAMPruning, CaPSPruning

NAMES = list("abcdef")
ORDERERS = {  # a new orderer needs one new line
    "CAM": lambda _: CAM(),
    "CaPS": lambda _: CaPS(),
    "DiffAN": lambda _: DiffAN(n_epochs=5),
    "NoGAM": lambda _: NoGAM(),
    "OrderSearch": lambda _: OrderSearch(),
    "R2Sort": lambda _: R2Sort(),
    "RESIT": lambda _: RESIT(),
    "RandomOrder": lambda _: RandomOrder(),
    "SCORE": lambda _: SCORE(),
    "VarianceSort": lambda _: VarianceSort(),
    "FixedOrder": lambda known: FixedOrder(obeyed(np.arange(len(known.names))[::-1], known.before)),
}
PRUNERS = {  # a new pruner needs one new line
    "SARTRE": lambda: SARTRE(penalty="auto"),
    "CAMPruning": lambda: CAMPruning(alpha=0.3),
    "CaPSPruning": CaPSPruning,
    "DAS": lambda: DAS(min_parents=1, max_parents=2),
}


@st.composite
def worlds(draw, names):
    """Draw a graph, an order of it, and knowledge that both obey."""
    order = draw(st.permutations(names))
    forward = [(a, b) for k, a in enumerate(order) for b in order[k + 1 :]]
    backward = [(b, a) for a, b in forward]
    graph = draw(st.sets(st.sampled_from(forward), max_size=6))
    cuts = sorted(draw(st.sets(st.integers(1, len(names) - 1), max_size=2)))
    unlisted = draw(st.sets(st.sampled_from(names), max_size=2))
    tiers = [
        [name for name in order[start:stop] if name not in unlisted]
        for start, stop in zip([0, *cuts], [*cuts, len(names)], strict=True)
    ]
    without_cause = [name for name in names if name not in {b for _, b in graph}]
    without_effect = [name for name in names if name not in {a for a, _ in graph}]
    some = st.sets(st.sampled_from(names), max_size=2)
    knowledge = Knowledge(
        required=draw(st.sets(st.sampled_from(sorted(graph)), max_size=3)) if graph else (),
        forbidden=draw(st.sets(st.sampled_from(sorted({*forward, *backward} - graph)), max_size=6)),
        tiers=tiers if draw(st.booleans()) else (),
        before=draw(st.sets(st.sampled_from(forward), max_size=3)),
        roots=draw(some) & set(without_cause),
        leaves=draw(some) & set(without_effect),
    )
    return Dag.from_edges(graph, names), order, knowledge


def violations(knowledge, order, edges):
    """Return the demands that a graph and an order of names violate, implemented directly from the docstring."""
    edges = set(edges)
    position = {name: k for k, name in enumerate(order)}
    below = [set().union(*knowledge.tiers[:k]) for k in range(len(knowledge.tiers))]
    return [
        *(set(knowledge.required) - edges),
        *(set(knowledge.forbidden) & edges),
        *(edge for edge in edges if edge[1] in knowledge.roots or edge[0] in knowledge.leaves),
        *(pair for pair in knowledge.before if position[pair[0]] > position[pair[1]]),
        *(
            (a, b)
            for k, tier in enumerate(knowledge.tiers)
            for b in tier
            for a in below[k]
            if position[a] > position[b]
        ),
        *((a, b) for a, b in edges if position[a] > position[b]),
    ]


def test_every_orderer_and_every_pruner_is_tested():
    assert set(ORDERERS) == set(sartre.order.__all__) - {"parent_score"}
    assert set(PRUNERS) == set(sartre.prune.__all__) - {"Embedding"}


@pytest.mark.filterwarnings("ignore")  # of small and awkward data
@pytest.mark.parametrize("pruner", PRUNERS)
@pytest.mark.parametrize("orderer", ORDERERS)
@settings(max_examples=5, deadline=None, database=None)
@given(st.integers(4, 6).flatmap(lambda d: worlds(NAMES[:d])), st.integers(0, 2**32 - 1), st.booleans())
def test_no_result_ever_violates_what_is_known(orderer, pruner, world, seed, flat):
    if orderer == "DiffAN":
        pytest.importorskip("torch", reason="DiffAN needs PyTorch")
    _, _, knowledge = world
    names = world[0].names
    rng = np.random.default_rng(seed)
    X = np.tanh(rng.normal(size=(50, len(names))) @ rng.normal(size=(len(names), len(names)))) + rng.normal(
        size=(50, len(names))
    )
    X[:, 0] = 1.0 if flat else X[:, 0]
    table = pd.DataFrame(X, columns=names)
    step = ORDERERS[orderer](knowledge.resolve(names))
    model = CausalDiscovery(order=step, prune=PRUNERS[pruner](), knowledge=knowledge, random_state=0).fit(table)
    order = [names[j] for j in model.order_]
    assert violations(knowledge, order, model.graph_.edges) == []
    listed = list(model.edges_[["source", "target"]].itertuples(index=False, name=None))
    assert sorted(listed) == sorted(model.graph_.edges)


@settings(max_examples=100, deadline=None)
@given(worlds(NAMES))
def test_no_graph_that_obeys_is_excluded(world):
    graph, _, knowledge = world
    known = knowledge.resolve(NAMES)
    assert not transitive_closure(known.before | (graph.adjacency == 1)).diagonal().any()
    assert not (known.forbidden & (graph.adjacency == 1)).any()
    assert (graph.adjacency[known.required] == 1).all()
    np.testing.assert_array_equal(transitive_closure(known.before), known.before)


PAIRS = st.sets(st.sampled_from([(a, b) for a in "abcd" for b in "abcd" if a != b]), max_size=3)
SOME = st.sets(st.sampled_from("abcd"), max_size=2)


@settings(max_examples=300, deadline=None)
@given(PAIRS, PAIRS, PAIRS, st.lists(st.sampled_from([0, 1, 2]), min_size=4, max_size=4), SOME, SOME)
def test_knowledge_is_refused_if_and_only_if_nothing_can_obey_it(required, forbidden, before, tier, roots, leaves):
    tiers = [[name for name, number in zip("abcd", tier, strict=True) if number == k] for k in (1, 2)]
    demands = {"required": required, "forbidden": forbidden, "tiers": tiers, "before": before}
    demands |= {"roots": roots, "leaves": leaves}
    plain = Knowledge()
    for key, value in demands.items():  # unchecked, so that every order can be tried on it
        object.__setattr__(plain, key, value)
    possible = any(not violations(plain, order, required) for order in permutations("abcd"))
    try:
        Knowledge(**demands)
    except ValueError:
        assert not possible
    else:
        assert possible


@pytest.mark.parametrize(
    ("demands", "text"),
    [
        (
            {"required": ["ab", "bc", "ca"]},
            "No order can place a before b before c before a: a -> b is required, b -> c",
        ),
        (
            {"required": ["ba"], "tiers": ["a", "b"]},
            "tier 1 has a and tier 2 has b, b -> a is required",
        ),
        ({"before": ["ab", "bc"], "tiers": ["c", "a"]}, "'before' puts b before c, tier 1 has c and tier 2 has a"),
        ({"required": ["ab"], "forbidden": ["ab"]}, "The edge a -> b is required, but it is also forbidden"),
        ({"required": ["ab"], "roots": ["b"]}, "'b' is a root, which has no cause"),
        ({"required": ["ab"], "leaves": ["a"]}, "'a' is a leaf, which has no effect"),
        ({"tiers": ["ab", "ca"]}, "'a' is in tier 1 and in tier 2"),
        ({"forbidden": ["aa"]}, "pairs of two different column names"),
        ({"before": ["abc"]}, "pairs of two different column names"),
    ],
)
def test_contradictions_are_explained_in_words(demands, text):
    with pytest.raises(ValueError, match=text):
        Knowledge(**{key: value if key in {"roots", "leaves"} else map(list, value) for key, value in demands.items()})


@pytest.mark.parametrize(
    "demands",
    [{"required": "ab"}, {"required": ["ab"]}, {"roots": "a"}, {"tiers": ["a"]}, {"roots": [1]}, {"before": 3}],
)
def test_anything_but_a_list_of_names_is_refused(demands):
    with pytest.raises(TypeError, match=f"'{next(iter(demands))}' must"):
        Knowledge(**demands)


def test_equal_whatever_the_order_in_which_it_is_said():
    one = Knowledge(required=[("a", "b"), ("c", "d")], roots=["a", "c"], tiers=[["c", "a"], []])
    other = Knowledge(tiers=(("a", "c"),), roots={"c", "a"}, required=(["c", "d"], ["a", "b"], ("a", "b")))
    assert one == other
    assert hash(one) == hash(other)
    assert eval(repr(one)) == one  # noqa: S307 - its own text
    assert one != Knowledge()
    assert repr(Knowledge()) == "Knowledge()"


@settings(max_examples=20, deadline=None)
@given(worlds(NAMES))
def test_a_file_says_the_same(tmp_path_factory, world):
    _, _, knowledge = world
    path = tmp_path_factory.mktemp("knowledge") / "known.json"
    path.write_text(json.dumps(knowledge.to_dict()), encoding="utf-8")
    assert Knowledge.read(path) == knowledge
    toml = path.with_suffix(".toml")
    toml.write_text("\n".join(f"{key} = {json.dumps(value)}" for key, value in knowledge.to_dict().items()))
    assert Knowledge.read(str(toml)) == knowledge


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("known.toml", "requires = []", "known.toml': there is no key 'requires'. The keys are required, forbidden"),
        ("known.toml", "required = [", "known.toml': "),
        ("known.json", "{]", "known.json': "),
        ("known.json", "[]", "known.json': the file must hold some of the keys required, .* Got a list"),
        ("known.json", '{"roots": "a"}', "known.json': 'roots' must be a list of column names. Got 'a'"),
        ("known.toml", 'required = [["a", "b"], ["b", "a"]]', "known.toml': No order can place a before b before a"),
        ("known.json", "[" * 100_000, "known.json' has too many brackets within brackets; list names, pairs and tiers"),
        ("known.toml", "roots = " + "[" * 100_000, "known.toml' has too many brackets within brackets"),
        ("known.yaml", "", "must end in .toml or .json"),
    ],
)
def test_a_wrong_file_is_reported_by_file_and_key(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        Knowledge.read(path)


def test_a_missing_file_is_reported():
    with pytest.raises(FileNotFoundError, match=r"There is no file 'nowhere.toml'"):
        Knowledge.read("nowhere.toml")


# CausalDiscovery


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    b = np.sin(2 * a) + rng.normal(size=300) / 2
    c = np.cos(2 * b) + rng.normal(size=300) / 2
    return pd.DataFrame({"a": a, "b": b, "c": c})


def test_knowledge_reverses_an_edge(table):
    free = CausalDiscovery(prune=CAMPruning()).fit(table)
    assert free.graph_.edges == [("a", "b"), ("b", "c")]
    turned = clone(free).set_params(knowledge=Knowledge(before=[("b", "a")])).fit(table)
    assert ("b", "a") in turned.graph_.edges


def test_nothing_known_changes_nothing(table):
    free = CausalDiscovery(prune=CAMPruning()).fit(table)
    empty = CausalDiscovery(prune=CAMPruning(), knowledge=Knowledge()).fit(table)
    pd.testing.assert_frame_equal(free.edges_, empty.edges_)


@pytest.mark.parametrize(
    ("demands", "left_out"),
    [
        ({"tiers": [["a"], ["b"]]}, ["c"]),
        ({"tiers": [["b"]]}, ["a", "c"]),  # a single tier constrains nothing
        ({"tiers": [["a"], ["b"]], "before": [("a", "c")]}, ["c"]),
        ({"tiers": [["a"], ["b"]], "before": [("b", "c")]}, []),
        ({"tiers": [["a"], ["b"]], "roots": ["c"]}, []),
        ({"tiers": [["a"], ["b"]], "leaves": ["c"]}, []),
        ({"tiers": [["a", "b", "c"]]}, []),
        ({"roots": ["a"]}, []),
    ],
)
def test_columns_that_the_tiers_leave_free_are_named(table, demands, left_out):
    model = CausalDiscovery(prune=CAMPruning(), knowledge=Knowledge(**demands))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model.fit(table)
    told = [str(one.message) for one in heard if issubclass(one.category, UserWarning)]
    named = f"leave these columns out: {', '.join(left_out)}. A column in no tier may come anywhere"
    assert len(told) == bool(left_out)
    assert all(named in text for text in told)


def test_with_a_given_order_the_tiers_need_not_name_every_column(table):
    given = CausalDiscovery(order=FixedOrder(["a", "b", "c"]), prune=CAMPruning())
    given.set_params(knowledge=Knowledge(tiers=[["a"], ["b"]])).fit(table)  # any warning would be an error


class NoWork(BaseEstimator):
    def fit(self, X):  # noqa: ARG002
        raise AssertionError("no work before the knowledge is checked")


def test_unknown_names_are_reported_before_any_work(table):
    known = Knowledge(roots=["age"], required=[("a", "wet")])
    with pytest.raises(
        ValueError, match=r"of the table. Got 'wet' \(in 'required'\), 'age' \(in 'roots'\). The columns are a, b"
    ):
        CausalDiscovery(order=NoWork(), knowledge=known).fit(table)
    with pytest.raises(TypeError, match=r"must be a Knowledge. Got dict instead. For a file, pass Knowledge.read"):
        CausalDiscovery(order=NoWork(), knowledge={"roots": ["a"]}).fit(table)


class Careless(BaseEstimator):
    def fit(self, X, before=None):  # noqa: ARG002
        self.order_ = range(np.asarray(X).shape[1])
        return self


class Keeper(BaseEstimator):
    def __init__(self, share=1):
        self.share = share

    def fit(self, X, order, candidates=None, **constraints):  # noqa: ARG002
        d = len(order)
        self.adjacency_matrix_ = self.share * np.triu(np.ones((d, d)), 1)
        self.edges_ = pd.DataFrame()
        return self


def test_a_step_that_cannot_or_does_not_obey_is_named(table):
    class Plain(BaseEstimator):
        def fit(self, X):
            self.order_ = np.arange(np.asarray(X).shape[1])
            return self

    late = Knowledge(before=[("c", "a")])
    nothing_for_it = Knowledge(forbidden=[("c", "a")])
    CausalDiscovery(order=Plain(), prune=Keeper(), knowledge=nothing_for_it).fit(table)
    with pytest.raises(TypeError, match=r"Plain.fit must accept the argument 'before' to obey .*It accepts only X"):
        CausalDiscovery(order=Plain(), prune=Keeper(), knowledge=late).fit(table)
    with pytest.raises(ValueError, match="Careless did not put 'c' before 'a'"):
        CausalDiscovery(order=Careless(), prune=Keeper(), knowledge=late).fit(table)
    with pytest.raises(ValueError, match="Keeper kept the edge a -> b, which the knowledge excludes"):
        CausalDiscovery(order=Careless(), prune=Keeper(), knowledge=Knowledge(forbidden=[("a", "b")])).fit(table)
    with pytest.raises(ValueError, match="Keeper left out the required edge a -> b"):
        CausalDiscovery(order=Careless(), prune=Keeper(0), knowledge=Knowledge(required=[("a", "b")])).fit(table)


def test_confounded_pairs_have_no_direction_and_constrain_nothing_else():
    known = Knowledge(confounded=[("b", "a"), ("a", "b"), ("c", "a")])
    assert known.confounded == (("a", "b"), ("a", "c"))
    resolved = known.resolve(["c", "b", "a"])
    assert resolved.confounded.astype(int).tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    assert not (resolved.before | resolved.forbidden | resolved.required).any()
    assert repr(known) == "Knowledge(confounded=[('a', 'b'), ('a', 'c')])"
    with pytest.raises(ValueError, match="Got 'd' \\(in 'confounded'\\)"):
        Knowledge(confounded=[("a", "d")]).resolve(["a", "b"])
