"""Counts of attempts, and of those that broke what Citewell promises."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.results_files import output_option, save, table

_MOST_SHOWN = 40


@dataclass
class AttackCount:
    """The attempts of one kind, and what went wrong in those that failed to be held."""

    attempts: int = 0
    failures: list[str] = field(default_factory=list)


@dataclass
class Tally:
    """The attempts of a command by their kind."""

    kinds: dict[str, AttackCount] = field(default_factory=dict)

    def note(self, kind: str, name: str, problem: str = "") -> None:
        """Count an attempt; it was held if there is no `problem`."""
        count = self.kinds.setdefault(kind, AttackCount())
        count.attempts += 1
        if problem:
            count.failures.append(f"{kind}: {name}: {problem}")

    @property
    def attempts(self) -> int:
        """All attempts."""
        return sum(count.attempts for count in self.kinds.values())

    @property
    def failures(self) -> list[str]:
        """What went wrong, each with the attempt that showed it."""
        return [failure for count in self.kinds.values() for failure in count.failures]

    def to_json(self) -> dict[str, Any]:
        """Return the counts, and the first failures."""
        kinds = {
            kind: {"attempts": count.attempts, "failed": len(count.failures)}
            for kind, count in self.kinds.items()
        }
        failed = len(self.failures)
        counts = {"attempts": self.attempts, "held": self.attempts - failed, "failed": failed}
        return counts | {"kinds": kinds, "failures": self.failures[:100]}

    def show(self) -> None:
        """Print a table, and each failure."""
        rows = [
            [kind, each.attempts, each.attempts - len(each.failures), len(each.failures)]
            for kind, each in self.kinds.items()
        ]
        failed = len(self.failures)
        rows.append(["all", self.attempts, self.attempts - failed, failed])
        print(table(["attack", "attempts", "held", "failed"], rows))
        for failure in self.failures[:_MOST_SHOWN]:
            print(f"FAILED: {failure!a}")


def attack_parser(about: str | None) -> argparse.ArgumentParser:
    """Return a parser of the options that all commands share."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--small", action="store_true", help="make a part of the attempts only")
    output_option(parser)
    return parser


def attack_command(
    name: str, about: str | None, run: Callable[[bool], Tally], words: Sequence[str] | None
) -> None:
    """Run an attack that has no options of its own; `words` are those of the command line by default."""
    options = attack_parser(about).parse_args(words)
    end(name, run(options.small), options)


def end(name: str, tally: Tally, options: argparse.Namespace, **more: Any) -> None:
    """Show and save the counts of an attack; exit with 1 if an attempt failed to be held."""
    tally.show()
    save(f"hostile_{name}", tally.to_json() | more, options.output)
    sys.exit(bool(tally.failures))
