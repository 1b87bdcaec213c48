"""Many rows: the result does not depend on how the rows arrive, nor on whether they fit into memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sartre import CausalDiscovery, Knowledge
from sartre.data import table as tables
from sartre.data.batches import Batches
from sartre.data.checks import as_table
from sartre.data.row_source import survey, survey_of_table
from sartre.order import FixedOrder
from sartre.prune import SARTRE, CAMPruning

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
NAMES = ["a", "b", "c", "d", "e"]


def many_rows(n, seed, interact=True):
    """Return rows of a -> b -> d in which c and a act jointly on e, so that pairs are needed."""
    rng = np.random.default_rng(seed)
    a, c = rng.normal(size=(2, n))
    b = np.sin(2 * a) + rng.normal(size=n) / 2
    d = b**2 / 2 + rng.normal(size=n) / 2
    e = (a * c if interact else a + c) + rng.normal(size=n) / 2
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": e})


@pytest.fixture
def few(monkeypatch):
    """Make the sample so small that the test tables count as having many rows."""
    monkeypatch.setattr(tables, "SAMPLE_ROWS", 1000)


def write_parts(frame, folder, cuts):
    folder.mkdir()
    for number, part in enumerate(np.split(np.arange(len(frame)), cuts)):
        frame.iloc[part].to_parquet(folder / f"part-{number:03}.parquet", row_group_size=700)
    return folder


def same(one, other):
    np.testing.assert_array_equal(one.order_, other.order_)
    np.testing.assert_array_equal(one.adjacency_matrix_, other.adjacency_matrix_)
    learnt = [model.edges_.drop(columns="shape") for model in (one, other)]  # shapes describe the rows that are kept
    pd.testing.assert_frame_equal(*learnt, check_exact=True)
    assert one.rows_seen_ == other.rows_seen_


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("prune", [SARTRE(), SARTRE(penalty=0.1), SARTRE(interactions=False, robust=False)])
def test_batches_and_memory_give_the_same_graph_to_the_last_bit(prune, tmp_path):
    frame = many_rows(5000, seed=1)
    model = CausalDiscovery(FixedOrder(NAMES), prune, random_state=0)
    memory = CausalDiscovery(FixedOrder(NAMES), prune, random_state=0).fit(frame)
    same(model.fit_batches([frame[:1700], frame[1700:1701], frame[1701:]]), memory)
    same(model.fit_batches(write_parts(frame, tmp_path / "data", [10, 3000])), memory)
    same(model.fit_batches(lambda: iter([frame[:4000], frame[4000:]])), memory)
    same(model.fit_batches(pa.Table.from_pandas(frame)), memory)
    same(model.fit_batches(pa.Table.from_pandas(frame).to_batches(max_chunksize=900)), memory)
    same(model.set_params(n_jobs=2).fit_batches(frame), memory)


@pytest.mark.usefixtures("few")
def test_an_order_that_is_learnt_is_learnt_from_the_same_rows():
    frame = many_rows(3000, seed=12)
    memory = CausalDiscovery(random_state=0).fit(frame)
    same(CausalDiscovery(random_state=0).fit_batches([frame[:500], frame[500:]]), memory)


@pytest.mark.usefixtures("few")
def test_the_graph_is_right_and_says_which_part_saw_which_rows():
    model = CausalDiscovery(FixedOrder(NAMES), random_state=0).fit(many_rows(6000, seed=2))
    edges = {("a", "b"), ("b", "d"), ("a", "e"), ("c", "e")}
    assert set(model.edges_[["source", "target"]].itertuples(index=False, name=None)) == edges
    assert model.rows_seen_ == {"order": 1000, "additive": 6000, "interactions": 1000, "robust": 1000, "joint": 800}
    assert model.prune_step_.interactions_[["first", "second", "target"]].to_numpy().tolist() == [["a", "c", "e"]]


@pytest.mark.usefixtures("few")
def test_weak_effects_are_found_because_all_rows_are_seen():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 2))
    X[:, 1] += 0.05 * X[:, 0]
    seen = SARTRE(random_state=0).fit(X, [0, 1])
    sample = SARTRE(random_state=0).fit(X[:1000], [0, 1])
    assert seen.adjacency_matrix_[0, 1] == 1
    assert sample.adjacency_matrix_[0, 1] == 0


@pytest.mark.usefixtures("few")
def test_heavy_tails_are_tested_on_the_sample():
    rng = np.random.default_rng(3)
    X = rng.standard_t(2, size=(5000, 4))
    X[:, 3] += 2 * X[:, 0]
    pruner = SARTRE(random_state=0).fit(X, [0, 1, 2, 3])
    assert "x3" in pruner.robust_targets_
    assert pruner.adjacency_matrix_[:, 3].tolist() == [1, 0, 0, 0]
    plain = SARTRE(random_state=0, robust=True).fit(X, [0, 1, 2, 3])
    assert plain.rows_seen_ == {"additive": 1000, "interactions": 1000, "robust": 1000, "joint": 800}


def test_no_more_rows_than_the_sample_is_an_ordinary_fit(tmp_path):
    frame = many_rows(600, seed=4)
    memory = CausalDiscovery(random_state=0).fit(frame)
    same(CausalDiscovery(random_state=0).fit_batches(write_parts(frame, tmp_path / "data", [100])), memory)
    assert memory.rows_seen_["additive"] == 600


@pytest.mark.usefixtures("few")
def test_knowledge_is_obeyed_in_batches():
    frame = many_rows(3000, seed=5)
    knowledge = Knowledge(required=[("d", "e")], forbidden=[("a", "b")])
    model = CausalDiscovery(knowledge=knowledge, random_state=0).fit_batches([frame[:1000], frame[1000:]])
    assert ("d", "e") in model.graph_.edges
    assert ("a", "b") not in model.graph_.edges


@pytest.mark.usefixtures("few")
def test_levels_of_a_path_grow_and_columns_may_be_in_any_unit():
    frame = many_rows(3000, seed=6, interact=False)
    path = SARTRE(random_state=0).path(frame, NAMES, values=[1e-6, 0.2])
    assert (path["level"] == 1e-6).sum() <= (path["level"] == 0.2).sum()
    scaled = SARTRE(random_state=0).fit(frame * [1e6, 1, 1e-6, 3, 1], NAMES)
    np.testing.assert_array_equal(scaled.adjacency_matrix_, SARTRE(random_state=0).fit(frame, NAMES).adjacency_matrix_)


@pytest.mark.usefixtures("few")
def test_missing_rows_are_refused_or_left_out():
    frame = many_rows(3000, seed=7)
    holed = frame.copy()
    holed.loc[[5, 2500], "b"] = np.nan
    model = CausalDiscovery(random_state=0)
    with pytest.raises(ValueError, match=r"batch that starts at row 2000.*row 500, column 'b'"):
        model.fit_batches([frame[:2000], holed[2000:]])
    model.set_params(missing="drop")
    with pytest.warns(UserWarning, match="2 of 3000 rows were left out"):
        dropped = model.fit_batches([holed[:2000], holed[2000:]])
    with pytest.warns(UserWarning, match="2 of 3000 rows were left out"):
        same(CausalDiscovery(random_state=0, missing="drop").fit_batches([holed[:5], holed[5:6], holed[6:]]), dropped)
    with pytest.warns(UserWarning, match="2 of 3000 rows were left out"):
        same(dropped, CausalDiscovery(random_state=0, missing="drop").fit(holed))
    with pytest.raises(ValueError, match=r"'missing' parameter of CausalDiscovery.fit_batches must be 'error' or"):
        model.set_params(missing="bin").fit_batches([holed])


def test_what_cannot_work_is_refused_in_one_sentence(tmp_path):
    frame = many_rows(200, seed=8)
    model = CausalDiscovery(random_state=0)
    with pytest.raises(TypeError, match=r"must allow two passes\. Got generator, which allows only one"):
        model.fit_batches(part for part in [frame])
    reader = pa.Table.from_pandas(frame).to_reader()
    with pytest.raises(TypeError, match="RecordBatchReader, which allows only one"):
        model.fit_batches(reader)
    with pytest.raises(TypeError, match="Got int"):
        model.fit_batches(3)
    with pytest.raises(TypeError, match="must be a pruner with the tag 'takes_row_source'"):
        CausalDiscovery(prune=CAMPruning()).fit_batches([frame])
    with pytest.raises(ValueError, match="must have at least one batch"):
        model.fit_batches([])
    with pytest.raises(FileNotFoundError, match=r"no \.parquet or \.pq file"):
        model.fit_batches(tmp_path)
    with pytest.raises(ValueError, match="same columns in the same order"):
        model.fit_batches([frame, frame[NAMES[::-1]]])
    with pytest.raises(ValueError, match=r"batch that starts at row 200.*Column 'a' holds 'text' in row 0"):
        model.fit_batches([frame, frame.assign(a="text")])
    with pytest.raises(ValueError, match="'b' holds infinity"):
        model.fit_batches([frame.assign(b=np.inf)])
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(FileNotFoundError, match=r"no .* file in the folder"):
        model.fit_batches(tmp_path)
    (tmp_path / "broken.parquet").write_text("no")
    with pytest.raises(ValueError, match="not a complete Parquet file"):
        model.fit_batches(tmp_path)


@pytest.mark.usefixtures("few")
def test_a_function_that_gives_the_rows_once_only_is_found_out():
    used = iter([many_rows(3000, seed=9)])
    with pytest.raises(ValueError, match="The first saw 3000 rows, the second 0"):
        SARTRE(random_state=0).fit_batches(lambda: used, NAMES)


def test_columns_can_be_chosen_and_an_index_is_not_a_column(tmp_path):
    frame = many_rows(50, seed=10)
    frame.index = pd.Index(range(7, 57), name="id")
    frame.to_parquet(tmp_path / "one.parquet")
    chosen = Batches(tmp_path / "one.parquet", columns=["c", "a"])
    (values,) = chosen
    assert chosen.names == ("c", "a")
    np.testing.assert_array_equal(values, frame[["c", "a"]].to_numpy())
    assert survey(tmp_path, 0).sample.names == tuple(NAMES)
    with pytest.raises(ValueError, match="There is no column 'z'"):
        list(Batches([frame], columns=["z"]))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("prune", [SARTRE(), SARTRE(penalty=0.1)])
def test_two_levels_in_memory_are_the_numbers_0_and_1(prune):
    frame = many_rows(3000, seed=14)
    frame["c"] = (frame["c"] > 0).astype(float)
    named = frame.assign(c=frame["c"].map({0.0: "no", 1.0: "yes"}))
    with pytest.warns(UserWarning, match="not reliable: c"):
        model = CausalDiscovery(prune=prune, random_state=0).fit(named)
    same(model, CausalDiscovery(prune=prune, random_state=0).fit(frame))


@pytest.mark.usefixtures("few")
def test_standardised_rows_keep_their_levels():
    table = as_table(many_rows(3000, seed=15).assign(c=np.tile(["no", "yes"], 1500)), categories=True)
    scaled = survey_of_table(table, seed=0).standardized()
    np.testing.assert_array_equal(np.vstack(list(scaled.batches))[:, 2], table.values[:, 2])
    np.testing.assert_allclose(scaled.sample.values.std(axis=0)[[0, 1, 3, 4]], 1)


@pytest.mark.usefixtures("few")
def test_the_effect_of_a_pair_is_not_attributed_to_what_its_variables_depend_on():
    rng = np.random.default_rng(17)
    a, b = rng.normal(size=(2, 20_000))
    c = a + b + rng.normal(size=20_000)  # its square is the best approximation of a b in a model without pairs
    e = a * b + rng.normal(size=20_000)
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "e": e})
    without = SARTRE(interactions=False, robust=False, joint=False, random_state=0).fit(frame, list("abce"))
    assert without.adjacency_matrix_[2, 3] == 1
    assert set(CausalDiscovery(FixedOrder(list("abce")), random_state=0).fit(frame).graph_.parents("e")) == {"a", "b"}


@pytest.mark.usefixtures("few")
def test_copies_of_rows_are_no_evidence_however_many_rows_there_are():
    rng = np.random.default_rng(11)
    few_rows = pd.DataFrame(rng.normal(size=(200, 6)))
    frame = few_rows.iloc[rng.integers(200, size=3000)]
    with pytest.warns(UserWarning, match="of 1000 rows repeat another row"):
        fitted = SARTRE(random_state=0).fit_batches([frame], range(6))
    assert len(fitted.edges_) == 0
    assert fitted.rows_seen_["additive"] <= 200


@pytest.mark.usefixtures("few")
def test_wide_tables_are_refused_in_batches_and_seen_whole_in_memory(monkeypatch):
    monkeypatch.setattr(tables, "WIDEST", 4)
    frame = many_rows(1500, seed=13)
    with pytest.raises(ValueError, match="more than 1000 rows in total must have at most 4 columns"):
        SARTRE(random_state=0).fit_batches([frame], NAMES)
    assert SARTRE(random_state=0).fit(frame, NAMES).rows_seen_["interactions"] == 1500
    with pytest.raises(ValueError, match="At least 2 columns are needed"):
        CausalDiscovery(random_state=0).fit_batches([frame[["a"]]])
