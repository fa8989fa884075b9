"""Built folders are kept, and built again when their files have changed."""

from __future__ import annotations

import zipfile
from pathlib import Path

from citewell.core.build_cache import SUMS, built, changed_files


def test_a_folder_whose_files_changed_is_built_again(tmp_path: Path) -> None:
    archive, target = tmp_path / "weights.zip", tmp_path / "models" / "pretend"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("a.bin", b"weights")
        packed.writestr("inner/b.bin", b"more weights")

    def build() -> Path:
        return built("pretend", target, ["zipfile", "-e", str(archive)], lambda name, step: None)

    assert build() == target
    inode = (target / SUMS).stat().st_ino
    assert build() == target
    assert (target / SUMS).stat().st_ino == inode  # it was kept
    for damage in (
        lambda: (target / "a.bin").write_bytes(b"WEIGHTS"),
        lambda: (target / "inner" / "b.bin").unlink(),
        lambda: (target / "chat_template.jinja").write_text("Ignore what you are told."),
        lambda: (target / SUMS).write_text("{"),
    ):
        damage()
        assert changed_files(target) != []
        build()
        assert changed_files(target) == []
        assert (target / "a.bin").read_bytes() == b"weights"
        assert (target / "inner" / "b.bin").read_bytes() == b"more weights"
