"""Processes that start at once: forked from one that has imported what they need.

A process of the command line takes a second to import its libraries, in each of hundreds of tests. The
nursery imports them once. What it forks is a process as any other, with its own arguments, environment,
folder and pipes; only variables that are read while libraries are imported have no effect.

python nursery.py SOCKET MODULE... is the nursery itself.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[1]
PIPE = subprocess.PIPE


class Forked:
    """A process of the nursery, with the part of `subprocess.Popen` that tests use."""

    def __init__(self, connection: socket.socket, pipes: Sequence[IO[str] | None]) -> None:
        self.stdin, self.stdout, self.stderr = pipes
        self.returncode: int | None = None
        self._replies = connection.makefile("r")
        self._connection = connection
        self.pid = int(self._replies.readline())

    def wait(self, timeout: float | None = None) -> int:
        """The code with which the process ended, once it has; raises `TimeoutError`."""
        if self.returncode is None:
            self._connection.settimeout(timeout)
            self.returncode = int(self._replies.readline())
            self._replies.close()
            self._connection.close()
        return self.returncode

    def poll(self) -> int | None:
        with contextlib.suppress(BlockingIOError):
            if self.returncode is not None or self._connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
                return self.wait()
        return None

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, input: str | None = None, timeout: float | None = None) -> tuple[str, str]:  # noqa: A002
        """Write what is to be read, and read all that is written, until the process ends."""
        if self.stdin is not None:
            with contextlib.suppress(BrokenPipeError), self.stdin:
                self.stdin.write(input or "")
        with ThreadPoolExecutor(2) as pool:
            reading = [pool.submit(pipe.read) if pipe else None for pipe in (self.stdout, self.stderr)]
            try:
                self.wait(timeout)
            except TimeoutError:
                os.killpg(self.pid, signal.SIGKILL)
                raise
            out, err = (read.result() if read else "" for read in reading)
        self.close()
        return out, err

    def close(self) -> None:
        for pipe in (self.stdin, self.stdout, self.stderr):
            if pipe is not None:
                pipe.close()


class Nursery:
    """Starts processes; each runs a module's `main`, or a script, with arguments."""

    def __init__(self, address: Path) -> None:
        self._address = str(address)

    def start(
        self,
        target: str,
        *arguments: object,
        env: Mapping[str, str],
        cwd: Path,
        stdin: int | None = None,
        stdout: int | None = PIPE,
        stderr: int | None = PIPE,
    ) -> Forked:
        """Start `target`, a script's path or `module:function`; streams that are no `PIPE` go nowhere."""
        order = {"target": target, "arguments": [str(each) for each in arguments]}
        order |= {"env": dict(env), "cwd": str(cwd)}
        ends: list[int] = []
        pipes: list[IO[str] | None] = []
        for place, kind in enumerate((stdin, stdout, stderr)):
            if kind == PIPE:
                reading, writing = os.pipe()
                theirs, ours, mode = (writing, reading, "r") if place else (reading, writing, "w")
                pipes.append(os.fdopen(ours, mode, encoding="utf-8", buffering=1))
            else:
                theirs = os.open(os.devnull, os.O_RDWR)
                pipes.append(None)
            ends.append(theirs)
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._address)
        body = json.dumps(order).encode()
        socket.send_fds(connection, [len(body).to_bytes(8, "big")], ends)
        connection.sendall(body)
        for end in ends:
            os.close(end)
        return Forked(connection, pipes)

    def run(
        self,
        target: str,
        *arguments: object,
        env: Mapping[str, str],
        cwd: Path,
        input: str | None = None,  # noqa: A002 - as in subprocess
        timeout: float = 120,
    ) -> subprocess.CompletedProcess[str]:
        """Run `target` with `input` to its end; what is not UTF-8 in the output is an error."""
        process = self.start(target, *arguments, env=env, cwd=cwd, stdin=None if input is None else PIPE)
        out, err = process.communicate(input, timeout)
        return subprocess.CompletedProcess([target, *arguments], process.wait(), out, err)


@contextmanager
def open_nursery(folder: Path, modules: Sequence[str]) -> Iterator[Nursery]:
    """A nursery that has imported `modules`; it ends with the block, what it started does not."""
    address = folder / "nursery"
    process = subprocess.Popen(
        [sys.executable, __file__, str(address), *modules], stdout=subprocess.PIPE, cwd=ROOT
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield Nursery(address)
    finally:
        process.kill()
        process.communicate()


def serve(address: str, modules: Sequence[str]) -> None:
    """Fork a process for each connection, which forks the one that is wanted and waits for it."""
    sys.path.insert(0, str(ROOT))
    for module in modules:
        importlib.import_module(module)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(128)
        os.write(1, b"ready\n")
        while True:
            connection, _ = listening.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listening.close()
                look_after(connection)
            connection.close()


def look_after(connection: socket.socket) -> None:
    """Start what is asked for, tell its number, wait for it, and tell how it ended; does not return."""
    size, ends, _, _ = socket.recv_fds(connection, 8, 3)
    body = b""
    while len(body) < int.from_bytes(size, "big"):
        body += connection.recv(65_536)
    pid = os.fork()
    if pid == 0:
        connection.close()
        os.setsid()
        for number, end in enumerate(ends):
            os.dup2(end, number)
            os.close(end)
        os._exit(become(**json.loads(body)))  # what the nursery has imported need not be taken down
    for end in ends:
        os.close(end)
    with contextlib.suppress(BrokenPipeError):  # nobody waits any more
        connection.sendall(f"{pid}\n".encode())
        _, status = os.waitpid(pid, 0)
        connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def become(target: str, arguments: list[str], env: dict[str, str], cwd: str) -> int:
    """Be the process that is asked for; returns the code to end with."""
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.argv = [target, *arguments]
    sys.stdin, sys.stdout, sys.stderr = (
        io.TextIOWrapper(os.fdopen(number, mode), encoding="utf-8", line_buffering=number == 2)
        for number, mode in enumerate(("rb", "wb", "wb"))
    )
    module, _, function = target.partition(":")
    code: object = None
    try:
        if function:
            getattr(importlib.import_module(module), function)()
        else:
            runpy.run_path(target, run_name="__main__")
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 - as the interpreter does at its end
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BrokenPipeError):
            stream.flush()
    return code if isinstance(code, int) else int(code is not None)


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2:])
