"""Attack the loaders of models with folders and files that carry code.

`python -m benchmarks.hostile.remote_code` gives folders with `auto_map`, pickles, modules, templates and
hostile headers as generator, encoder, scorer and judges, and answers every question with yes. No code may
run, and what cannot be loaded ends in an error of Citewell, in time. It needs the extra `train`.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest.mock import patch

from benchmarks.hostile.models import GGUF_FILES, TRAPS, Bait, write_plain
from benchmarks.hostile.tally import Tally, attack_command
from citewell.core.errors import CitewellError

Loader = Callable[[str, Path], object]
_FILE_SECONDS = 20
_FILE_BYTES = 4_000_000_000
_READ = (
    "import resource, sys\n"
    "from citewell.core.errors import CitewellError\n"
    "from citewell.core.gguf import open_gguf\n"
    "resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]), int(sys.argv[2])))\n"
    "try:\n    open_gguf(__import__('pathlib').Path(sys.argv[1]))\n"
    "except CitewellError:\n    sys.exit(0)\n"
    "sys.exit('it was read')\n"
)


def loaders() -> dict[str, Loader]:
    """Return what reads models that people name, by what it reads them as."""
    from citewell.generator.evaluation.classifier import load_classifier
    from citewell.generator.evaluation.fluency import load_fluency
    from citewell.generator.evaluation.judges.nli import load_nli
    from citewell.generator.load import open_named_model
    from citewell.generator.resolve import resolve
    from citewell.generator.training.model import load_source
    from citewell.retriever.cross_encoder.load import load_cross_encoder
    from citewell.retriever.encoder.load import load_encoder
    from citewell.scorer.model import load_base

    return {
        "generator": lambda folder, cache: open_named_model(folder, cache, threads=1),
        "scorer": load_base,
        "encoder": lambda folder, cache: load_encoder(folder, cache, threads=1, engine="torch"),
        "reranker": lambda folder, cache: load_cross_encoder(folder, cache, threads=1),
        "judge of support": lambda folder, cache: load_nli(folder),
        "judge of fluency": lambda folder, cache: load_fluency(folder),
        "classifier": lambda folder, cache: load_classifier(folder, ["entailment"]),
        "base of a training": lambda folder, cache: load_source(resolve(folder), cache),
    }


def attack(load: dict[str, Loader], folder: Path, *, small: bool = False) -> Tally:
    """Set all traps in `folder` for all loaders, and read all files."""
    tally = Tally()
    bait = Bait(folder / "it ran")
    traps = dict(list(TRAPS.items())[: 3 if small else None])
    for reader, loader in load.items():
        for name, trap in traps.items():
            is_llama = reader in ("generator", "base of a training", "judge of fluency")
            model = write_plain(folder / f"{reader} {name}".replace(" ", "-"), is_llama=is_llama)
            trap(model, bait)
            tally.note(reader, name, _fall(loader, model, folder / "cache", bait.mark))
    for name, body in list(GGUF_FILES.items())[: 3 if small else None]:
        file = folder / f"{name}.gguf"
        file.write_bytes(body)
        tally.note("GGUF files", name, _read(file))
    return tally


def _fall(load: Loader, model: Path, cache: Path, mark: Path) -> str:
    """Return that the code ran, or how else loading a model went wrong, or ""."""
    mark.unlink(missing_ok=True)
    before, sys.stdin = sys.stdin, io.StringIO("y\n" * 100)
    problem = ""
    try:
        load(str(model), cache)
    except CitewellError:
        pass
    except Exception as error:  # noqa: BLE001 - which is what this program looks for
        problem = f"{type(error).__name__}: {str(error)[:200]}"
    finally:
        sys.stdin = before
    return "its code ran" if mark.exists() else problem


def _read(file: Path) -> str:
    """Read a GGUF file in a process of its own, which may not take all time and memory."""
    command = [sys.executable, "-c", _READ, str(file), str(_FILE_BYTES)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_FILE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"it was not read within {_FILE_SECONDS} s"
    return ended.stderr.strip().rpartition("\n")[2][:200] if ended.returncode else ""


def run(small: bool) -> Tally:
    """Attack the loaders of this process."""
    with (
        tempfile.TemporaryDirectory(prefix="citewell-hostile-models-") as name,
        patch.dict(os.environ, {"HF_HOME": f"{name}/hub", "HF_HUB_OFFLINE": "1"}),
    ):
        load = loaders()
        wanted = {reader: load[reader] for reader in (("generator", "scorer") if small else load)}
        return attack(wanted, Path(name), small=small)


def main(words: Sequence[str] | None = None) -> None:
    """Run the command."""
    attack_command("remote_code", __doc__, run, words)


if __name__ == "__main__":
    main()
