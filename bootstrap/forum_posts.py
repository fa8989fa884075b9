"""Questions from posts in forums: the post-processing of WebGPT, appendix B."""

from __future__ import annotations

import re
from collections.abc import Sequence

_DELETED_TITLE = "[deleted by user]"
_DELETED_TEXTS = ("[deleted]", "[removed]")
_URL = re.compile(r"_URL_(\d+)_")
# Words that mark a title as a question (WebGPT, appendix B), like a question mark.
_ASKING = re.compile(
    r"\b(?:explain|eli5|which|what|whats|whose|who|whos|whom|where|wheres|when|whens|how|hows|why|whys|am|is|isn"
    r"|isnt|are|aren|arent|was|wasn|wasnt|were|weren|werent|do|don|dont|does|doesn|doesnt|did|didn|didnt|can"
    r"|cant|could|couldn|couldnt|have|haven|havent|has|hasn|hasnt|may|might|must|mustn|mustnt|shall|shant"
    r"|should|shouldn|shouldnt|will|wont|would|wouldn|wouldnt)\b",
    re.IGNORECASE,
)
_QUESTION_MARKS = re.compile(r"[?？؟՞]")


def post_process(title: str, selftext: str = "", *, explain: bool = True) -> str | None:
    """Return the question that a post asks: its title, two line ends and its text; None if it was deleted.

    With `explain`, `Explain: ` is put before a text that is not a question, as in "Explain: gravity".
    """
    title, selftext = title.strip(), selftext.strip()
    if title == _DELETED_TITLE:
        return None
    if selftext in _DELETED_TEXTS:
        selftext = ""
    question = "\n\n".join(filter(None, (title, selftext)))
    if question and explain and not is_question(question):
        return f"Explain: {question}"
    return question


def is_question(text: str) -> bool:
    """Return whether a text is a question: it has a question mark, or an English question word."""
    return bool(_QUESTION_MARKS.search(text) or _ASKING.search(text))


def with_urls(text: str, urls: Sequence[str]) -> str:
    """Return `text` with the URLs for which ELI5 has the tokens `_URL_0_`, `_URL_1_` and so on."""

    def url(token: re.Match[str]) -> str:
        number = int(token[1])
        return urls[number] if number < len(urls) else token[0]

    return _URL.sub(url, text)
