"""Grammar-constrained decoding for models of transformers, with xgrammar (https://xgrammar.mlc.ai)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from citewell.core.packages import need_packages

if TYPE_CHECKING:
    import torch


class Constraint:
    """A compiler of grammars for the tokens of one model."""

    def __init__(self, tokenizer: Any, *, vocabulary: int, stop: Sequence[int]) -> None:
        """`vocabulary` is the number of the model's logits, `stop` the tokens that end its turn.

        Raises `InputError` if xgrammar is not installed.
        """
        need_packages("A grammar for a model of transformers", "grammar", "xgrammar")
        import xgrammar

        about = xgrammar.TokenizerInfo.from_huggingface(
            tokenizer, vocab_size=vocabulary, stop_token_ids=list(stop)
        )
        # A grammar is made for one prompt: caching it would only fill the memory.
        self._compiler = xgrammar.GrammarCompiler(about, max_threads=1, cache_enabled=False)
        self._vocabulary = vocabulary

    def rows(self, grammar: str, n: int) -> ConstrainedRows:
        """Constrain a batch of `n` texts to a grammar in xgrammar's EBNF."""
        return ConstrainedRows([self._compiler.compile_grammar(grammar)] * n, self._vocabulary)

    def each(self, grammars: Sequence[str]) -> ConstrainedRows:
        """Constrain a batch of texts, each to its own grammar."""
        compiled = [self._compiler.compile_grammar(grammar) for grammar in grammars]
        return ConstrainedRows(compiled, self._vocabulary)


class ConstrainedRows:
    """The texts of a batch, each with the state of its grammar."""

    def __init__(self, compiled: Sequence[Any], vocabulary: int) -> None:
        """Start a text for each compiled grammar; use `Constraint`."""
        import xgrammar

        self._xgrammar = xgrammar
        self._matchers = [xgrammar.GrammarMatcher(each) for each in compiled]
        self._vocabulary = vocabulary

    def masked(self, logits: torch.Tensor) -> torch.Tensor:
        """Logits of shape (rows, vocabulary), with -inf for tokens that the grammar does not allow."""
        allowed = self._xgrammar.allocate_token_bitmask(len(self._matchers), self._vocabulary)
        for row, matcher in enumerate(self._matchers):
            matcher.fill_next_token_bitmask(allowed, row)
        logits = logits.clone()
        self._xgrammar.apply_token_bitmask_inplace(logits, allowed.to(logits.device))
        return logits

    def accept(self, tokens: Sequence[int]) -> None:
        """Append one token to each row."""
        for matcher, token in zip(self._matchers, tokens, strict=True):
            matcher.accept_token(token)

    def keep(self, rows: Sequence[int]) -> None:
        """Drop all rows but these."""
        self._matchers = [self._matchers[row] for row in rows]
