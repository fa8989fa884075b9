"""A real model is held to quotes that are on the page, whatever it would rather write."""

from __future__ import annotations

import threading
from pathlib import Path

from browser.policies.grammar import commands_grammar
from browser.policies.legal import Legal
from browser.policies.quoting import passages
from generator.causal import Sampling
from generator.openvino import open_openvino

TEXT = """The Last Supper is a mural painting in Milan, created by Leonardo da Vinci for his patron. It
represents the scene of the meal from the final days of Jesus as depicted in the Bible. The painting is
based on the account of Jesus announcing that one of his twelve disciples would betray him. The painting
is one of the most well known in the world, but it has never been privately owned because it cannot easily
be moved."""
PARAGRAPH = tuple(TEXT.split())
WRONG = "Quote: The painting is one━depicted in the Bible."


def test_the_ends_of_quotes_are_not_mixed_up(smollm2_folder: Path) -> None:
    model = open_openvino(smollm2_folder, "SmolLM2", threads=2)
    tokens: list[int] = []
    model.write(
        model.render([{"role": "user", "content": f"Write: {WRONG} {WRONG}"}]),
        1,
        most=40,
        sampling=Sampling(0.8, 0, 0.0),
        seen=lambda candidate, some: tokens.extend(some),
        cancelled=threading.Event(),
        grammar=commands_grammar(Legal(search=False, quotable=(PARAGRAPH,))),
    )
    written = model.decode(tokens)
    assert written.removeprefix("Quote: ") in set(passages(PARAGRAPH))
    assert written.startswith("Quote: The painting is one━")
