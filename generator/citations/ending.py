"""The end of an answer: drops a last sentence that breaks off."""

from __future__ import annotations

import re

from citewell.core.text import split_sentences

# With a stop, perhaps in quotes or brackets and with marks after it, or with a citation mark, or after a row
# of a table, code or a formula.
_FINISHED = re.compile(r"(?:[.!?…。！？।]['\"’”»)\]]*|\[[\d\s,;]+\]|\||```|~~~|\$\$|\\\])\s*$")


def finished(answer: str) -> str:
    """Return the answer without a last sentence that breaks off, as at the limit of tokens.

    Generators do not say why they stopped, so a sentence without a stop or a citation mark at its end counts
    as broken off. It stays if it is the whole answer, or a line of its own, as in lists.
    """
    if _FINISHED.search(answer):
        return answer
    *before, last = split_sentences(answer) or [answer]
    rest = answer[: answer.rindex(last)]
    if not before or "\n" in rest[len(rest.rstrip()) :]:
        return answer
    return rest.rstrip()
