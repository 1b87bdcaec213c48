import numpy as np
import pandas as pd
import pytest

from sartre import CausalDiscovery, certify, stability
from sartre.data.read_design import with_design
from sartre.evidence.stability import half_sample
from sartre.metrics import shd
from sartre.order import SCORE, FixedOrder, OrderSearch
from sartre.prune import SARTRE, CAMPruning
from sartre.simulate import random_dag, simulate

FAST = SARTRE(joint=False)


def chain(seed, n=200):
    """Return a -> b -> c, linear and normal: as observed, with b set, and with c set."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, 3 * n))
    b[:n] += a[:n]
    b[2 * n :] += a[2 * n :]
    c[: 2 * n] += b[: 2 * n]
    environment = np.repeat(["observed", "b set", "c set"], n)
    return pd.DataFrame({"a": a, "b": b, "c": c}), environment, {"b set": ["b"], "c set": ["c"]}


def shifted_panel(seed, n_groups=60):
    """Return independent columns whose values differ between groups of five rows."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), 5)
    X = 3 * rng.normal(size=(n_groups, 8))[groups] + rng.normal(size=(5 * n_groups, 8))
    return pd.DataFrame(X, columns=list("abcdefgh")), groups


@pytest.mark.parametrize("seed", range(4))
def test_interventions_decide_what_no_observation_can(seed):
    table, environment, interventions = chain(seed)
    model = CausalDiscovery(prune=FAST, random_state=0)
    model.fit(table, environment=environment, interventions=interventions)
    assert sorted(model.graph_.edges) == [("a", "b"), ("b", "c")]
    assert set(model.edges_["direction"]) == {"decided"}
    observed = CausalDiscovery(prune=FAST, random_state=0).fit(table[environment == "observed"])
    assert set(observed.edges_["direction"]) == {"undecided"}


def test_the_words_are_the_same_as_columns_arrays_and_after_a_shuffle():
    table, environment, interventions = chain(0)
    model = CausalDiscovery(prune=FAST, random_state=0)
    given = model.fit(table, environment=environment, interventions=interventions).edges_
    named = table.assign(day=environment).sample(frac=1, random_state=1)
    renamed = {"b set": ["b"], "c set": ["c"]}
    shuffled = model.fit(named, environment="day", interventions=renamed).edges_
    pd.testing.assert_frame_equal(given, shuffled, rtol=1e-6)
    assert model.graph_.names == ["a", "b", "c"]


def test_rows_in_which_a_target_was_set_do_not_matter_for_its_parents():
    table, environment, interventions = chain(3)
    order = ["a", "b", "c"]
    whole = with_design(table, environment, interventions)
    found = FAST.fit(whole, order).edges_
    other = table.copy()
    other.loc[environment == "c set", "c"] *= 100  # what it was set to does not matter either
    again = SARTRE(joint=False).fit(with_design(other, environment, interventions), order).edges_
    pd.testing.assert_frame_equal(found, again)
    alone = SARTRE(joint=False).fit(table[environment != "c set"], order).edges_
    for frame in (found, alone):
        assert ("b", "c") in set(zip(frame["source"], frame["target"], strict=True))
    strength = [frame.set_index(["source", "target"]).loc[("b", "c"), "strength"] for frame in (found, alone)]
    assert strength[0] == pytest.approx(strength[1], rel=1e-6)


def test_what_two_columns_share_with_an_environment_is_no_edge():
    rng = np.random.default_rng(0)
    site = np.repeat(["p", "q"], 200)
    table = pd.DataFrame(rng.normal(size=(400, 2)) + 3 * (site == "q")[:, None], columns=["a", "b"])
    with pytest.warns(UserWarning, match="Neighbouring rows"):
        pooled = CausalDiscovery(prune=FAST).fit(table)
    assert pooled.graph_.n_edges == 1
    model = CausalDiscovery(prune=FAST).fit(table, environment=site)
    assert model.graph_.n_edges == 0
    found = model.environment_effects_
    assert sorted(zip(found["environment"], found["variable"], strict=True)) == [("q", "a"), ("q", "b")]
    assert (found["changes"] == "").all()
    assert pooled.environment_effects_.empty


