"""A file that is not a saved model is refused in one sentence, whatever it holds, and nothing in it is run."""

from __future__ import annotations

import io
import json
import pickle
import zipfile

import numpy as np
import pytest

import sartre
from sartre import CausalDiscovery
from sartre.order import FixedOrder
from sartre.prune import SARTRE


@pytest.fixture(scope="module")
def members():
    """Return the members of the file of a model, by name."""
    rng = np.random.default_rng(0)
    a, b, noise = rng.normal(size=(3, 200))
    model = CausalDiscovery(FixedOrder([0, 1, 2]), SARTRE(joint=False), random_state=0)
    model.fit(np.column_stack([a, b, a * b + a + noise / 4]))
    with zipfile.ZipFile(io.BytesIO(content_of(model))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def content_of(model):
    from sartre.saving.model import saved  # noqa: PLC0415 - the test of the public way is elsewhere

    return saved(model)


def written(tmp_path, members, **how):
    path = tmp_path / "model.sartre"
    with zipfile.ZipFile(path, "w", **how) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def refused(path):
    with pytest.raises(ValueError, match=r"is not a model that sartre saved: .*\.$") as caught:
        sartre.load(path)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 600
    return text


def changed(members, change):
    document = json.loads(members["model.json"])
    change(document)
    return members | {"model.json": json.dumps(document).encode()}


def test_the_file_itself_is_read(tmp_path, members):
    assert sartre.load(written(tmp_path, members)).graph_.n_edges == 2


class Trap:
    """An object that would run code when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("code was executed",))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"not an archive", pickle.dumps(Trap()), b"\x00" * 5000])
def test_what_is_no_archive_is_refused(tmp_path, content):
    (tmp_path / "model.sartre").write_bytes(content)
    refused(tmp_path / "model.sartre")


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    for path in (tmp_path / "none.sartre", tmp_path):
        with pytest.raises(FileNotFoundError, match="There is no file"):
            sartre.load(path)


def test_pickled_arrays_are_never_loaded(tmp_path, members):
    trap = io.BytesIO()
    np.save(trap, np.array([Trap()], dtype=object), allow_pickle=True)
    for name in [name for name in members if name != "model.json"][:4]:
        assert "an array does not hold numbers" in refused(written(tmp_path, members | {name: trap.getvalue()}))


def test_compressed_members_are_refused_so_that_none_is_larger_than_the_file(tmp_path, members):
    bomb = members | {"model.json": b" " * 10_000_000}
    path = written(tmp_path, bomb, compression=zipfile.ZIP_DEFLATED)
    assert "compressed" in refused(path)


def test_an_array_that_claims_to_be_huge_takes_no_memory(tmp_path, members):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
    found = refused(written(tmp_path, members | {"arrays/0.npy": header.getvalue()}))
    assert "not as large as it says" in found


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="another"), "does not call itself a sartre model"),
        (lambda d: d.update(format_version=99), "is of version 99 of the format"),
        (lambda d: d.pop("graph"), "incomplete or damaged"),
        (lambda d: d["order"].append(7), "do not fit together"),
        (lambda d: d["graph"]["edges"].pop(), "do not fit together"),
        (lambda d: d["graph"].update(edges=[{"source": "x0", "target": "x0"}]), "no cycle"),
        (lambda d: d["prune_step"].update(step="system"), "there is no step 'system'"),
        (lambda d: d["prune_step"].update(step="__class__"), "there is no step"),
        (lambda d: d["order_step"]["settings"].update(evil=1), "unexpected keyword"),
        (lambda d: d["mechanisms"]["x2"].update(kind="pickle"), "of the kind 'pickle'"),
        (lambda d: d["mechanisms"]["x2"]["terms"].pop(), "do not fit together"),
        (lambda d: d["mechanisms"]["x2"]["terms"][0].update(columns=[5]), "has the columns"),
        (lambda d: d["mechanisms"]["x2"]["terms"][0].update(coefficients={"array": 10**6}), "incomplete or damaged"),
        (lambda d: d["mechanisms"]["x2"]["gram"].update(matrix={"array": 0}), "an array has the shape"),
        (lambda d: d["mechanisms"]["x2"]["gram"].update(rank=d["mechanisms"]["x2"]["gram"]["start"]), "an array has"),
        (lambda d: d["summary"].update(noise={"array": -1}), "a number of an array is -1"),
        (lambda d: d["edges"].update(rows=10**9), "."),
        (lambda d: d.update(settings=[]), "."),
        (lambda d: d["settings"].update(knowledge={"nonsense": 1}), "unexpected keyword"),
    ],
)
def test_a_document_that_does_not_fit_is_refused(tmp_path, members, change, message):
    assert message in refused(written(tmp_path, changed(members, change)))


@pytest.mark.parametrize("text", [b"[" * 100_000, b"{}", b"null", b"\xff\xfe", b'{"format": NaN}'])
def test_any_other_document_is_refused(tmp_path, members, text):
    refused(written(tmp_path, members | {"model.json": text}))


def test_every_member_that_is_missing_or_cut_short_is_noticed(tmp_path, members):
    names = list(members)
    for name in names[:: max(1, len(names) // 12)]:
        refused(written(tmp_path, {key: value for key, value in members.items() if key != name}))
        refused(written(tmp_path, members | {name: members[name][: len(members[name]) // 2]}))


def test_numbers_that_are_none_are_refused(tmp_path, members):
    document = json.loads(members["model.json"])
    place = document["mechanisms"]["x2"]["terms"][0]["coefficients"]["array"]
    array = np.load(io.BytesIO(members[f"arrays/{place}.npy"]))
    broken = io.BytesIO()
    np.save(broken, np.full_like(array, np.nan))
    assert "NaN or infinity" in refused(written(tmp_path, members | {f"arrays/{place}.npy": broken.getvalue()}))


def test_a_damaged_byte_is_noticed_or_harmless(tmp_path, members):
    content = written(tmp_path, members).read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(len(content), size=25).tolist():
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        (tmp_path / "damaged").write_bytes(bytes(damaged))
        try:
            sartre.load(tmp_path / "damaged")
        except ValueError as error:
            assert "is not a model that sartre saved" in str(error)  # noqa: PT017 - both outcomes are right
