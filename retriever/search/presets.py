"""Named lists of domains to exclude from searches."""

from __future__ import annotations

from collections.abc import Mapping

PRESETS: Mapping[str, tuple[str, ...]] = {"webgpt": ("reddit.com", "quora.com")}
"""WebGPT excluded sites that may copy ELI5's answers (appendix A, https://arxiv.org/abs/2112.09332)."""