def test_a_known_shift_is_always_among_the_effects():
    table, _, _ = chain(0)
    labels = np.tile(["p", "q"], 300)  # nothing differs
    model = CausalDiscovery(prune=FAST).fit(table, environment=labels, interventions={"q": ("soft", ["a"])})
    found = model.environment_effects_
    assert list(zip(found["environment"], found["variable"], strict=True)) == [("q", "a")]


@pytest.mark.parametrize("seed", range(2))
def test_simulated_interventions_on_all_variables_give_the_linear_graph(seed):
    dag = random_dag(8, 8, random_state=seed)
    targets = {f"do {name}": [name] for name in dag.names}
    experiment = simulate(dag, 400, "linear", interventions=targets, n_intervened=50, random_state=seed)
    words = {"environment": experiment.environment, "interventions": experiment.interventions}
    assert shd(dag, CausalDiscovery(prune=FAST).fit(experiment.X, **words).graph_) <= 1


def test_steps_that_would_ignore_the_words_are_named():
    table, environment, _ = chain(0)
    for settings, name in (({"order": SCORE()}, "SCORE"), ({"prune": CAMPruning()}, "CAMPruning")):
        with pytest.raises(TypeError, match=f"'takes_experiments'. {name} would ignore them"):
            CausalDiscovery(**settings).fit(table, environment=environment)
    model = CausalDiscovery(order=FixedOrder(["a", "b", "c"]), prune=FAST)
    assert model.fit(table, environment=environment).graph_.n_edges > 0
    with pytest.raises(TypeError, match="environment"):
        CausalDiscovery().fit_batches([table], environment=environment)


def test_the_paper_method_takes_interventions_too():
    table, environment, interventions = chain(0)
    pruner = SARTRE(penalty=0.1, random_state=0).fit(with_design(table, environment, interventions), ["a", "b", "c"])
    assert pruner.adjacency_matrix_[0, 1]
    assert pruner.adjacency_matrix_[1, 2]


def test_an_order_search_without_a_design_is_what_it_was():
    table, environment, _ = chain(1)
    plain = OrderSearch(random_state=0).fit(table)
    one = OrderSearch(random_state=0).fit(with_design(table, np.full(len(environment), "all")))
    np.testing.assert_array_equal(plain.order_, one.order_)
    assert plain.score_ == pytest.approx(one.score_)


def test_groups_bound_the_false_edges_of_panels():
    with_groups, without = 0, 0
    for seed in range(8):
        table, groups = shifted_panel(seed)
        with_groups += SARTRE().fit(with_design(table, groups=groups), list(table)).adjacency_matrix_.sum()
        with pytest.warns(UserWarning, match="Neighbouring rows"):
            without += FAST.fit(table, list(table)).adjacency_matrix_.sum()
    assert with_groups <= 3 < without


def test_groups_of_one_row_are_heteroscedastic_tests():
    table, _, _ = chain(2)
    found = SARTRE(joint=False).fit(with_design(table, groups=np.arange(len(table))), list(table)).edges_
    robust = SARTRE(joint=False, robust=True).fit(table, list(table)).edges_
    assert found[["source", "target"]].equals(robust[["source", "target"]])


def test_halves_keep_groups_together():
    table, groups = shifted_panel(0)
    read = with_design(table, groups=groups)
    first, second = (read.rows_in(half_sample(read.n_units, 5, number)) for number in (0, 1))
    assert not set(groups[first]) & set(groups[second])
    assert len(first) == len(second) == len(table) // 2


def test_stability_and_certificates_take_the_words():
    table, environment, interventions = chain(0)
    model = CausalDiscovery(prune=FAST, directions=False, random_state=0)
    words = {"environment": environment, "interventions": interventions}
    found = stability(model, table, n_pairs=2, random_state=0, **words)
    assert sorted(found.consensus().edges) == [("a", "b"), ("b", "c")]
    certified = certify(model, table, random_state=0, n_splits=3, **words).edges
    kept = certified[certified["certified"]]
    assert {("a", "b"), ("b", "c")} == set(zip(kept["source"], kept["target"], strict=True))


def test_certificates_hold_where_groups_are_known():
    table, groups = shifted_panel(1, n_groups=100)
    model = CausalDiscovery(order=FixedOrder(list(table)), prune=SARTRE(level=0.5, joint=False), random_state=0)
    found = certify(model, table, random_state=0, n_splits=3, groups=groups)
    assert not found.edges["certified"].any()
