"""The blocks of a decoder: users, and what is known of blocks that nobody uses."""

from __future__ import annotations

from citewell.generator.block_pool import BLOCK, BlockPool


def pool(size: int) -> BlockPool:
    found = BlockPool()
    found.grow(size)
    return found


def taken(of: BlockPool, number: int) -> list[int]:
    return [block for _ in range(number) if (block := of.take()) is not None]


def test_a_block_is_free_when_its_last_user_has_gone() -> None:
    blocks = pool(2)
    first = taken(blocks, 3)
    assert (first, blocks.used) == ([0, 1], 2)
    blocks.share(first)
    blocks.release(first)
    assert blocks.take() is None
    blocks.release([1])
    assert (blocks.used, blocks.take()) == (1, 1)


def test_what_was_used_longest_ago_is_forgotten_first_and_a_text_from_its_end() -> None:
    blocks = pool(4)
    old, new = list(range(2 * BLOCK)), list(range(500, 500 + 2 * BLOCK))
    for text in (old, new):
        own = taken(blocks, 2)
        blocks.remember(own, text)
        blocks.release(own)
    assert blocks.used == 0
    shared, known = blocks.find(old)
    assert (shared, known) == ([0, 1], 2 * BLOCK)
    blocks.share(shared)
    blocks.release(shared)  # used just now
    assert taken(blocks, 1) == [3]
    assert blocks.find(new) == ([2], BLOCK)
    assert blocks.find(old) == ([0, 1], 2 * BLOCK)
    assert taken(blocks, 2) == [2, 1]
    assert blocks.find(new) == ([], 0)
    assert blocks.find(old) == ([0], BLOCK)


def test_few_blocks_stay_known_while_others_were_never_used() -> None:
    blocks = pool(1000)
    for text in range(500):
        own = taken(blocks, 1)
        blocks.remember(own, [text])
        blocks.release(own)
    assert max(taken(blocks, 1)) < 200
    assert (blocks.find([0])[1], blocks.find([499])[1]) == (0, 1)


def test_a_beginning_is_found_to_the_token() -> None:
    blocks = pool(4)
    text = list(range(BLOCK + 8))
    own = taken(blocks, 2)
    blocks.remember(own, text)
    assert blocks.find([*text[:-3], 99]) == (own, BLOCK + 5)
    assert blocks.find([*text[:4], 99]) == (own[:1], 4)
    assert blocks.find([99]) == ([], 0)


def test_what_others_need_is_not_written_over() -> None:
    blocks = pool(2)
    own = taken(blocks, 1)
    assert not blocks.is_shared(0, 5)
    blocks.remember(own, [1, 2, 3, 4, 5, 6])
    assert blocks.is_shared(0, 5)
    assert not blocks.is_shared(0, 6)
    blocks.share(own)
    assert blocks.is_shared(0, 6)


def test_equal_texts_that_were_read_at_once_are_known_once() -> None:
    blocks = pool(4)
    text = list(range(BLOCK + 4))
    one, other = taken(blocks, 2), taken(blocks, 2)
    blocks.remember(one, text)
    blocks.remember(other, text)
    blocks.release(one)
    blocks.release(other)
    assert blocks.find(text) == (one, BLOCK + 4)
    assert taken(blocks, 2) == other
