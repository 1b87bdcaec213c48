from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from sartre.compute.files import write_text_atomically, write_texts_atomically

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions and folders")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path, mode):
    path = tmp_path / "report.html"
    path.write_text("old")
    path.chmod(mode)
    write_text_atomically(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_private_file_is_never_open_to_others_while_it_is_written(tmp_path, monkeypatch):
    path, write_text, seen = tmp_path / "report.html", Path.write_text, []
    path.touch(0o600)

    def observed(self, *arguments, **options):
        seen.append(stat.S_IMODE(self.stat().st_mode))
        return write_text(self, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", observed)
    write_text_atomically(path, "rows")
    assert seen == [0o600]


def test_files_are_on_disk_before_they_replace_others_and_so_are_their_names_afterwards(tmp_path, monkeypatch):
    fsync, replace, events = os.fsync, Path.replace, []

    def synced(number):
        events.append("folder" if stat.S_ISDIR(os.fstat(number).st_mode) else "file")
        fsync(number)

    def replaced(self, target):
        events.append("replace")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    write_texts_atomically({tmp_path / "graph.json": "{}", tmp_path / "edges.csv": "source,target\n"})
    assert events == ["file", "file", "replace", "replace", "folder"]
