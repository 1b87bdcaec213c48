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


def test_processes_look_for_joint_effects_beside_environments():
    table, environment, _ = chain(0)
    found = SARTRE(joint=True).fit(with_design(table, environment), ["a", "b", "c"])
    assert found.adjacency_matrix_[1, 2]


def test_rows_that_repeat_their_group_decide_no_direction():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 20)
    a = rng.normal(size=30)[groups]
    b = a + rng.normal(size=30)[groups]
    table = pd.DataFrame({"a": a, "b": b}) + rng.normal(size=(600, 2)) / 10
    model = CausalDiscovery(prune=FAST, random_state=0).fit(table, groups=groups)
    assert set(model.edges_["direction"]) <= {"undecided"}


def test_centring_within_groups_does_not_see_what_was_set():
    rng = np.random.default_rng(0)
    groups, environment = np.repeat(np.arange(60), 10), np.tile(np.repeat(["o", "e"], 5), 60)
    a, noise = rng.normal(size=(2, 600))
    tables = [pd.DataFrame({"a": a, "b": np.where(environment == "e", value, a + noise / 2)}) for value in (0.0, 100.0)]
    words = {"environment": environment, "interventions": {"e": ["b"]}, "groups": ("centred", groups)}
    found = [FAST.fit(with_design(table, **words), ["a", "b"]).edges_ for table in tables]
    pd.testing.assert_frame_equal(*found)
    assert len(found[0]) == 1


def test_what_missing_values_leave_of_a_design_is_checked():
    table, environment, interventions = chain(0)
    table.loc[environment == "observed", "c"] = np.nan
    words = {"environment": environment, "interventions": interventions}
    refused = pytest.raises(ValueError, match="cannot be treated by missing='impute' together with interventions")
    with pytest.warns(UserWarning, match="were imputed"), refused:
        CausalDiscovery(missing="impute").fit(table, **words)
    with pytest.warns(UserWarning, match="left out"), pytest.raises(ValueError, match="No row is left of"):
        CausalDiscovery(missing="drop").fit(
            table, environment=environment, interventions={"observed": ["a"], "c set": ["b"]}
        )
    table.loc[environment == "b set", "c"] = np.nan
    with pytest.warns(UserWarning, match="left out"), pytest.raises(ValueError, match="rows in which it was not set"):
        CausalDiscovery(missing="drop").fit(table, **words)


def test_the_table_of_fit_is_read_again_though_it_names_its_rows(tmp_path):
    table, environment, interventions = chain(0)
    table = table.assign(day=environment)
    model = CausalDiscovery(prune=FAST, random_state=0).fit(table, environment="day", interventions=interventions)
    assert model.mechanisms(table) is model.mechanisms()
    model.report(tmp_path / "report.html", table)
    assert "c set" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_path_has_no_environments_among_its_edges():
    table, environment, _ = chain(0)
    path = FAST.path(with_design(table, environment), ["a", "b", "c"], values=[0.01])
    assert set(path["source"]) <= {"a", "b", "c"}
    with pytest.raises(ValueError, match="Groups need tests"):
        SARTRE(0.1).fit(with_design(table, groups=np.arange(600)), ["a", "b", "c"])


def test_a_side_effect_of_an_experiment_turns_no_arrow():
    rng = np.random.default_rng(0)
    environment = np.repeat(["observed", "c set"], 300)
    a, b, c = rng.normal(size=(3, 600))
    a += 2 * (environment == "c set")  # nobody knows
    b = np.tanh(2 * a) + b / 3
    c = np.where(environment == "c set", c, b**2 + c / 3)
    table = pd.DataFrame({"c": c, "b": b, "a": a})
    model = CausalDiscovery(prune=FAST, random_state=0).fit(
        table, environment=environment, interventions={"c set": ["c"]}
    )
    assert sorted(model.graph_.edges) == [("a", "b"), ("b", "c")]
    assert ("c set", "a") in set(
        model.environment_effects_[["environment", "variable"]].itertuples(index=False, name=None)
    )
