"""A real model is held to quotes that are on the page, whatever it would rather write."""

from __future__ import annotations

import threading
from pathlib import Path

from citewell.browser.policies.grammar import commands_grammar
from citewell.browser.policies.legal import Legal
from citewell.browser.policies.quoting import passages
from citewell.generator.causal import Sampling
from citewell.generator.openvino import open_openvino

TEXT = """The Last Supper is a mural painting in Milan, created by Leonardo da Vinci for his patron. It
represents the scene of the meal from the final days of Jesus as depicted in the Bible. The painting is
based on the account of Jesus announcing that one of his twelve disciples would betray him. The painting
is one of the most well known in the world, but it has never been privately owned because it cannot easily
be moved."""
PARAGRAPH = tuple(TEXT.split())
WRONG = "Quote: The painting is one━depicted in the Bible."


ACCENTS = "Spain (España) and the Dominican Republic (República Dominicana) — both «speak» Spanish."


def test_the_ends_of_quotes_are_not_mixed_up(smollm2_folder: Path) -> None:
    written = write(smollm2_folder, WRONG, Legal(search=False, quotable=(PARAGRAPH,)))
    assert written.removeprefix("Quote: ") in set(passages(PARAGRAPH))
    assert written.startswith("Quote: The painting is one━")


def test_letters_beyond_ascii_are_kept(smollm2_folder: Path) -> None:
    words = tuple(ACCENTS.split())
    written = write(smollm2_folder, f"Quote: {ACCENTS}", Legal(search=False, quotable=(words,)))
    assert written.removeprefix("Quote: ") in set(passages(words))
    assert "España" in written


def write(folder: Path, wanted: str, allowed: Legal) -> str:
    model = open_openvino(folder, "SmolLM2", threads=2)
    tokens: list[int] = []
    model.write(
        model.render([{"role": "user", "content": f"Write: {wanted} {wanted} {wanted}"}]),
        1,
        most=60,
        sampling=Sampling(0.8, 0, 0.0),
        seen=lambda candidate, some: tokens.extend(some),
        cancelled=threading.Event(),
        grammar=commands_grammar(allowed),
    )
    return model.decode(tokens)
