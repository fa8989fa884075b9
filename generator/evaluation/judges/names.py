"""The judges by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from citewell.core.errors import InputError
from citewell.generator.evaluation.judges.embedding import EMBEDDING, Embed, EmbeddingJudge
from citewell.generator.evaluation.judges.judge import CachingJudge, SupportJudge
from citewell.generator.evaluation.judges.lexical import ROUGE, RougeJudge
from citewell.generator.evaluation.judges.nli import PREFIX, load_nli
from citewell.generator.evaluation.judges.writer import WRITER, OpenWriter, WriterJudge

NAMES = (ROUGE, EMBEDDING, WRITER)
"""The judges besides `nli:` and a hub id or folder, and `writer:` and a language model."""


def check_judges(names: Sequence[str], *, corrected: bool) -> None:
    """Raise `InputError` for a judge that does not exist, and for one that would judge its own work.

    `corrected` says that citations were corrected, or answers chosen, by ROUGE: then `rouge` alone is not
    enough.
    """
    for name in names:
        if name not in NAMES and not name.startswith((PREFIX, f"{WRITER}:")):
            raise InputError(
                f"There is no judge {name!r}.",
                f"Judges are {', '.join(NAMES)}, {WRITER}: with the name or file of a language model, and "
                f"{PREFIX} with the hub id or folder of a model of inference.",
            )
    if corrected and set(names) == {ROUGE}:
        raise InputError(
            "ROUGE would be the only judge of citations that ROUGE has corrected.",
            f"Add another judge, as in --judges {ROUGE},{EMBEDDING}, or judge the marks as written: --raw.",
        )


def build_judges(
    names: Sequence[str], threshold: float, embed: Callable[[], Embed], open_writer: OpenWriter
) -> tuple[SupportJudge, ...]:
    """Return the judges of these names, each with a cache.

    `threshold` is that of the support check. `embed` returns the function that embeds sentences; it and
    `open_writer` are only called if the judge is named. Raises `ModelError` if a model cannot be loaded.
    """
    return tuple(CachingJudge(_judge(name, threshold, embed, open_writer)) for name in names)


def _judge(name: str, threshold: float, embed: Callable[[], Embed], open_writer: OpenWriter) -> SupportJudge:
    if name == ROUGE:
        return RougeJudge(threshold)
    if name == EMBEDDING:
        return EmbeddingJudge(embed())
    if name.partition(":")[0] == WRITER:
        found, model = open_writer(name.partition(":")[2])
        return WriterJudge(model, found)
    return load_nli(name.removeprefix(PREFIX))
