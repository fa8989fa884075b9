"""The real small models, converted once into the cache folder and reused by later runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.conversion import converted
from core.settings import load_settings
from retriever.encoder.ct2 import Ct2Encoder
from retriever.rank import Ranker

MINILM = "all-MiniLM-L6-v2"
SMOLLM2 = "SmolLM2-135M-Instruct"


@pytest.fixture(scope="session")
def cache() -> Path:
    """The user's own cache folder; CITEWELL_CACHE_DIR moves it."""
    return load_settings().cache_dir


@pytest.fixture(scope="session")
def minilm_folder(cache: Path) -> Path:
    return converted(MINILM, cache)


@pytest.fixture(scope="session")
def smollm2_folder(cache: Path) -> Path:
    return converted(SMOLLM2, cache)


@pytest.fixture(scope="session")
def encoder(minilm_folder: Path) -> Ct2Encoder:
    return Ct2Encoder(minilm_folder, MINILM, max_tokens=128, threads=2)


@pytest.fixture(scope="session")
def ranker(encoder: Ct2Encoder) -> Ranker:
    return Ranker(encoder, prefilter=48)
