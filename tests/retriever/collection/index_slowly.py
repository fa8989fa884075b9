"""Index a source, and say what happens: `index_slowly.py PLACE SOURCE SECONDS_A_BATCH [LARGEST_FILE]`.

With "asks" for the seconds, each batch waits for a line, or the end, of the standard input.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

from conftest import open_catalog

from citewell.core.errors import CitewellError
from citewell.retriever.collection.indexing import Report, index_documents, indexing
from citewell.retriever.collection.sources import read_source
from citewell.retriever.extract.sandbox import SandboxLimits


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")


def main(place: str, source: str, pause: str, largest_file: str = "") -> int:
    def on_progress(report: Report) -> None:
        say("seen", report.seen)
        if pause == "asks":
            sys.stdin.readline()
        else:
            time.sleep(float(pause))

    if largest_file:
        # Writes beyond this fail, as they do on a full disk: Python ignores SIGXFSZ.
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(largest_file), int(largest_file)))
    try:
        say("ready")
        with indexing(open_catalog(place), "shelf", lambda: say("waiting")) as indexer:
            report = index_documents(
                indexer,
                source,
                read_source(Path(source)),
                sandbox=SandboxLimits(workers=2),
                on_progress=on_progress,
            )
    except KeyboardInterrupt:
        return 130
    except CitewellError as error:
        say(type(error).__name__, error)
        return error.exit_code
    say("done", report.added, report.changed, report.unchanged, report.removed, len(report.failures))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
