from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from sartre import CausalDiscovery, Dag, StructuralModel
from sartre.data.checks import as_table
from sartre.graph.equivalence import compelled, orientations
from sartre.prune.mechanisms import fit_mechanisms


def chain(n=2000, seed=0):
    a, *noise = np.random.default_rng(seed).normal(size=(3, n))
    b = a + noise[0]
    return pd.DataFrame({"a": a, "b": b, "c": b + noise[1]})


def model_of(table, dag, undecided):
    read = as_table(table)
    return StructuralModel.of_mechanisms(read, dag, fit_mechanisms(read, dag), (), undecided)


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


def test_an_intervention_settles_the_arrows_into_what_is_set():
    scm = model_of(chain(), Dag.from_edges([("a", "b"), ("b", "c")]), [("a", "b")])
    assert scm.do({"b": 1.0}).undecided == ()
    assert scm.do({"c": 1.0}).undecided == (("a", "b"),)


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
