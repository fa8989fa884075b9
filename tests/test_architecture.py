"""Dependencies point one way, files stay small, and importing the command line loads nothing heavy."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# What each folder may import of ours, itself aside: core ← retriever, generator, scorer ← browser,
# bootstrap ← pipeline ← server.
ALLOWED = {
    "core": set(),
    "retriever": {"core"},
    "generator": {"core"},
    "scorer": {"core"},
    "browser": {"core", "retriever", "generator", "scorer"},
    "bootstrap": {"core", "retriever", "generator", "scorer"},
    "pipeline": {"core", "retriever", "generator", "scorer", "browser", "bootstrap"},
    "server": {"core", "retriever", "generator", "scorer", "browser", "bootstrap", "pipeline"},
}
NO_PACKAGES = {"tests", "benchmarks", "docs"}
HEAVY = {"torch", "transformers", "trafilatura", "ctranslate2", "openvino_genai", "rouge_score", "rich"}
# Only commands that draw on a terminal import the first, only `citewell train` imports the others, whose
# classes are PyTorch's, and only when they are called.
HEAVY_ALLOWED = (
    {("pipeline/view.py", "rich")}
    | {
        (f"retriever/losses/{name}.py", "torch")
        for name in (
            "contrastive",
            "encoder_kl",
            "inner_product_mse",
            "lists",
            "listwise_kl",
            "margin_mse",
            "mixture",
        )
    }
    | {
        ("retriever/training/trainer.py", "torch"),
        ("core/training/progress.py", "transformers"),
        ("core/training/average.py", "torch"),
        ("core/training/trainer.py", "torch"),
        ("core/training/trainer.py", "transformers"),
        ("generator/training/trainer.py", "torch"),
        ("scorer/training/trainer.py", "torch"),
        ("scorer/training/trainer.py", "transformers"),
    }
)
MOST_LINES = 500

FILES = sorted(file for package in ALLOWED for file in (ROOT / package).rglob("*.py"))


def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def imports(node: ast.AST) -> Iterator[str]:
    """The first name of every absolute import at or below a node."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Import):
            yield from (alias.name.split(".")[0] for alias in inner.names)
        elif isinstance(inner, ast.ImportFrom):
            assert inner.level == 0 or inner.module is None, "imports are absolute"
            yield (inner.module or "").split(".")[0]


def run_at_import(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements that run when a module is imported: not in functions, not for types only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from run_at_import(child)


def name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def test_every_package_has_its_place_in_the_table() -> None:
    packages = {init.parent.name for init in ROOT.glob("*/__init__.py")} - NO_PACKAGES
    assert packages <= set(ALLOWED)
    assert {"core", "retriever", "generator", "scorer", "bootstrap", "pipeline"} <= packages


@pytest.mark.parametrize("file", FILES, ids=name)
def test_dependencies_point_one_way(file: Path) -> None:
    package = file.relative_to(ROOT).parts[0]
    ours = set(imports(tree(file))) & (set(ALLOWED) | NO_PACKAGES)
    assert ours <= ALLOWED[package] | {package}


@pytest.mark.parametrize("file", FILES, ids=name)
def test_heavy_libraries_are_imported_where_they_are_used(file: Path) -> None:
    found = {library for statement in run_at_import(tree(file)) for library in imports(statement)}
    assert {(name(file), library) for library in found & HEAVY} <= HEAVY_ALLOWED


@pytest.mark.parametrize("file", FILES, ids=name)
def test_files_are_short(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) < MOST_LINES


def test_the_command_line_and_its_settings_load_nothing_heavy() -> None:
    program = "import sys, pipeline.cli, core.settings; print(*{m.split('.')[0] for m in sys.modules})"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert {"pipeline", "core"} <= loaded
    assert not loaded & (HEAVY | {"numpy", "aiohttp", "tantivy", "faiss"})
