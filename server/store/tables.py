"""The tables, as the newest migration leaves them.

A change here needs a migration beside those in `migrations/versions`; a test compares the two.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, Column, Float, Index, Integer, MetaData, SmallInteger, Table

from citewell.server.store.columns import PlainText, UtcTime

METADATA = MetaData(
    naming_convention={"ix": "ix_%(table_name)s_%(column_0_N_name)s", "pk": "pk_%(table_name)s"}
)
_JSON = JSON(none_as_null=True)


def _text(name: str, *, nullable: bool = False) -> Column[str]:
    return Column(name, PlainText, nullable=nullable)


def _id() -> Column[str]:
    return Column("id", PlainText, primary_key=True)


def _opinion() -> tuple[Column[Any] | Index, ...]:
    """Return the columns of one user's opinion on several answers to a question."""
    return (
        _id(),
        _text("key_id", nullable=True),
        _text("rater", nullable=True),  # in a study; elsewhere the key is the rater
        _text("study_item_id", nullable=True),
        _text("question"),
        Column("answers", _JSON, nullable=False),
        _text("comment"),
        Column("created", UtcTime, nullable=False),
        Index(None, "study_item_id"),
    )


ANSWERS = Table(
    "answers",
    METADATA,
    _id(),
    _text("key_id", nullable=True),
    _text("question"),
    _text("folded"),  # the normalized question, for searching
    _text("mode"),
    _text("status"),
    Column("created", UtcTime, nullable=False),
    Column("seconds", Float, nullable=True),
    Column("body", _JSON, nullable=True),
    Column("problem", _JSON, nullable=True),
    Column("settings", _JSON, nullable=False),
    _text("digest"),
    _text("owner"),  # the process that writes it
    Column("episode", _JSON, nullable=True),  # large, and read separately
    _text("thread"),  # the id of the first question of its conversation
    _text("title", nullable=True),  # the name that the conversation was given
    Index(None, "key_id", "id"),
    Index(None, "thread", "id"),
    Index(None, "digest", "created"),
    Index(None, "status"),
)

# No foreign key: feedback outlives its answer, and has its own copy of the answer.
FEEDBACK = Table(
    "feedback",
    METADATA,
    _id(),
    _text("answer_id"),
    _text("key_id", nullable=True),
    Column("thumb", SmallInteger, nullable=False),
    _text("comment"),
    Column("sentence", Integer, nullable=True),
    Column("created", UtcTime, nullable=False),
    _text("question"),
    _text("answer"),
    Column("references", _JSON, nullable=False),
    Index(None, "answer_id", "id"),
)

COMPARISONS = Table(
    "comparisons",
    METADATA,
    *_opinion(),
    Column("ratings", _JSON, nullable=False),  # by scale
    _text("flag", nullable=True),
)

RANKINGS = Table("rankings", METADATA, *_opinion(), Column("ranks", _JSON, nullable=False))

RATINGS = Table(
    "ratings",
    METADATA,
    _id(),
    _text("rater"),
    _text("kind"),
    _text("item"),
    Column("scores", _JSON, nullable=False),
    Column("created", UtcTime, nullable=False),
    _text("system", nullable=True),  # that wrote the answer
    _text("study_item_id", nullable=True),
    Index(None, "kind", "item"),
    Index(None, "study_item_id"),
)

STUDIES = Table(
    "studies",
    METADATA,
    _id(),
    _text("name"),
    _text("form"),
    _text("seed"),
    Column("share_required", Float, nullable=False),
    Column("screening", Integer, nullable=False),
    Column("passing", Float, nullable=False),
    Column("created", UtcTime, nullable=False),
)

STUDY_ITEMS = Table(
    "study_items",
    METADATA,
    _id(),
    _text("study_id"),
    Column("position", Integer, nullable=False),
    _text("question"),
    Column("answers", _JSON, nullable=False),
    Column("gold", _JSON, nullable=True),
    Index(None, "study_id", "position"),
)

# Random texts, so that a hash of a name cannot be guessed from the name; one a purpose.
SALTS = Table("salts", METADATA, _id(), _text("salt"))

DEMONSTRATIONS = Table(
    "demonstrations",
    METADATA,
    _id(),
    _text("key_id", nullable=True),
    _text("question"),
    Column("options", _JSON, nullable=False),
    _text("status"),
    Column("count", Integer, nullable=False),  # of the actions
    Column("actions", _JSON, nullable=False),
    Column("created", UtcTime, nullable=False),
    Column("updated", UtcTime, nullable=False),
    Column("episode", _JSON, nullable=True),
    Index(None, "key_id", "id"),
)

# The web's response to each action, so that a demonstration can be resumed and replayed.
DEMONSTRATION_PAGES = Table(
    "demonstration_pages",
    METADATA,
    _id(),
    _text("demonstration_id"),
    Column("noted", _JSON, nullable=False),
    Index(None, "demonstration_id"),
)

JOBS = Table(
    "jobs",
    METADATA,
    _id(),
    _text("kind"),
    _text("status"),
    Column("done", Integer, nullable=False),
    Column("total", Integer, nullable=True),
    _text("message"),
    Column("created", UtcTime, nullable=False),
    Column("updated", UtcTime, nullable=False),
    Column("arguments", _JSON, nullable=False),
    Column("documents", _JSON, nullable=True),  # what became of each, if they were named
    _text("owner"),  # the process that works on it
    Index(None, "status"),
)

REQUESTS = Table(
    "requests",
    METADATA,
    _id(),  # a digest of the key and of the name that the client gave
    _text("digest"),
    Column("created", UtcTime, nullable=False),
    Column("reply", _JSON, nullable=True),
    Index(None, "created"),
)

# A collection without a row is for everyone.
READERS = Table(
    "readers",
    METADATA,
    Column("collection", PlainText, primary_key=True),
    Column("keys", _JSON, nullable=False),  # names
    Column("accounts", _JSON, nullable=False),
)

KEYS = Table(
    "keys",
    METADATA,
    _id(),
    _text("name"),
    _text("hash"),
    _text("scopes"),  # words, in alphabetical order
    Column("rate_per_minute", Integer, nullable=True),
    Column("daily", Integer, nullable=True),
    Column("created", UtcTime, nullable=False),
    Column("revoked", UtcTime, nullable=True),
    Column("expires", UtcTime, nullable=True),
)
