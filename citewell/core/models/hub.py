"""Models from the Hugging Face hub, or from the mirror that HF_ENDPOINT names.

An interrupted download continues if the file is still the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from citewell.core.models.catalog import CatalogModel
from citewell.core.models.installed import FileSum
from citewell.core.models.transfer import ArrivedModel, OnBytes, SourceFailedError
from citewell.core.ranged_download import download, transport_errors

# What a folder in the Hugging Face layout needs; weights only as safetensors, which hold no code.
_WANTED = re.compile(r"(?!onnx/|openvino/).*\.(json|txt|model|jinja|safetensors)")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_HUB = "https://huggingface.co"


class _HubFile(NamedTuple):
    """A file of a repository; `etag` is its SHA-256 if the hub stores it as a large file."""

    path: str
    location: str
    bytes: int
    etag: str


def from_hub(model: CatalogModel, partial: Path, on_bytes: OnBytes) -> ArrivedModel:
    """Download the model into a folder below `partial`; raises `SourceFailedError`."""
    from huggingface_hub import HfApi, get_hf_file_metadata

    with _as_failure(model):
        revision, paths = model.revision, [model.file]
        if not model.file:
            found = HfApi(endpoint=_endpoint()).model_info(model.repository, revision=revision)
            revision = found.sha or revision
            paths = [one.rfilename for one in found.siblings or () if _WANTED.fullmatch(one.rfilename)]
        files = []
        for path in paths:
            url = f"{_endpoint()}/{model.repository}/resolve/{quote(revision, safe='')}/{quote(path)}"
            about = get_hf_file_metadata(url, endpoint=_endpoint())
            revision = about.commit_hash or revision
            files.append(_HubFile(path, about.location, about.size or 0, about.etag or ""))
        folder, total = partial / "hub", sum(file.bytes for file in files)
        for number, file in enumerate(files):
            before = sum(one.bytes for one in files[:number])
            _download(file, folder, before, total, on_bytes)
    stated = {file.path: FileSum(file.bytes, file.etag) for file in files if _SHA256.fullmatch(file.etag)}
    return ArrivedModel(folder, f"hub: {model.repository} at {revision}", stated)


def _download(file: _HubFile, folder: Path, before: int, total: int, on_bytes: OnBytes) -> None:
    from huggingface_hub import get_token

    target = folder / file.path
    if not target.resolve().is_relative_to(folder.resolve()):
        raise SourceFailedError(f"The hub names a file outside of the model's folder: {file.path}.")
    arriving, mark = target.with_name(f"{target.name}.part"), target.with_name(f"{target.name}.etag")
    if target.is_file():
        on_bytes(before + file.bytes, total)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if not mark.is_file() or mark.read_text(encoding="utf-8") != file.etag:
        arriving.unlink(missing_ok=True)
        mark.write_text(file.etag, encoding="utf-8")
    headers = {}
    # The token is the hub's, not that of the host to which it redirects.
    if urlsplit(file.location).netloc == urlsplit(_endpoint()).netloc and (token := get_token()):
        headers["Authorization"] = f"Bearer {token}"
    arrived = download(
        file.location,
        arriving,
        expected=file.bytes,
        headers=headers,
        on_bytes=lambda done, _: on_bytes(before + done, total),
    )
    if file.bytes and arrived != file.bytes:
        if arrived > file.bytes:
            arriving.unlink()
        raise SourceFailedError(
            f"The hub broke off: {arrived:,} of {file.bytes:,} bytes of {file.path} arrived."
        )
    arriving.rename(target)
    mark.unlink()


def _endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "").rstrip("/") or _HUB


@contextmanager
def _as_failure(model: CatalogModel) -> Iterator[None]:
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError

    try:
        yield
    except GatedRepoError as error:
        raise SourceFailedError(
            f"The hub asks for consent: open https://huggingface.co/{model.repository}, then set HF_TOKEN."
        ) from error
    except HfHubHTTPError as error:
        reason = str(error).strip().splitlines()[0]
        raise SourceFailedError(f"The hub does not give {model.repository}: {reason}") from error
    except transport_errors() as error:
        raise SourceFailedError(f"The hub does not answer at {_endpoint()}: {error}.") from error
