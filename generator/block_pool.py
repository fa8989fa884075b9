"""Blocks of tokens that were read: who uses them, which are free, and what stands in them.

Blocks that nobody uses any more are still known by their tokens until another text needs the room, so that
a text finds its longest beginning that was read before, as in RadixAttention
(https://arxiv.org/abs/2312.07104).
"""

from __future__ import annotations

import heapq
from collections import Counter, OrderedDict
from collections.abc import Sequence

BLOCK = 32
"""The tokens of a block, which is OpenVINO's size on CPUs."""

# Blocks that are known and not used: what eight answers with their checks have in common. More would use up
# memory that nobody has touched.
_UNUSED = 128


class _KnownBlock:
    """A block with its tokens, after those of `parent`; the last one of a text may have few."""

    __slots__ = ("block", "children", "parent", "tokens")

    def __init__(self, block: int, tokens: tuple[int, ...], parent: _KnownBlock | None) -> None:
        self.block = block
        self.tokens = tokens
        self.parent = parent
        self.children: list[_KnownBlock] = []


class BlockPool:
    """The blocks of one decoder, by number."""

    def __init__(self) -> None:
        """Begin without any block."""
        self.size = 0
        self._users: Counter[int] = Counter()
        # A heap: pages of memory that no block has used stay untouched.
        self._free: list[int] = []
        self._root = _KnownBlock(-1, (), None)
        self._known: dict[int, _KnownBlock] = {}
        self._unused: OrderedDict[int, None] = OrderedDict()  # and known; the next to be forgotten is first

    @property
    def used(self) -> int:
        """The number of blocks that texts use."""
        return len(self._users)

    def grow(self, size: int) -> None:
        """Have `size` blocks in all."""
        for block in range(self.size, size):
            heapq.heappush(self._free, block)
        self.size = max(size, self.size)

    def take(self) -> int | None:
        """Return a block for one user; None if none is left.

        If many are known that nobody uses, or no other is free, the least recently used one is forgotten.
        """
        if self._free and len(self._unused) < _UNUSED:
            block = heapq.heappop(self._free)
        elif self._unused:
            block, _ = self._unused.popitem(last=False)
            self._forget(block)
        else:
            return None
        self._users[block] = 1
        return block

    def share(self, blocks: Sequence[int]) -> None:
        """Count one more user of each block."""
        self._users.update(blocks)
        for block in blocks:
            self._unused.pop(block, None)

    def release(self, blocks: Sequence[int]) -> None:
        """Count one user less of each block of a text, in its order."""
        for block in reversed(blocks):  # the end of a text is forgotten first
            self._users[block] -= 1
            if self._users[block]:
                continue
            del self._users[block]
            if block in self._known:
                self._unused[block] = None
            else:
                heapq.heappush(self._free, block)

    def is_shared(self, block: int, place: int) -> bool:
        """Return whether others need what stands at a place of a block that a text uses."""
        known = self._known.get(block)
        return self._users[block] > 1 or (known is not None and len(known.tokens) > place)

    def remember(self, blocks: Sequence[int], tokens: Sequence[int]) -> None:
        """Know the blocks of a text by its tokens, which must have been read."""
        parent = self._root
        for block, start in zip(blocks, range(0, len(tokens), BLOCK), strict=False):
            piece = tuple(tokens[start : start + BLOCK])
            same = (child for child in parent.children if child.tokens == piece)
            known = next(same, None)
            if known is None:
                if block in self._known:
                    return
                known = self._known[block] = _KnownBlock(block, piece, parent)
                parent.children.append(known)
            parent = known

    def find(self, tokens: Sequence[int]) -> tuple[list[int], int]:
        """Return the blocks of the longest known beginning of a text, and the number of its tokens."""
        parent, blocks, found = self._root, list[int](), 0
        while parent.children:
            rest = tokens[found : found + BLOCK]
            lengths = [in_common(child.tokens, rest) for child in parent.children]
            longest = max(lengths)
            if not longest:
                break
            parent = parent.children[lengths.index(longest)]
            blocks.append(parent.block)
            found += longest
            if longest < BLOCK:
                break
        return blocks, found

    def _forget(self, block: int) -> None:
        known = self._known.pop(block)
        if known.parent is not None:
            known.parent.children.remove(known)


def in_common(one: Sequence[int], other: Sequence[int]) -> int:
    """Return the number of tokens with which both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))
