"""Grammars of the commands that a state allows, which constrain language models.

The notation is the EBNF that xgrammar, vLLM and llama.cpp share. Queries are free text; links are those in
view, texts to find are words of the question, and quotes are whole sentences in view.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from citewell.browser.policies.legal import Legal
from citewell.browser.policies.quoting import passages

_MAX_QUERY = 80  # characters


def commands_grammar(allowed: Legal) -> str:
    """Return a grammar of the commands in `allowed`; where there is none, of giving up."""
    commands = list(_commands(allowed)) or list(_commands(Legal(search=False)))
    return "\n".join(["root ::= " + " | ".join(commands), *_rules(allowed)])


def _commands(allowed: Legal) -> Iterator[str]:
    if allowed.search:
        yield '"Search " query'
    if allowed.links:
        yield '"Clicked on link " link'
    if allowed.find:
        yield '"Find in page: " word'
    if _quotes(allowed):
        yield '"Quote: " quote'
    if allowed.down:
        yield '"Scrolled down " [1-3]'
    if allowed.up:
        yield '"Scrolled up " [1-3]'
        yield '"Top"'
    if allowed.back:
        yield '"Back"'
    if allowed.answer:
        yield '"End: Answer"'
    if allowed.give_up:
        yield '"End: Nonsense"'
        yield '"End: Controversial"'


def _rules(allowed: Legal) -> Iterator[str]:
    if allowed.search:
        # What can be seen comes first, so that something follows the command. A query has no "<", since
        # xgrammar 0.2.9 takes the token that ends a text, such as <|im_end|>, for its letters.
        yield rf"query ::= [^\x00-\x20<\x7f] [^\x00-\x1f<\x7f]{{0,{_MAX_QUERY - 1}}}"
    if allowed.links:
        yield "link ::= " + _either(str(number) for number in allowed.links)
    if allowed.find:
        yield "word ::= " + _either(allowed.find)
    if quotes := _quotes(allowed):
        yield "quote ::= " + " | ".join(f"quote{place}" for place in range(len(quotes)))
        for place, (start, ends) in enumerate(quotes.items()):
            if "" in ends:
                yield f"quote{place} ::= {_either([start])}"
            else:
                yield f"quote{place} ::= {_either([start])} end{place}"
                yield f"end{place} ::= {_either(ends)}"


def _quotes(allowed: Legal) -> dict[str, list[str]]:
    """Return the ends of quotes by their starts; the end is empty for a quote that is not abbreviated.

    Passages with the same start share a rule, because xgrammar in OpenVINO 2026.4 confuses the ends of
    adjacent alternatives in one rule that begin alike.
    """
    found: dict[str, list[str]] = {}
    named = (quote for run in allowed.quotable for quote in passages(run) if quote not in allowed.taken)
    for quote in dict.fromkeys(named):
        start, mark, end = quote.partition("━")
        found.setdefault(start + mark, []).append(end)
    return found


def _either(texts: Iterable[str]) -> str:
    return " | ".join(map(_literal, texts))


def _literal(text: str) -> str:
    """Return the text as consecutive parts; letters beyond ASCII are in character classes of their own.

    Within a string, the xgrammar in OpenVINO 2026.4 takes a hexadecimal digit after such a letter, as in
    "República", for a part of its number.
    """
    parts = (
        f'"{"".join(map(_escaped, run))}"' if plain else " ".join(f"[{_escaped(letter)}]" for letter in run)
        for plain, run in groupby(text, str.isascii)
    )
    return " ".join(parts) or '""'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
