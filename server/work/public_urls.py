"""Public URLs for files of this computer, which do not expose its folders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from citewell.core.addresses import address_parts, shown_address
from citewell.core.events import Notice
from citewell.pipeline.collections import HANDBOOK
from citewell.pipeline.handbook import handbook_folder

_FILE = re.compile(r"file://[^\s\"<>]*[^\s\"<>.,:;)]")
_MESSAGES = frozenset({"notices", "reason", "message"})
_URLS = frozenset({"url", "duplicate_urls"})

T = TypeVar("T")


def public_source(source: str, root: Path | None) -> str:
    """Return an indexed source without the folders of this computer; `root` is the folder of sources."""
    if "://" in source:
        return source
    path = Path(source)
    if root is not None and path.is_relative_to(root.resolve()):
        return str(path.relative_to(root.resolve()))
    return path.name


class PublicUrls:
    """A replacement of file URLs by public ones, as in `collection:notes/bats.md`.

    The name of the collection is followed by the path of the file within the indexed folder. A file outside
    of all indexed folders has the name of the first collection, and its own. Other URLs are not changed.
    """

    def __init__(self, sources: Mapping[str, Iterable[str]]) -> None:
        """`sources` are the indexed files, folders and URLs of each collection that is searched."""
        given = [(each, name) for name, some in sources.items() for each in some if "://" not in each]
        handbook = handbook_folder()
        paths = [(handbook if each == HANDBOOK and handbook else Path(each), name) for each, name in given]
        roots = ((path.parent if path.is_file() else path, name) for path, name in paths)
        self._roots = sorted(roots, key=lambda root: -len(root[0].parts))  # both of two nested may be indexed
        self._usual = next(iter(sources), "")

    def name(self, url: str) -> str:
        """Return the public URL of a page."""
        if not url.startswith("file:"):
            return url
        path = Path(unquote(address_parts(url).path))
        for root, collection in self._roots:
            if path.is_relative_to(root):
                name = path.name if path == root else str(path.relative_to(root))  # a file that was deleted
                return f"collection:{collection}/{shown_address(name)}"
        return f"collection:{self._usual}/{shown_address(path.name)}"

    def addresses(self, url: str) -> Iterator[str]:
        """Yield the URLs whose public name may be this one: itself, then those of files."""
        yield url
        for root, collection in self._roots:
            name = url.removeprefix(f"collection:{collection}/")
            if name != url and root.is_absolute():
                yield from ((root / path).as_uri() for path in dict.fromkeys((name, unquote(name))))

    def text(self, text: str) -> str:
        """Return a message with public URLs and without indexed folders."""
        text = _FILE.sub(lambda found: self.name(found[0]), text)
        for root, _ in reversed(self._roots):
            text = text.replace(f"{root}/", "").replace(str(root), root.name)
        return text

    def outside(self, value: T) -> T:
        """Return an event, or another value, with public URLs; the text of pages is not changed."""
        changed: T = self._value(value)
        return changed

    def _value(self, value: Any) -> Any:
        if isinstance(value, Notice):
            return Notice(self.text(value.text))
        if is_dataclass(value) and not isinstance(value, type):
            now = {each.name: getattr(value, each.name) for each in fields(value)}
            new = {name: self._field(name, old) for name, old in now.items()}
            return value if new == now else replace(value, **new)
        if isinstance(value, dict):
            return {name: self._field(str(name), old) for name, old in value.items()}
        if isinstance(value, tuple | list):
            return type(value)(map(self._value, value))
        return value

    def _field(self, name: str, value: Any) -> Any:
        if name in _URLS or name in _MESSAGES:
            change = self.name if name in _URLS else self.text
            if isinstance(value, str):
                return change(value)
            if isinstance(value, tuple | list) and all(isinstance(each, str) for each in value):
                return type(value)(map(change, value))
        return self._value(value)
