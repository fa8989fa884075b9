"""A causal language model in OpenVINO, with the keys and values of the tokens that it has read.

They lie in blocks, as in paged attention (https://arxiv.org/abs/2309.06180), which several texts can share:
the beginning of all prompts is read once, and so is the prompt of several answers. Tokens that were only
guessed are taken back by forgetting their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from citewell.core.mapped_file import pages_released
from citewell.core.openvino_core import openvino_core

if TYPE_CHECKING:
    import openvino

_BLOCK = 32  # tokens; OpenVINO's size on CPUs
_FEWEST_BLOCKS = 64
_PLACES = "places"
_CACHES = ("key_cache.", "value_cache.")


class _CachedRow(NamedTuple):
    """A text: its blocks in order, and the number of its tokens."""

    blocks: tuple[int, ...] = ()
    tokens: int = 0


class PagedDecoder:
    """The model of a folder that `citewell.core.conversion.converted` filled; for one thread at a time.

    Each of its rows is a text that is read and continued. It begins with one empty row.
    """

    def __init__(self, folder: Path, *, threads: int) -> None:
        """Read the model; the first tokens compile it.

        Raises `RuntimeError` if the folder holds no language model.
        """
        self._weights = folder / "openvino_model.bin"
        self._model: Any = _paged(openvino_core().read_model(str(folder / "openvino_model.xml")))
        self._threads = threads
        self._request: Any = None
        self._inputs: frozenset[str] = frozenset()
        self._caches: dict[str, NDArray[np.float32]] = {}
        self._rows = [_CachedRow()]
        self._used = 0  # blocks
        self._kept: tuple[int, ...] = ()

    def begin(self, beginning: Sequence[int] = ()) -> int:
        """Begin again with one row; return how many tokens of `beginning` it has, from the last `keep`.

        These are all of it that `keep` keeps, or none.
        """
        tokens = len(beginning) // _BLOCK * _BLOCK
        known = bool(tokens) and self._kept == tuple(beginning[:tokens])
        blocks = tuple(range(len(self._kept) // _BLOCK))
        self._rows = [_CachedRow(blocks, tokens) if known else _CachedRow()]
        self._used = len(blocks)
        return tokens if known else 0

    def keep(self, beginning: Sequence[int]) -> int:
        """Read the first tokens of a text, and keep them for `begin`; return their number.

        They are kept until another beginning is, in whole blocks.
        """
        tokens = len(beginning) // _BLOCK * _BLOCK
        self._kept = ()
        self.begin()
        if tokens:
            self.read([beginning[:tokens]])
            self._kept = tuple(beginning[:tokens])
        return tokens

    def read(self, tokens: Sequence[Sequence[int]], *, every: bool = False) -> list[NDArray[np.float32]]:
        """Read more tokens of each row; return each row's logits, of shape (n, vocabulary).

        With `every`, n is the number of its new tokens; else it is 1, for the last of them.
        """
        if self._request is None:
            self._compile()
        lengths = [len(row) for row in tokens]
        before = [row.tokens for row in self._rows]
        self._rows = [self._extended(row, more) for row, more in zip(self._rows, lengths, strict=True)]
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1]) if every else ends - 1
        blocks = [block for row in self._rows for block in row.blocks]
        given = {
            "input_ids": np.array([token for row in tokens for token in row], dtype=np.int64),
            "position_ids": np.concatenate(
                [np.arange(start, start + more) for start, more in zip(before, lengths, strict=True)]
            ),
            "past_lens": np.array(before, dtype=np.int32),
            "subsequence_begins": np.array([0, *ends], dtype=np.int32),
            "block_indices": np.array(blocks, dtype=np.int32),
            "block_indices_begins": np.cumsum([0, *(len(row.blocks) for row in self._rows)], dtype=np.int32),
            "max_context_len": np.array(max(row.tokens for row in self._rows), dtype=np.int32),
            _PLACES: places.astype(np.int64),
        }
        found = self._request.infer({name: value for name, value in given.items() if name in self._inputs})
        logits = found[0][:, 0]
        return np.split(logits, ends[:-1]) if every else np.split(logits, len(tokens))

    def split(self, number: int) -> None:
        """Make `number` rows of the one row, which share what it has read."""
        (row,) = self._rows
        self._rows = [row]
        whole = row.tokens // _BLOCK
        for _ in range(number - 1):
            blocks = row.blocks[:whole]
            for block in row.blocks[whole:]:
                (copy,) = self._new_blocks(1)
                for cache in self._caches.values():
                    cache[copy] = cache[block]
                blocks += (copy,)
            self._rows.append(_CachedRow(blocks, row.tokens))

    def select(self, rows: Sequence[int]) -> None:
        """Go on with these rows only."""
        self._rows = [self._rows[row] for row in rows]

    def take_back(self, numbers: Sequence[int]) -> None:
        """Take back the last tokens of each row, so many."""
        self._rows = [
            row._replace(tokens=row.tokens - number) for row, number in zip(self._rows, numbers, strict=True)
        ]

    def _extended(self, row: _CachedRow, more: int) -> _CachedRow:
        missing = -(-(row.tokens + more) // _BLOCK) - len(row.blocks)
        return _CachedRow(row.blocks + self._new_blocks(missing), row.tokens + more)

    def _new_blocks(self, number: int) -> tuple[int, ...]:
        first = self._used
        self._used += max(number, 0)
        there = len(next(iter(self._caches.values())))
        if self._used > there:
            self._grow(max(self._used, 2 * there), first)
        return tuple(range(first, self._used))

    def _grow(self, blocks: int, used: int) -> None:
        """Make caches of `blocks` blocks, with the `used` first ones of before."""
        import openvino

        for name, cache in self._caches.items():
            larger = np.zeros((blocks, *cache.shape[1:]), dtype=np.float32)
            larger[:used] = cache[:used]
            self._caches[name] = larger
            self._request.set_tensor(name, openvino.Tensor(larger, shared_memory=True))

    def _compile(self) -> None:
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
                if block.get_length() != _BLOCK:
                    raise RuntimeError(f"blocks of {block.get_length()} tokens instead of {_BLOCK}")
                self._caches[name] = np.zeros((0, heads.get_length(), _BLOCK, size.get_length()), np.float32)
        self._grow(_FEWEST_BLOCKS, 0)
        rows = self._rows
        self._rows = [_CachedRow()]
        # The first tokens order the weights for the kernels.
        with pages_released(self._weights):
            self.read([[0]])
        self._rows, self._used = rows, 0


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
