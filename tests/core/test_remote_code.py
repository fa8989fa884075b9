"""Python files that come with a model do not run, whatever is typed on the terminal."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import citewell
from tests.generator.training.made_up import write_llama

_LOADERS = {"from_pretrained", "from_config", "SentenceTransformer", "SentenceCrossEncoder", "Transformer"}


def loading_calls(tree: ast.AST) -> Iterator[ast.Call]:
    """The calls that read the folder of a model. Modules that are given need no files."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            is_made = any(keyword.arg == "modules" for keyword in node.keywords)
            is_other = ast.unparse(node.func).startswith("ScriptDirectory.")  # of the database's revisions
            if name in _LOADERS and not is_made and not is_other:
                yield node


def is_switched_off(call: ast.Call) -> bool:
    for keyword in call.keywords:
        value = ast.unparse(keyword.value)
        if keyword.arg == "trust_remote_code" and value == "TRUST_REMOTE_CODE":
            return True
        if keyword.arg is None and value in ("untrusted()", "given"):
            return True
    return False


def scripts() -> list[Path]:
    """The files of every package, those that are reached through symbolic links included."""
    package = Path(citewell.__file__).parent
    linked = [path.resolve() for path in package.iterdir() if path.is_symlink() and path.is_dir()]
    folders = [package, *linked, package.parent / "benchmarks"]
    return [path for folder in folders for path in sorted(folder.rglob("*.py"))]


def test_every_call_that_reads_a_model_has_the_switch() -> None:
    calls = [
        (f"{path}:{call.lineno}", call)
        for path in scripts()
        for call in loading_calls(ast.parse(path.read_text(encoding="utf-8")))
    ]
    packages = {Path(place).relative_to(Path(citewell.__file__).parents[1]).parts[0] for place, _ in calls}
    assert packages >= {"citewell", "retriever", "generator", "scorer", "reinforcement", "benchmarks"}
    assert len(calls) > 15
    assert [place for place, call in calls if not is_switched_off(call)] == []
    assert [path for path in scripts() if "trust_remote_code=True" in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("command", ["ask", "scorer"])
def test_code_of_a_model_is_not_run_though_the_answer_is_yes(tmp_path: Path, command: str) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed")
    folder = write_llama(tmp_path / "model")
    mark = tmp_path / "it ran"
    code = f"open({str(mark)!r}, 'w').close()\n"
    for name in ("configuration_evil", "modeling_evil", "tokenization_evil"):
        (folder / f"{name}.py").write_text(code + "class Evil: pass\n")
    config = json.loads((folder / "config.json").read_text())
    config["model_type"] = "evil"
    config["auto_map"] = {
        "AutoConfig": "configuration_evil.Evil",
        "AutoModel": "modeling_evil.Evil",
        "AutoModelForCausalLM": "modeling_evil.Evil",
        "AutoModelForSequenceClassification": "modeling_evil.Evil",
        "AutoTokenizer": ["tokenization_evil.Evil", None],
    }
    (folder / "config.json").write_text(json.dumps(config))
    load = {
        "ask": "from citewell.generator.transformers import open_transformers as load\n"
        "load(sys.argv[1], 'evil', threads=1)",
        "scorer": "from citewell.scorer.model import load_base as load\n"
        "load(sys.argv[1], pathlib.Path(sys.argv[2]))",
    }[command]
    tried = subprocess.run(
        [sys.executable, "-c", f"import pathlib, sys\n{load}", str(folder), str(tmp_path)],
        input="y\n" * 20,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"HF_HOME": str(tmp_path / "hub")},
    )
    assert not mark.exists()
    assert "ModelError" in tried.stderr
    assert "Do you wish to run" not in tried.stdout
