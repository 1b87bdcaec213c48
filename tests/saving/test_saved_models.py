"""A saved model is the same after it is loaded, without its rows unless they were asked for."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone

import sartre
from sartre import CausalDiscovery, Knowledge
from sartre.additive.bases.trees import Embedding
from sartre.additive.mechanism import fit_mechanism
from sartre.order import SCORE, FixedOrder
from sartre.process.mechanism import fit_process
from sartre.prune import DAS, SARTRE, CAMPruning
from sartre.saving.archive import ArrayStore, packed, unpacked
from sartre.saving.mechanisms import mechanism_of_plain, mechanism_to_plain
from sartre.saving.model import save
from sartre.saving.steps import SavedStep, step_of_plain, step_to_plain

RNG = np.random.default_rng(5)
N = 300
RAIN, SUN = RNG.normal(size=(2, N))
RIVER = np.sin(RAIN) + RNG.normal(size=N) / 2
FLOOD = RAIN * SUN + RIVER + RNG.normal(size=N) / 3
TABLE = pd.DataFrame({"rain": RAIN, "sun": SUN, "river": RIVER, "=flood": FLOOD})
ORDER = ["rain", "sun", "river", "=flood"]


def at(tmp_path, model, **settings):
    model.save(tmp_path / "model.sartre", **settings)
    return sartre.load(tmp_path / "model.sartre")


@pytest.fixture(scope="module")
def model():
    knowledge = Knowledge(roots=["rain"])
    steps = FixedOrder(ORDER), SARTRE(joint=False, level=0.05)
    return CausalDiscovery(*steps, knowledge=knowledge, random_state=3).fit(TABLE)


@pytest.fixture(scope="module")
def loaded(model, tmp_path_factory):
    return at(tmp_path_factory.mktemp("models"), model)


def test_what_was_learnt_is_there(model, loaded):
    assert model.graph_.n_edges >= 3
    assert loaded.graph_ == model.graph_
    assert loaded.graph_.names == model.graph_.names
    assert loaded.pdag_ == model.pdag_
    assert loaded.order_.tolist() == model.order_.tolist()
    assert loaded.rows_seen_ == model.rows_seen_
    np.testing.assert_array_equal(loaded.adjacency_matrix_, model.adjacency_matrix_)
    pd.testing.assert_frame_equal(loaded.edges_, model.edges_)
    pd.testing.assert_frame_equal(loaded.prune_step_.interactions_, model.prune_step_.interactions_)
    assert loaded.prune_step_.false_edges_bound_ == model.prune_step_.false_edges_bound_
    assert loaded.diagnostics_.messages == model.diagnostics_.messages
    pd.testing.assert_frame_equal(loaded.diagnostics_.nodes, model.diagnostics_.nodes)
    assert loaded.environments_ is None
    assert str(loaded.get_params()) == str(model.get_params())
    assert clone(loaded).get_params()["knowledge"] == model.knowledge
    assert loaded._repr_svg_() == model._repr_svg_()


def test_every_mechanism_is_the_same_function(model, loaded):
    X = np.random.default_rng(0).normal(0, 3, size=(40, 4))  # beyond the data too
    assert any(mechanism.pairs for mechanism in model.mechanisms().values())
    for name, mechanism in model.mechanisms().items():
        same, p = loaded.mechanisms()[name], len(model.graph_.parents(name))
        np.testing.assert_array_equal(same.predict(X[:, :p]), mechanism.predict(X[:, :p]))
        for parent in range(p):
            assert same.loss_without(parent) == mechanism.loss_without(parent)
            for one, other in zip(same.curve(parent, X[:, 0]), mechanism.curve(parent, X[:, 0]), strict=True):
                np.testing.assert_array_equal(one, other)
        for pair in mechanism.pairs:
            np.testing.assert_array_equal(same.surface(pair, X[:, :2]), mechanism.surface(pair, X[:, :2]))


def round_trip(mechanism, n_parents, tmp_path):
    store = ArrayStore()
    plain = {"mechanism": mechanism_to_plain(mechanism, store)}
    (tmp_path / "one").write_bytes(packed(plain, store.arrays))
    document, arrays = unpacked(tmp_path / "one")
    return mechanism_of_plain(document["mechanism"], arrays, n_parents)


def test_a_process_is_the_same_function(tmp_path):
    X = np.random.default_rng(1).normal(size=(120, 3))
    y = np.sin(X[:, 0]) * np.cos(X[:, 1]) * X[:, 2]
    X[::7, 1] = np.nan
    mechanism = fit_process(X, y)
    same = round_trip(mechanism, 3, tmp_path)
    new = np.random.default_rng(2).normal(size=(20, 3))
    np.testing.assert_array_equal(same.predict(new), mechanism.predict(new))
    np.testing.assert_array_equal(same.residuals(X, y), mechanism.residuals(X, y))
    assert same.loss_without(0) == mechanism.loss_without(0)
    assert same.pairs == mechanism.pairs


def test_levels_missing_values_and_constants_are_the_same_functions(tmp_path):
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.integers(4, size=200), rng.normal(size=200), np.ones(200), np.full(200, np.nan)])
    X[::9, 1] = np.nan
    mechanism = fit_mechanism(X.astype(float), X[:, 0] + rng.normal(size=200), [(0, 1)], nominal=[0])
    same = round_trip(mechanism, 4, tmp_path)
    np.testing.assert_array_equal(same.predict(X), mechanism.predict(X))


def test_no_row_and_no_value_of_a_row_is_in_the_file(tmp_path):
    """Values may be there only as ends, quantiles and, where columns act in pairs, on their own and sorted."""
    table = TABLE.drop(columns="sun")
    steps = FixedOrder(["rain", "river", "=flood"]), SARTRE(joint=False, interactions=False)
    fitted = CausalDiscovery(*steps, random_state=0).fit(table)
    fitted.save(tmp_path / "model.sartre")
    content = (tmp_path / "model.sartre").read_bytes()
    inner = table.to_numpy()[(table.rank().to_numpy() > 2) & (table.rank().to_numpy() < N - 1)]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        held = [np.load(io.BytesIO(archive.read(name))) for name in archive.namelist() if name != "model.json"]
    numbers = np.concatenate([array.ravel() for array in held if array.dtype.kind == "f"])
    assert np.isin(inner, numbers).mean() < 0.03  # quantiles and knots
    assert not any(len(table) in array.shape for array in held)
    assert "rows" in json.loads(zipfile.ZipFile(io.BytesIO(content)).read("model.json"))
    fitted.save(tmp_path / "model.sartre", include_rows=True)
    with_rows = sartre.load(tmp_path / "model.sartre")
    pd.testing.assert_frame_equal(pd.DataFrame(with_rows._table.values, columns=table.columns), table)


def test_what_needs_rows_says_so_in_one_sentence(loaded, tmp_path):
    needs = [
        lambda: loaded.report(tmp_path / "report.html"),
        lambda: loaded.mechanisms(TABLE),
        lambda: loaded.scm_.residuals,
        lambda: loaded.save(tmp_path / "again", include_rows=True),
    ]
    for ask in needs:
        with pytest.raises(ValueError, match=r"needs the rows .* include_rows=True, or fit it again"):
            ask()
    assert list(tmp_path.iterdir()) == []


def test_effects_of_a_loaded_model_are_those_of_the_model(model, loaded):
    settings = {"n_bootstrap": 16, "random_state": 1}
    for cause, outcome in (("rain", "=flood"), ("sun", "river")):
        for direct in (False, True):
            before, after = (
                each.scm_.average_effect(cause, outcome, direct=direct, **settings) for each in (model, loaded)
            )
            assert (before.start, before.end) == (after.start, after.end)
            width = before.high - before.low
            assert after.effect == pytest.approx(before.effect, abs=0.1 * width + 1e-9)
            assert after.high - after.low == pytest.approx(width, rel=0.6, abs=1e-9)
    curve = loaded.scm_.effect("rain", "river", **settings)
    expected = model.scm_.effect("rain", "river", **settings)
    np.testing.assert_allclose(curve["value"], expected["value"])
    np.testing.assert_allclose(curve["mean"], expected["mean"], atol=0.02)
    sample = loaded.scm_.sample(20_000, random_state=0)
    np.testing.assert_allclose(sample.mean(), TABLE.mean(), atol=0.05)
    np.testing.assert_allclose(sample.std(), TABLE.std(), rtol=0.1)


def test_with_rows_everything_is_as_before(model, tmp_path):
    again = at(tmp_path, model, include_rows=True)
    settings = {"n_bootstrap": 3, "random_state": 1}
    pd.testing.assert_frame_equal(
        again.scm_.effect("rain", "=flood", **settings), model.scm_.effect("rain", "=flood", **settings)
    )
    again.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert again.fit(TABLE).graph_ == model.graph_


def test_a_loaded_model_is_saved_again_and_can_be_fitted(loaded, tmp_path):
    again = at(tmp_path, loaded)
    pd.testing.assert_frame_equal(again.edges_, loaded.edges_)
    effects = [each.scm_.average_effect("rain", "river", n_bootstrap=2, random_state=0) for each in (again, loaded)]
    assert effects[0].effect == pytest.approx(effects[1].effect)
    assert again.fit(TABLE).scm_.residuals.shape == TABLE.shape


def test_the_same_model_is_the_same_file(model, tmp_path):
    model.save(tmp_path / "a")
    model.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_process_is_replaced_without_rows_and_kept_with_them(model, tmp_path):
    fitted = clone(model).fit(TABLE)
    parents = sorted(fitted.graph_.parents("=flood"))
    process = fit_process(TABLE[parents].to_numpy(), FLOOD)
    fitted.prune_step_.mechanisms_ = {"=flood": process}
    X = np.random.default_rng(0).normal(size=(30, len(parents)))
    kept = at(tmp_path, fitted, include_rows=True)
    np.testing.assert_array_equal(kept.mechanisms()["=flood"].predict(X), process.predict(X))
    with pytest.warns(
        UserWarning, match=r"The functions of =flood are not those of the saved model, but additive ones"
    ):
        replaced = at(tmp_path, fitted)
    gap = replaced.mechanisms()["=flood"].predict(X) - process.predict(X)
    assert 0 < np.abs(gap).mean() < 0.5 * FLOOD.std()
    with pytest.warns(UserWarning, match="additive ones"):
        assert at(tmp_path, replaced).graph_ == fitted.graph_
    assert replaced.scm_.average_effect("rain", "=flood", n_bootstrap=2, random_state=0).effect != 0


def test_a_table_with_categories_is_saved_and_says_why_it_has_no_structural_model(tmp_path):
    soil = RNG.choice(["clay", "loam", "sand"], size=N)
    table = pd.DataFrame({"soil": soil, "water": pd.Series(soil).map({"clay": 1, "loam": 0, "sand": -2}) + RAIN / 2})
    known = CausalDiscovery(FixedOrder(["soil", "water"]), SARTRE(joint=False), random_state=0).fit(table)
    loaded = at(tmp_path, known)
    assert loaded.edges_["shape"].tolist() == ["by level"]
    with pytest.raises(ValueError, match="needs numeric columns without missing values"):
        _ = loaded.scm_
    assert at(tmp_path, known, include_rows=True)._table.levels == known._table.levels


def test_experiments_are_kept(tmp_path):
    where = np.repeat(["usual", "set"], [200, 100])
    table = TABLE[["rain", "river"]]
    fitted = CausalDiscovery(FixedOrder(["rain", "river"]), SARTRE(joint=False), random_state=0)
    fitted.fit(table, environment=where, interventions={"set": ["rain"]})
    for rows in (False, True):
        pd.testing.assert_frame_equal(at(tmp_path, fitted, include_rows=rows).environments_, fitted.environments_)
    seen = at(tmp_path, fitted, include_rows=True).seen_interventions_
    pd.testing.assert_frame_equal(seen, fitted.seen_interventions_)
    with pytest.raises(ValueError, match="needs the rows"):
        _ = at(tmp_path, fitted).seen_interventions_


@pytest.mark.parametrize(
    "step",
    [
        FixedOrder(["a", "b"]),
        FixedOrder(np.array([1, 0])),
        SCORE(),
        DAS(prune=CAMPruning(alpha=0.02), eta=np.float64(0.1)),
        SARTRE(0.1, embedding=Embedding(n_trees=3)),
        SARTRE(random_state=np.random.default_rng(0)),
    ],
)
def test_steps_of_the_library_keep_their_settings(step):
    plain = json.loads(json.dumps(step_to_plain(step)))
    again = step_of_plain(plain)
    assert type(again) is type(step)
    assert step_to_plain(again) == step_to_plain(step)


class Foreign(BaseEstimator):
    """A step that is not the library's."""

    def __init__(self, depth=3):
        self.depth = depth


def test_a_step_of_another_package_is_kept_by_name_and_never_imported():
    again = step_of_plain(step_to_plain(Foreign(depth=7)))
    assert isinstance(again, SavedStep)
    assert again.method.endswith("Foreign")
    assert again.settings == {"depth": 7}
    assert step_to_plain(again) == step_to_plain(Foreign(depth=7))
    with pytest.raises(TypeError, match="saved model keeps only its name"):
        again.fit(TABLE)


def test_remarks_reach_the_reader(model, tmp_path):
    save(model, tmp_path / "model.sartre", remarks=["In standard deviations."])
    assert sartre.load(tmp_path / "model.sartre").remarks_ == ("In standard deviations.",)
