"""Worked examples for prompts: questions, references and answers in the form that an answer should have."""

from __future__ import annotations

from typing import NamedTuple


class WorkedExample(NamedTuple):
    """A question, the texts of its references, and its answer."""

    question: str
    references: tuple[str, ...]
    answer: str


DEMONSTRATIONS = {
    "fact": WorkedExample(
        "who wrote the music of the magic flute",
        (
            "The Magic Flute is an opera in two acts by Wolfgang Amadeus Mozart to a German libretto by "
            "Emanuel Schikaneder. It was first performed in Vienna on 30 September 1791.",
            "The concert flute is a woodwind instrument that is held sideways.",
        ),
        "Wolfgang Amadeus Mozart wrote the music of The Magic Flute[1].",
    ),
    "joined": WorkedExample(
        "Why does bread dough rise?",
        (
            "Baker's yeast feeds on the sugars in flour and gives off carbon dioxide and a little alcohol. "
            "The gas is caught in the dough as bubbles.",
            "When flour is wetted and kneaded, two of its proteins join into gluten, an elastic net that "
            "stretches around the bubbles instead of letting them burst.",
            "Sliced bread was first sold by machine in Chillicothe, Missouri, in 1928.",
        ),
        "Bread dough rises because yeast feeds on the sugars in flour and gives off carbon dioxide, which is "
        "caught in the dough as bubbles[1]. Kneading joins proteins of the flour into gluten, an elastic net "
        "that stretches around the bubbles and keeps them from bursting[2].",
    ),
    "refusal": WorkedExample(
        "How tall is the lighthouse of Port Ellen?",
        (
            "Port Ellen is a small town on the island of Islay, on the west coast of Scotland. It was "
            "founded in 1821.",
            "Lighthouses of the nineteenth century were often 20 to 40 metres tall.",
        ),
        "The references do not say.",
    ),
    "premise": WorkedExample(
        "Why did Thomas Edison invent the telephone?",
        (
            "Thomas Edison invented the phonograph in 1877 and improved the light bulb.",
            "In 1876 Alexander Graham Bell was granted the first patent for a telephone.",
        ),
        "Thomas Edison did not invent the telephone: Alexander Graham Bell was granted the first patent for "
        "it in 1876[2].",
    ),
    "parts": WorkedExample(
        "How many people live in Ushuaia, and what do they live from?",
        (
            "Ushuaia lies on the Beagle Channel. Its factories assemble electronics, and ships to Antarctica "
            "leave from its port.",
            "The census of 2010 counted 56,956 inhabitants in Ushuaia.",
        ),
        "Ushuaia had 56,956 inhabitants as of 2010[2]. They live from factories of electronics and from the "
        "ships that leave its port for Antarctica[1].",
    ),
}
"""By name; `PromptForm.examples` chooses among them."""
