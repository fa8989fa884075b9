"""A causal language model in OpenVINO, with the keys and values of the tokens that it has read.

They lie in blocks, as in paged attention (https://arxiv.org/abs/2309.06180), which several texts can share:
the beginning of all prompts is read once, and so is the prompt of several answers. Tokens that were only
guessed are taken back by forgetting their number.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from citewell.core.mapped_file import pages_released, release_pages
from citewell.core.memory import available_memory
from citewell.core.openvino_core import openvino_core
from citewell.generator.adapted import ADAPTED, with_adapter
from citewell.generator.block_pool import BLOCK, BlockPool

if TYPE_CHECKING:
    import openvino

_FEWEST_BLOCKS = 64
_MANY = 64  # tokens, which take so long to read that giving pages back costs nothing
_PLACES = "places"
_CACHES = ("key_cache.", "value_cache.")
# Of the memory that is available when the model is loaded, for keys and values.
_MEMORY_SHARE = 0.5


Values = dict[str, NDArray[np.float32]]
"""The keys and values of a text, by layer: whole blocks, of which the last may hold more than the text."""


class CachedText:
    """A text that is read and continued: its blocks in order, and the number of its tokens.

    `PagedDecoder.free` gives its blocks back.
    """

    __slots__ = ("adapted", "blocks", "tokens")

    def __init__(self, blocks: Sequence[int] = (), tokens: int = 0, *, adapted: bool = False) -> None:
        """Begin a text, empty or with blocks that it may use; `adapted` if the adapter reads it."""
        self.blocks = list(blocks)
        self.tokens = tokens
        self.adapted = adapted


class Read(NamedTuple):
    """More tokens of a row, at least one, and of how many of them, the last ones, the logits are wanted."""

    row: CachedText
    tokens: Sequence[int]
    wanted: int = 1


class PagedDecoder:
    """The model of a folder that `citewell.core.conversion.converted` filled; for one thread at a time."""

    def __init__(self, folder: Path, *, threads: int, adapter: Path | None = None) -> None:
        """Read the model; the first tokens compile it. Rows that are `adapted` use the adapter.

        Raises `RuntimeError` if the folder holds no language model, and `ModelError` for an adapter that does
        not fit it.
        """
        self._weights = folder / "openvino_model.bin"
        self._model: Any = _paged(openvino_core().read_model(str(folder / "openvino_model.xml")))
        if adapter is not None:
            with_adapter(self._model, adapter)
        self._threads = threads
        self._request: Any = None
        self._inputs: frozenset[str] = frozenset()
        self._caches: Values = {}
        self._pool = BlockPool()
        self._most_tokens = 0

    def begun(self, tokens: Sequence[int], *, adapted: bool = False) -> CachedText:
        """Return a new row with the longest known beginning of a text, without its last two tokens.

        The last token is never read alone.
        """
        blocks, known = self._pool.find(_as_known(tokens[:-2], adapted=adapted))
        self._pool.share(blocks)
        return CachedText(blocks, known, adapted=adapted)

    def known(self, tokens: Sequence[int], *, adapted: bool = False) -> int:
        """Return how many tokens of a text `begun` would not have to read."""
        return self._pool.find(_as_known(tokens[:-2], adapted=adapted))[1]

    def remember(self, row: CachedText, tokens: Sequence[int]) -> None:
        """Know for `begun` that a row began with these tokens, as long as there is room for its blocks."""
        self._pool.remember(row.blocks, _as_known(tokens, adapted=row.adapted))

    def values(self, tokens: Sequence[int]) -> Values:
        """Return the keys and values of a text for `know`; nothing if a part of it is not known."""
        blocks, known = self._pool.find(tokens)
        if known < len(tokens):
            return {}
        return {name: cache[blocks] for name, cache in self._caches.items()}

    def know(self, tokens: Sequence[int], values: Values) -> None:
        """Know a text, which need not be read then, by what `values` returned, perhaps in another process."""
        self._compile()
        row = CachedText()
        self._extend(row, len(tokens))
        for name, cache in self._caches.items():
            cache[row.blocks] = values[name]
        self.remember(row, tokens)
        self.free(row)

    def read(self, reads: Sequence[Read]) -> list[NDArray[np.float32]]:
        """Read more tokens of several rows; return the logits that each wants, of shape (wanted, vocabulary).

        They do not depend on what else is read, nor on how the tokens were divided into reads, except that
        OpenVINO rounds otherwise where it reads a single token of a row, and on processors without AVX-512
        for each number of tokens.
        """
        if sum(len(one.tokens) for one in reads) == 1:
            # A single token in all would be rounded in yet another way.
            other = CachedText()
            try:
                return self.read([*reads, Read(other, [0], 0)])[:1]
            finally:
                self.free(other)
        self._compile()
        lengths = [len(one.tokens) for one in reads]
        before = [one.row.tokens for one in reads]
        for one in reads:
            self._extend(one.row, len(one.tokens))
        ends, wanted = np.cumsum(lengths), [one.wanted for one in reads]
        places = [np.arange(end - last, end) for end, last in zip(ends, wanted, strict=True)]
        given = {
            "input_ids": np.array([token for one in reads for token in one.tokens], dtype=np.int64),
            "position_ids": np.concatenate(
                [np.arange(start, start + more) for start, more in zip(before, lengths, strict=True)]
            ),
            "past_lens": np.array(before, dtype=np.int32),
            "subsequence_begins": np.array([0, *ends], dtype=np.int32),
            "block_indices": np.array([block for one in reads for block in one.row.blocks], dtype=np.int32),
            "block_indices_begins": np.cumsum([0, *(len(one.row.blocks) for one in reads)], dtype=np.int32),
            "max_context_len": np.array(max(one.row.tokens for one in reads), dtype=np.int32),
            ADAPTED: np.repeat([float(one.row.adapted) for one in reads], lengths).astype(np.float32),
            # At least one, since the model computes nothing of no token.
            _PLACES: (np.concatenate(places) if any(wanted) else ends[-1:] - 1).astype(np.int64),
        }
        found = self._request.infer({name: value for name, value in given.items() if name in self._inputs})
        if ends[-1] > _MANY:
            # The vocabulary's rows are read from the file, of which the system maps many pages around each.
            release_pages(self._weights)
        return np.split(found[0][: sum(wanted), 0], np.cumsum(wanted)[:-1])

    def copy(self, row: CachedText) -> CachedText:
        """Return a new row with what `row` has read, which they share."""
        self._pool.share(row.blocks)
        return CachedText(row.blocks, row.tokens, adapted=row.adapted)

    def take_back(self, row: CachedText, number: int) -> None:
        """Take back the last tokens of a row, so many."""
        row.tokens -= number
        needed = -(-row.tokens // BLOCK)
        self._pool.release(row.blocks[needed:])
        del row.blocks[needed:]

    def free(self, row: CachedText) -> None:
        """Take back all of a row."""
        self.take_back(row, row.tokens)

    @property
    def most_tokens(self) -> int:
        """The number of tokens that fit into half of the memory that was available at first."""
        self._compile()
        return self._most_tokens

    @property
    def used(self) -> int:
        """The number of blocks that rows use."""
        return self._pool.used

    def _extend(self, row: CachedText, more: int) -> None:
        place = row.tokens % BLOCK
        if place and self._pool.is_shared(row.blocks[-1], place):
            shared, row.blocks[-1] = row.blocks[-1], self._new_block()
            for cache in self._caches.values():
                cache[row.blocks[-1]] = cache[shared]
            self._pool.release([shared])
        while len(row.blocks) * BLOCK < row.tokens + more:
            row.blocks.append(self._new_block())
        row.tokens += more

    def _new_block(self) -> int:
        block = self._pool.take()
        while block is None:
            self._grow(2 * self._pool.size)
            block = self._pool.take()
        return block

    def _grow(self, blocks: int) -> None:
        """Make caches of `blocks` blocks, with those of before."""
        import openvino

        for name, cache in self._caches.items():
            larger = np.zeros((blocks, *cache.shape[1:]), dtype=np.float32)
            larger[: len(cache)] = cache
            self._caches[name] = larger
            self._request.set_tensor(name, openvino.Tensor(larger, shared_memory=True))
        self._pool.grow(blocks)

    def _compile(self) -> None:
        if self._request is not None:
            return
        options = {
            "INFERENCE_NUM_THREADS": self._threads,
            # With fewer bits, greedy answers would not repeat.
            "KV_CACHE_PRECISION": "f32",
            # Else bfloat16 where the processor has it: as fast, and tokens differ from float32's sooner.
            "INFERENCE_PRECISION_HINT": "f32",
        }
        compiled = openvino_core().compile_model(self._model, "CPU", options)
        self._model = None
        self._request = compiled.create_infer_request()
        names = {one.get_any_name(): one for one in compiled.inputs}
        self._inputs = frozenset(name for name in names if not name.startswith(_CACHES))
        for name, one in names.items():
            if name.startswith(_CACHES):
                _, heads, block, size = one.get_partial_shape()
                if block.get_length() != BLOCK:
                    raise RuntimeError(f"blocks of {block.get_length()} tokens instead of {BLOCK}")
                self._caches[name] = np.zeros((0, heads.get_length(), BLOCK, size.get_length()), np.float32)
        self._grow(_FEWEST_BLOCKS)
        # The first tokens order the weights for the kernels.
        with pages_released(self._weights):
            row = CachedText()
            self.read([Read(row, [0, 0])])
            self.free(row)
        available = available_memory()
        bytes_per_token = sum(cache[0].nbytes for cache in self._caches.values()) // BLOCK
        self._most_tokens = int(_MEMORY_SHARE * available) // bytes_per_token if available else sys.maxsize


def _as_known(tokens: Sequence[int], *, adapted: bool) -> Sequence[int]:
    """Return the tokens by which blocks are known: others for an adapter, whose keys and values differ."""
    return [~token for token in tokens] if adapted else tokens


def _paged(model: openvino.Model) -> openvino.Model:
    """Let a model keep its keys and values in blocks, and compute logits only at the places of a new input.

    The vocabulary has the largest matrix, and of a prompt only the last token's logits matter. Raises
    `RuntimeError` for a model without logits.
    """
    from openvino import opset13
    from openvino._offline_transformations import paged_attention_transformation

    paged_attention_transformation(model)
    node = model.get_results()[0]
    while node.get_type_name() != "MatMul":
        if not node.inputs():
            raise RuntimeError("it has no logits")
        node = node.input(0).get_source_output().get_node()
    places = opset13.parameter([-1], np.int64, name=_PLACES)
    places.output(0).get_tensor().set_names({_PLACES})
    hidden = opset13.gather(node.input(0).get_source_output(), places, opset13.constant(np.int64(0)))
    node.input(0).replace_source_output(hidden.output(0))
    model.add_parameters([places])
    model.validate_nodes_and_infer_types()
    return model
