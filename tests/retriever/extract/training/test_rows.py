"""Files of pages with their main text."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.retriever.extract.training.pages import fold, read_pages
from citewell.retriever.extract.training.rows import data_files, data_set, read_rows


def write(file: Path, *rows: dict[str, object]) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    file.write_bytes(gzip.compress(text.encode()) if file.suffix == ".gz" else text.encode())
    return file


PAGE = {"id": "a", "url": "https://www.a.example/x", "html": "<p>Kites fly high.</p>", "gold_text": "Kites"}


@pytest.mark.parametrize("name", ["pages.jsonl", "pages.jsonl.gz"])
def test_rows_without_text_are_left_out_and_unknown_fields_ignored(tmp_path: Path, name: str) -> None:
    file = write(tmp_path / name, PAGE | {"spa": True}, PAGE | {"id": "b", "gold_text": None})
    (row,) = read_rows(file)
    assert (row.id, row.site) == ("a", "a.example")


def test_a_page_without_a_url_is_a_site_of_its_own(tmp_path: Path) -> None:
    (row,) = read_rows(write(tmp_path / "p.jsonl", PAGE | {"url": None}))
    assert row.site == "a"


@pytest.mark.parametrize(
    "line", [b"{", b"[]", b'{"id": "a"}', b'{"id": 1, "html": "", "gold_text": ""}', b"\xff"]
)
def test_a_line_of_another_form_is_named(tmp_path: Path, line: bytes) -> None:
    file = write(tmp_path / "p.jsonl", PAGE)
    file.write_bytes(file.read_bytes() + line + b"\n")
    with pytest.raises(InputError, match=r"p\.jsonl:2 is not a page with its text"):
        list(read_rows(file))


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    file = write(tmp_path / "p.jsonl.gz", PAGE)
    file.write_bytes(file.read_bytes()[:-12])
    with pytest.raises(InputError, match="cannot be read any further"):
        list(read_rows(file))


def test_shards_are_one_data_set() -> None:
    assert data_set(Path("wcxb_dev-02.jsonl.gz")) == "wcxb_dev"
    assert data_set(Path("own.jsonl")) == "own"


def test_a_folder_without_pages_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no pages to learn from"):
        data_files(tmp_path)


def test_pages_without_pieces_teach_nothing(tmp_path: Path) -> None:
    file = write(tmp_path / "p.jsonl", PAGE, PAGE | {"id": "b", "html": "<script>1</script>"})
    assert [page.id for page in read_pages([file])] == ["a"]


def test_labels_are_shares_of_words_in_runs_of_the_text(tmp_path: Path) -> None:
    html = (
        "<nav>Home</nav><h1>Box kites</h1><p>A box kite has two cells and a frame of four sticks</p>"
        "<p>Share this now with all of your friends</p><p>two cells</p>"
    )
    gold = "Box kites\nA box kite has two cells. Other words follow."
    (page,) = read_pages([write(tmp_path / "p.jsonl", PAGE | {"html": html, "gold_text": gold})])
    assert page.labels.tolist() == pytest.approx([0.0, 1.0, 6 / 12, 0.0, 0.5])
    assert page.words.tolist() == [1, 2, 12, 8, 2]


def test_folds_divide_sites_evenly_and_the_same_way_everywhere() -> None:
    sites = [f"site-{number}.example" for number in range(1000)]
    sizes = [sum(fold(site, 5) == number for site in sites) for number in range(5)]
    assert sum(sizes) == 1000
    assert min(sizes) > 150
    assert fold("a.example", 5) == 4
