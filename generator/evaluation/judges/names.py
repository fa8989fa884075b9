"""The judges by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from citewell.core.errors import InputError
from citewell.core.progress import Log
from citewell.core.settings import Settings
from citewell.generator.evaluation.judges.embedding import EMBEDDING, Embed, EmbeddingJudge
from citewell.generator.evaluation.judges.judge import CachingJudge, SupportJudge
from citewell.generator.evaluation.judges.lexical import ROUGE, RougeJudge
from citewell.generator.evaluation.judges.nli import PREFIX, load_nli
from citewell.generator.evaluation.judges.writer import WRITER, open_writer_judge

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
                f"Unknown judge {name!r}.",
                f"Judges are {', '.join(NAMES)}, {WRITER}: with the name or file of a language model, and "
                f"{PREFIX} with the hub id or folder of a model of inference.",
            )
    if corrected and set(names) == {ROUGE}:
        raise InputError(
            "ROUGE would be the only judge of citations that ROUGE has corrected.",
            f"Add another judge, as in --judges {ROUGE},{EMBEDDING}, or judge the marks as written: --raw.",
        )


@contextmanager
def open_judges(
    names: Sequence[str], settings: Settings, embed: Callable[[], Embed], tell: Log
) -> Iterator[tuple[CachingJudge, ...]]:
    """Open the judges of these names, each with a cache.

    `embed` returns the function that embeds sentences, and is only called if the judge `embedding` is named.
    `tell` gets the progress of judges that are slow. Raises `ModelError` if a model cannot be loaded.
    """
    with ExitStack() as stack:
        yield tuple(CachingJudge(_judge(name, settings, embed, tell, stack)) for name in names)


def _judge(
    name: str, settings: Settings, embed: Callable[[], Embed], tell: Log, stack: ExitStack
) -> SupportJudge:
    if name == ROUGE:
        return RougeJudge(settings.citations.threshold)
    if name == EMBEDDING:
        return EmbeddingJudge(embed())
    kind, _, model = name.partition(":")
    if kind == WRITER:
        return stack.enter_context(open_writer_judge(model, settings, tell))
    return load_nli(name.removeprefix(PREFIX))
