"""The labels of claims that files of claims have."""

from __future__ import annotations

SUPPORT = {
    "supported": 1.0,
    "entailment": 1.0,
    "partial": 0.4,
    "not_supported": 0.0,
    "neutral": 0.0,
    "refuted": 0.0,
    "contradiction": 0.0,
}
"""The target of each label: 1 where the passage supports the claim, 0.4 where it does so in part, else 0."""
