"""Packages that only some uses of Citewell need, and the command that installs them."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from citewell.core.errors import InputError


def need_packages(what: str, extra: str, *modules: str) -> None:
    """Raise `InputError` where one of the modules is not installed: `what` needs all of them.

    The hint is the command that installs `extra`, the extra of Citewell's own package that brings them.
    """
    for name in modules:
        if not is_installed(name):
            raise InputError(
                f"{what} needs the package {name.replace('_', '-')}, which is not installed.",
                install_command(extra),
            )


def install_command(*extras: str) -> str:
    """Return the shell command that adds extras to this installation, from wherever it was installed.

    Citewell is on no package index, so its name alone would install nothing, or a stranger's package. pip
    records where a package came from: https://packaging.python.org/en/latest/specifications/direct-url/
    """
    wanted = f"[{','.join(extras)}]"
    origin = _origin()
    url = origin.get("url", "")
    if not url.startswith("file:"):
        if not url:
            return f"{pip_command()} install '.{wanted}' in the folder of Citewell's source"
        vcs = origin["vcs_info"]["vcs"] + "+" if "vcs_info" in origin else ""
        return f"{pip_command()} install 'citewell{wanted} @ {vcs}{url}'"
    path = url2pathname(urlsplit(url).path)
    if not Path(path).exists():
        return f"{pip_command()} install '{Path(path).name}{wanted}' in the folder where that is now"
    editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
    return f"{pip_command()} install {editable}'{path}{wanted}'"


def pip_command() -> str:
    """Return how the pip of this environment is called from the shell."""
    pip = shutil.which("pip")
    if pip is not None and Path(pip).parent == Path(sys.executable).parent:
        return "pip"
    return f"{sys.executable} -m pip"


def _origin() -> dict[str, Any]:
    try:
        found = importlib.metadata.distribution("citewell").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        found = None
    return json.loads(found) if found else {}


def is_installed(name: str) -> bool:
    """Return whether a module can be imported."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # the package that holds it is missing too
        return False
