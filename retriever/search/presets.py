"""Lists of domains by name, to be left out of searches."""

from __future__ import annotations

from collections.abc import Mapping

PRESETS: Mapping[str, tuple[str, ...]] = {"webgpt": ("reddit.com", "quora.com")}
"""WebGPT removed what could hold copies of ELI5's answers (appendix A, https://arxiv.org/abs/2112.09332)."""
