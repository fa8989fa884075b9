"""The beginning of all prompts, read by one model and known to the next."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from citewell.generator.causal import Sampling
from citewell.generator.decoder import CachedText, PagedDecoder, Read
from citewell.generator.kept_beginning import KeptBeginning
from citewell.generator.openvino import OpenVinoModel, open_openvino

BEGINNING = "<|im_start|>user\n" + "Bats find their way by echoes. " * 6 + "<|im_end|>\n<|im_start|>"
OTHER = "<|im_start|>user\nTigers are striped.<|im_end|>\n<|im_start|>"


@pytest.fixture
def folder(tmp_path: Path, smollm2_folder: Path) -> Path:
    """The converted model at a place where nothing is kept yet."""
    place = tmp_path / "smollm2"
    place.symlink_to(smollm2_folder)
    return place


def opened(folder: Path) -> OpenVinoModel:
    return open_openvino(folder, "SmolLM2", threads=2)


def read_ahead(folder: Path, beginning: str = BEGINNING) -> None:
    opened(folder).read_ahead(beginning, cancelled=threading.Event())


def kept(folder: Path, beginning: str = BEGINNING) -> tuple[list[int], PagedDecoder, bool]:
    """The tokens of a beginning, a new decoder, and whether it knows them from the disk."""
    tokens, decoder = opened(folder).encode(beginning), PagedDecoder(folder, threads=2)
    restored = KeptBeginning(folder, tokens).restore(decoder)
    assert (decoder.known([*tokens, 7, 8]) == len(tokens)) is restored
    return tokens, decoder, restored


def logits(decoder: PagedDecoder, text: Sequence[int]) -> np.ndarray:
    row = decoder.begun(text)
    (found,) = decoder.read([Read(row, text[row.tokens :])])
    decoder.free(row)
    return found


def test_the_next_process_goes_on_where_the_first_has_read(folder: Path) -> None:
    assert not kept(folder)[2], "nothing is kept before it was read"
    read_ahead(folder)
    tokens, decoder, restored = kept(folder)
    assert restored
    prompt = [*tokens, *opened(folder).encode("assistant\nBats")]
    assert np.array_equal(logits(decoder, prompt), logits(PagedDecoder(folder, threads=2), prompt))
    assert decoder.used == 0


def test_a_text_is_the_same_after_what_was_kept(folder: Path) -> None:
    def written(model: OpenVinoModel) -> list[int]:
        found: list[int] = []
        model.write(
            f"{BEGINNING}assistant\n",
            1,
            most=12,
            sampling=Sampling(0.8, 0, 0.0),
            seen=lambda _, some: found.extend(some),
            cancelled=threading.Event(),
        )
        return found

    first, second = opened(folder), opened(folder)
    for model in (first, second):
        model.read_ahead(BEGINNING, cancelled=threading.Event())
    assert written(first) == written(second) == written(opened(folder))


def test_another_beginning_takes_the_place_of_the_first(folder: Path) -> None:
    read_ahead(folder)
    read_ahead(folder, OTHER)
    assert kept(folder, OTHER)[2]
    assert not kept(folder)[2]


def test_what_was_changed_is_read_again(folder: Path) -> None:
    read_ahead(folder)
    (file,) = folder.parent.glob("smollm2.read/*.safetensors")
    whole = file.read_bytes()
    half = len(whole) // 2
    file.write_bytes(whole[:half] + whole[:1000] + whole[half + 1000 :])
    assert not kept(folder)[2]
    read_ahead(folder)
    assert kept(folder)[2]
    assert file.read_bytes() == whole


def test_what_a_stopped_model_has_not_read_is_not_kept(folder: Path) -> None:
    stopped = threading.Event()
    stopped.set()
    opened(folder).read_ahead(BEGINNING, cancelled=stopped)
    assert not kept(folder)[2]


def test_a_disk_without_room_costs_only_the_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(place: Path, fill: Callable[[Path], object]) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("citewell.generator.kept_beginning.keep", full)
    read_ahead(folder)
    assert not kept(folder)[2]


def test_nothing_is_kept_beside_a_folder_that_citewell_did_not_convert(
    tmp_path: Path, smollm2_folder: Path
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    for file in smollm2_folder.iterdir():
        if file.name != "citewell-sums.json":
            (own / file.name).symlink_to(file)
    read_ahead(own)
    assert list(tmp_path.iterdir()) == [own]


def test_values_of_a_text_that_is_not_known_whole_are_none(folder: Path) -> None:
    decoder = PagedDecoder(folder, threads=2)
    tokens = opened(folder).encode(BEGINNING)
    row = CachedText()
    decoder.read([Read(row, tokens[:40])])
    decoder.remember(row, tokens[:40])
    assert not decoder.values(tokens)
    assert decoder.values(tokens[:40])
