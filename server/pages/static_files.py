"""Scripts, styles and pictures, which pages load without a key: compressed, and sent only if changed."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from litestar import HttpMethod, Request, Response, route
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

_FOLDER = Path(__file__).with_name("static")
_LEAST = 1000  # bytes that are worth compressing


class _StaticFile(NamedTuple):
    """A file as it is sent. `compressed` is empty where that saves nothing."""

    media_type: str
    digest: str
    body: bytes
    compressed: bytes


@route("/static/{name:str}", http_method=[HttpMethod.GET, HttpMethod.HEAD])
async def static_file(request: Request[Any, Any, Any], name: FromPath[str]) -> Response[bytes]:
    """A file; an empty reply with status 304 if the browser has it."""
    file = _files().get(name)
    if file is None:
        raise NotFoundException
    is_compressed = bool(file.compressed) and "gzip" in request.headers.get("Accept-Encoding", "")
    tag = f'"{file.digest}{"-gzip" if is_compressed else ""}"'
    headers = {"Cache-Control": "no-cache", "ETag": tag, "Vary": "Accept-Encoding"}
    if tag in request.headers.get("If-None-Match", ""):
        return Response(b"", status_code=304, headers=headers)
    if is_compressed:
        headers["Content-Encoding"] = "gzip"
    body = file.compressed if is_compressed else file.body
    return Response(body, media_type=file.media_type, headers=headers)


@cache
def _files() -> dict[str, _StaticFile]:
    """Return the files by their names."""
    return {path.name: _read(path) for path in _FOLDER.iterdir()}


def _read(path: Path) -> _StaticFile:
    body = path.read_bytes()
    media_type = mimetypes.guess_type(path.name)[0] or "text/plain"
    compressed = gzip.compress(body, mtime=0) if len(body) >= _LEAST else b""
    return _StaticFile(media_type, hashlib.sha256(body).hexdigest()[:16], body, compressed)
