from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from sartre import CausalDiscovery, Dag, Knowledge, StructuralModel
from sartre.data.checks import as_table
from sartre.graph.equivalence import compelled, orientations
from sartre.prune import SARTRE
from sartre.prune.mechanisms import fit_mechanisms
from sartre.scm.alternatives import OpenDirections, alternatives


def chain(n=2000, seed=0):
    a, *noise = np.random.default_rng(seed).normal(size=(3, n))
    b = a + noise[0]
    return pd.DataFrame({"a": a, "b": b, "c": b + noise[1]})


def model_of(table, dag, undecided, unchecked=()):
    read = as_table(table)
    directions = OpenDirections(dag, tuple(undecided), tuple(unchecked))
    return StructuralModel.of_mechanisms(read, dag, fit_mechanisms(read, dag), (), directions)


@pytest.mark.parametrize("seed", range(20))
def test_with_all_edges_free_the_graphs_are_those_of_the_equivalence_class(seed):
    rng = np.random.default_rng(seed)
    graph = np.triu(rng.random((5, 5)) < 0.5, 1)
    found = list(orientations(graph, [tuple(edge) for edge in np.argwhere(graph).tolist()]))
    np.testing.assert_array_equal(found[0], graph)
    assert len({each.tobytes() for each in found}) == len(found)
    equivalent = [each for each in found if np.array_equal(compelled(each), compelled(graph))]  # or a collider is gone
    np.testing.assert_array_equal(np.logical_and.reduce(equivalent), compelled(graph))


def test_an_effect_is_a_range_where_arrows_are_undecided():
    scm = model_of(chain(), Dag.from_edges([("a", "b"), ("b", "c")]), [("a", "b"), ("b", "c")])
    with pytest.warns(UserWarning, match=r"depends on arrows that the data do not decide: a -- b, b -- c"):
        (row,) = scm.effect("a", "c", at=1.0, baseline=0.0, n_bootstrap=5, random_state=0).to_dict("records")
    assert row["mean"] == pytest.approx(1.0, abs=0.1)
    assert (row["lowest"], row["highest"]) == pytest.approx((0.0, row["mean"]))


def test_what_does_not_depend_on_undecided_arrows_is_one_number(recwarn):
    table = chain().assign(d=np.random.default_rng(1).normal(size=2000))
    table["e"] = table["d"] + np.random.default_rng(2).normal(size=2000)
    scm = model_of(table, Dag.from_edges([("a", "b"), ("b", "c"), ("d", "e")]), [("d", "e")])
    found = scm.effect("a", "c", n_bootstrap=3, random_state=0)
    assert len(recwarn) == 0
    np.testing.assert_array_equal(found["lowest"], found["mean"])
    np.testing.assert_array_equal(found["highest"], found["mean"])


def test_an_intervention_does_not_settle_the_arrows_into_what_is_set():
    """With b set, a -- b is either a -> b, which is cut, or b -> a, which acts on a."""
    scm = model_of(chain(), Dag.from_edges([("a", "b"), ("b", "c")]), [("a", "b"), ("b", "c")]).do({"b": 2.0})
    with pytest.warns(UserWarning, match=r"depends on arrows that the data do not decide: a -- b\."):
        found = scm.effect("c", "a", at=1.0, n_bootstrap=3, random_state=0)
    assert found["mean"][0] == pytest.approx(0.0, abs=0.1)
    assert (found["lowest"][0], found["highest"][0]) == pytest.approx((found["mean"][0], 1.0), abs=0.1)


@pytest.mark.filterwarnings("ignore:The tiers of 'knowledge' leave these columns out")  # b is left out on purpose
@pytest.mark.parametrize(
    "knowledge",
    [
        Knowledge(before=[("a", "c")]),
        Knowledge(tiers=[["a"], ["c"]]),
        Knowledge(forbidden=[("c", "b")], before=[("a", "b")]),
    ],
)
def test_graphs_that_the_knowledge_excludes_are_left_out(knowledge):
    """No graph has a path from c to a, so that c never has an effect on a."""
    model = CausalDiscovery(prune=SARTRE(joint=False), knowledge=knowledge, random_state=0).fit(chain())
    (row,) = model.scm_.effect("c", "a", at=1.0, baseline=0.0, n_bootstrap=3, random_state=0).to_dict("records")
    assert row["lowest"] == row["highest"] == 0.0


def test_graphs_obey_an_order_and_forbidden_edges():
    line = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    free = [(0, 1), (1, 2)]
    first, forbidden = np.zeros((2, 3, 3), dtype=bool)
    first[0, 2] = True
    found = [np.argwhere(graph).tolist() for graph in orientations(line, free, before=first)]
    assert found == [[[0, 1], [1, 2]], [[1, 0], [1, 2]]]
    forbidden[1, 0] = True
    assert len(list(orientations(line, free, forbidden=forbidden))) == 1


def test_no_warning_where_equations_differ_but_effects_do_not(recwarn):
    """Which way a -- b points changes what determines y, but not what x does to it."""
    x, noise = np.random.default_rng(5).normal(size=(2, 2000))
    table = chain().drop(columns="c").assign(x=x)
    table["y"] = table["b"] + x + noise
    scm = model_of(table, Dag.from_edges([("a", "b"), ("b", "y"), ("x", "y")], list("abxy")), [("a", "b")])
    assert len(list(alternatives(scm, "x", "y"))) == 1
    found = scm.effect("x", "y", at=[0.5, 1.0], baseline=0.0, n_bootstrap=3, random_state=0)
    assert len(recwarn) == 0
    np.testing.assert_allclose(found["lowest"], found["highest"], rtol=1e-3)


def test_arrows_that_were_not_checked_are_called_so():
    scm = model_of(chain(), Dag.from_edges([("a", "b"), ("b", "c")]), [("b", "c")], [("a", "b")])
    with pytest.warns(UserWarning, match=r"do not decide: b -- c, and on arrows that were not checked: a -- b\."):
        scm.effect("a", "c", at=1.0, n_bootstrap=2, random_state=0)
    model = CausalDiscovery(prune=SARTRE(joint=False), directions=False).fit(chain())
    with pytest.warns(UserWarning, match="depends on arrows that were not checked: "):
        model.scm_.effect("a", "c", at=1.0, n_bootstrap=2, random_state=0)


def test_a_learnt_model_knows_its_undecided_arrows():
    model = CausalDiscovery(random_state=0).fit(chain())
    assert len(model.pdag_.lines) == 2
    with pytest.warns(UserWarning, match="depends on arrows"):
        found = model.scm_.effect("a", "c", at=1.0, baseline=0.0, n_bootstrap=3, random_state=0)
    assert found["lowest"][0] == pytest.approx(0.0, abs=0.02)
    assert found["highest"][0] == pytest.approx(1.0, abs=0.1)


def test_many_undecided_arrows_take_bounded_work():
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(200, 30)), axis=1)
    names = [f"v{j}" for j in range(30)]
    edges = list(pairwise(names))
    scm = model_of(pd.DataFrame(X, columns=names), Dag.from_edges(edges, names), edges)
    with pytest.warns(UserWarning, match="graphs that they allow"):
        found = scm.effect("v14", "v16", at=1.0, baseline=0.0, n_bootstrap=2, random_state=0)
    assert found["lowest"][0] == pytest.approx(0.0)
