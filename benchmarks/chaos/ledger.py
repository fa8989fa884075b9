"""What the service has acknowledged to its clients, and everything else that they saw."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

FORGED = "2026-01-01 00:00:00,000 ERROR citewell.service: The key of Ada is cw_0."
"""A line that clients, pages and searches try to write into the log."""


@dataclass
class Ledger:
    """Acknowledged writes, by their ids; all were sent with text that no other write has."""

    answers: dict[str, str] = field(default_factory=dict)
    """The text of each answer that was received to its end, by its id."""
    questions: dict[str, str] = field(default_factory=dict)
    """The question of each of these answers."""
    deleted: set[str] = field(default_factory=set)
    doubtful: set[str] = field(default_factory=set)
    """Answers whose deletion was requested, and never confirmed."""
    feedback: dict[str, str] = field(default_factory=dict)
    comparisons: dict[str, str] = field(default_factory=dict)
    documents: set[str] = field(default_factory=set)
    """The names of documents of which a finished job said that they were added."""
    demonstrations: dict[str, int] = field(default_factory=dict)
    """The number of confirmed actions of each demonstration."""
    statuses: Counter[str] = field(default_factory=Counter)
    """How requests ended: a kind of client and a status, or the reason why there was none."""
    examples: dict[str, str] = field(default_factory=dict)
    """The first reply of each kind and status other than a success."""
    faulty: list[str] = field(default_factory=list)
    """Replies that no fault of the surroundings explains."""

    @property
    def confirmed(self) -> dict[str, int]:
        """The numbers of acknowledged writes."""
        return {
            "answers": len(self.answers),
            "deletions": len(self.deleted),
            "thumbs": len(self.feedback),
            "comparisons": len(self.comparisons),
            "documents": len(self.documents),
            "actions": sum(self.demonstrations.values()),
        }
