"""Measures of the frames of a page: the hints of their names and of the frames around them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from citewell.retriever.extract.main_text.layout import PageLayout

Indices = NDArray[np.int64]
Numbers = NDArray[np.float64]

SURROUNDINGS = (  # noqa: SIM905
    "article main nav header footer aside form li table dl figure section blockquote pre noscript details "
    "dialog fieldset ul ol hidden"
).split()
"""The elements whose presence around a piece is a feature; `hidden` stands for any hidden element."""
_BIT = {tag: 1 << index for index, tag in enumerate(SURROUNDINGS)}
_BITS = np.array([list(_BIT.values())]).T  # (21, 1)
_TAG_OF_ROLE = {
    "main": "main",
    "navigation": "nav",
    "banner": "header",
    "contentinfo": "footer",
    "complementary": "aside",
    "dialog": "dialog",
    "article": "article",
    "search": "form",
}
_NAME = re.compile(r"[^a-zA-Z]+|(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, eq=False)
class WordWeights:
    """The strength with which a word indicates main text (above 0) or other text (below 0), as log odds."""

    names: Mapping[str, float]
    """For words in the class, id or role of a frame."""
    words: Mapping[str, float]
    """For words of a short text."""


class FrameTable(NamedTuple):
    """Measures of the `f` frames of a page, each (f,)."""

    parent: Indices
    """The frame around each; -1 for the outermost."""
    depth: Indices
    score: Numbers
    """The log odds of main text by the frame's names."""
    lowest_score: Numbers
    """The lowest of the scores of the frame and all frames around it, at most 0; `highest_score` likewise."""
    highest_score: Numbers
    score_sum: Numbers
    surroundings: Indices
    """A bit for each of `SURROUNDINGS` that the frame is or lies in."""
    looks: Indices
    """Equal for frames with the same tag, names and parent's names."""

    def within(self, frames: Indices) -> NDArray[np.bool_]:
        """Return whether each of `n` frames is or lies in each of `SURROUNDINGS`: (21, n)."""
        inside: NDArray[np.bool_] = (self.surroundings[frames] & _BITS) > 0
        return inside


def name_words(names: str) -> frozenset[str]:
    """Return the words in the attributes of a frame: `post-body mainText` has post, body, main and text."""
    return frozenset(word.lower() for word in _NAME.split(names) if 2 < len(word) < 20)


def frame_table(layout: PageLayout, weights: WordWeights) -> FrameTable:
    """Measure the frames of a page, of which there is at least one."""
    tag_numbers, tag = _numbered(layout.tags)
    name_numbers, name = _numbered(layout.names)
    score = np.array([_name_score(text, weights) for text in name_numbers])[name]
    bits = np.array([_BIT.get(text, 0) for text in tag_numbers])[tag]
    bits[layout.hidden] |= _BIT["hidden"]
    for index, role in layout.roles.items():
        if role in _TAG_OF_ROLE:
            bits[index] |= _BIT[_TAG_OF_ROLE[role]]
    parent, depth = np.array(layout.parents), np.array(layout.depths)
    # Pointer doubling: each round combines a frame with twice as many frames around it. The outermost frame
    # is its own parent; `inner` keeps its score from being added more than once.
    up = np.maximum(parent, 0)
    lowest, highest, surroundings = np.minimum(score, 0), np.maximum(score, 0), bits
    total, inner = score, np.where(parent < 0, 0.0, 1.0)
    parent_name = name[up] + 1
    parent_name[parent < 0] = 0
    looks = (tag * (len(name_numbers) + 1) + parent_name) * len(name_numbers) + name
    for _ in range(max(layout.depths).bit_length()):
        lowest, highest = np.minimum(lowest, lowest[up]), np.maximum(highest, highest[up])
        surroundings = surroundings | surroundings[up]
        total, inner = total + inner * total[up], inner * inner[up]
        up = up[up]
    return FrameTable(parent, depth, score, lowest, highest, total, surroundings, looks)


def _numbered(texts: Sequence[str]) -> tuple[Mapping[str, int], Indices]:
    """Number the distinct texts from 0; return them and the number of each text."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    return numbers, np.array([numbers[text] for text in texts])


@lru_cache(maxsize=65_536)  # sites repeat the same few names thousands of times
def _name_score(names: str, weights: WordWeights) -> float:
    """Return the log odds of main text by the names of a frame."""
    found = [weights.names[word] for word in name_words(names) if word in weights.names]
    # fsum is exact, so the result does not depend on the order of the set, which differs between processes.
    return math.fsum(found) / math.sqrt(len(found)) if found else 0.0
