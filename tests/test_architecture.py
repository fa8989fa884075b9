"""Dependencies point one way, files stay small, and importing the command line loads nothing heavy."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# What each folder of `citewell` may import of ours, itself aside: core ← retriever, generator, scorer ←
# browser, bootstrap, reinforcement ← pipeline ← cli ← server.
_STAGES = {"core", "retriever", "generator", "scorer"}
ALLOWED = {
    "core": set(),
    "retriever": {"core"},
    "generator": {"core"},
    "scorer": {"core"},
    "browser": _STAGES,
    "bootstrap": _STAGES,
    "reinforcement": _STAGES | {"browser"},
    "pipeline": _STAGES | {"browser", "bootstrap", "reinforcement"},
    "cli": _STAGES | {"browser", "bootstrap", "reinforcement", "pipeline"},
    "server": _STAGES | {"browser", "bootstrap", "reinforcement", "pipeline", "cli"},
    "integrations": {"core", "retriever", "generator", "pipeline"},
}
AT_THE_TOP = {
    "retriever",
    "generator",
    "scorer",
    "bootstrap",
    "reinforcement",
    "server",
}  # reached by symbolic links
NOT_INSTALLED = {"tests", "benchmarks"}
HEAVY = {"torch", "transformers", "trafilatura", "openvino", "openvino_genai", "rouge_score", "rich"}
# Only commands that draw on a terminal import the first, only `citewell train` imports the others, whose
# classes are PyTorch's, and only when they are called.
HEAVY_ALLOWED = (
    {("citewell/cli/view.py", "rich")}
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
        ("citewell/core/training/progress.py", "transformers"),
        ("citewell/core/training/average.py", "torch"),
        ("citewell/core/training/trainer.py", "torch"),
        ("citewell/core/training/trainer.py", "transformers"),
        ("generator/training/trainer.py", "torch"),
    }
)
MOST_LINES = 500


def folder_of(package: str) -> Path:
    """Where a package's files are: at the top, or in `citewell`."""
    return ROOT / package if package in AT_THE_TOP else ROOT / "citewell" / package


FILES = sorted(file for package in ALLOWED for file in folder_of(package).rglob("*.py"))


def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def imports(node: ast.AST) -> Iterator[str]:
    """The first name of every absolute import at or below a node; of ours, the first two."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Import):
            names = [alias.name for alias in inner.names]
        elif isinstance(inner, ast.ImportFrom):
            names = [inner.module or ""] if inner.level == 0 else []
        else:
            continue
        yield from (".".join(name.split(".")[: 2 if name.startswith("citewell.") else 1]) for name in names)


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
    assert {init.parent.name for init in (ROOT / "citewell").glob("*/__init__.py")} == set(ALLOWED)
    at_the_top = {init.parent.name for init in ROOT.glob("*/__init__.py")}
    assert at_the_top - NOT_INSTALLED == {"citewell"} | AT_THE_TOP
    for package in AT_THE_TOP:
        assert (ROOT / "citewell" / package).readlink() == Path("..") / package


@pytest.mark.parametrize("file", FILES, ids=name)
def test_dependencies_point_one_way(file: Path) -> None:
    parts = file.relative_to(ROOT).parts
    package = parts[1] if parts[0] == "citewell" else parts[0]
    ours = {library for library in imports(tree(file)) if library.split(".")[0] == "citewell"}
    assert ours <= {"citewell"} | {f"citewell.{other}" for other in ALLOWED[package] | {package}}


def test_nothing_imports_a_folder_at_the_top_past_citewell() -> None:
    """Else its classes would exist twice, and `isinstance` would tell them apart."""
    files = [*FILES, *(file for folder in NOT_INSTALLED for file in (ROOT / folder).rglob("*.py"))]
    bare = {(name(file), library) for file in files for library in imports(tree(file)) if library in ALLOWED}
    assert not bare


@pytest.mark.parametrize("file", FILES, ids=name)
def test_heavy_libraries_are_imported_where_they_are_used(file: Path) -> None:
    found = {library for statement in run_at_import(tree(file)) for library in imports(statement)}
    assert {(name(file), library) for library in found & HEAVY} <= HEAVY_ALLOWED


def test_no_two_classes_share_a_name() -> None:
    files = [*FILES, *(ROOT / "benchmarks").rglob("*.py")]
    classes = [node.name for file in files for node in ast.walk(tree(file)) if isinstance(node, ast.ClassDef)]
    assert [name for name, count in Counter(classes).items() if count > 1] == []


@pytest.mark.parametrize("file", FILES, ids=name)
def test_files_are_short(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) < MOST_LINES


def test_the_command_line_and_its_settings_load_nothing_heavy() -> None:
    modules = "{m.split('.')[0] for m in sys.modules}"
    program = f"import sys, citewell.cli.main, citewell.core.settings; print(*{modules})"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert "citewell" in loaded
    assert not loaded & (HEAVY | {"numpy", "aiohttp", "tantivy", "faiss"})
