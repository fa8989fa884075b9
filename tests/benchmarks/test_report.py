"""The report says what the files of results say, and what is missing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchmarks.report.__main__ import main
from benchmarks.report.answering import accuracy_chart
from benchmarks.report.cells import Cell, share
from benchmarks.report.compared import standing
from benchmarks.report.page import HEADLINES, PAGE, files, sections
from benchmarks.report.reading import PUBLISHED, PublishedFigures, ResultFiles, read_cell
from benchmarks.results_files import RESULTS, read_tables

ROOT = RESULTS.parents[1]
NOT_RUN = {"answers_triviaqa.json"}


def test_the_report_is_what_the_results_give() -> None:
    stale = [
        name for name, text in files(RESULTS).items() if (ROOT / name).read_text(encoding="utf-8") != text
    ]
    assert not stale, "run `python -m benchmarks.report`"


def test_a_stale_report_fails_the_check_and_is_written_again(tmp_path: Path) -> None:
    shutil.copytree(RESULTS, tmp_path / "benchmarks" / "results")
    main([], tmp_path)
    main(["--check"], tmp_path)
    page = tmp_path / PAGE
    page.write_text(page.read_text(encoding="utf-8").replace("1.000", "1.001"), encoding="utf-8")
    with pytest.raises(SystemExit, match=r"docs/results\.md"):
        main(["--check"], tmp_path)
    main([], tmp_path)
    main(["--check"], tmp_path)


@pytest.mark.parametrize("headline", HEADLINES)
def test_a_headline_names_results_that_exist(headline: str) -> None:
    results = ResultFiles(RESULTS)
    HEADLINES[headline](results, PublishedFigures())
    missing = {name for name in results.names if not (RESULTS / name).exists()}
    assert missing <= NOT_RUN


@pytest.mark.parametrize("headline", HEADLINES)
def test_a_headline_without_results_says_so_in_one_line(headline: str, tmp_path: Path) -> None:
    section = sections(tmp_path)[headline]
    assert not any(row.source == "here" for row in section.rows)
    assert all(line.startswith(("Not run here: ", "Not run yet: ")) for line in section.missing)
    assert section.missing
    assert not section.sources


def test_a_result_without_a_command_is_named(tmp_path: Path) -> None:
    (tmp_path / "worker_memory.json").write_text('{"command": "", "machine": "2 cores", "extractive": {}}')
    results = ResultFiles(tmp_path)
    assert results.read("worker_memory")["machine"] == "2 cores"
    assert results.missing == ["`worker_memory.json` names no command or date."]
    assert not results.sources


def test_a_page_names_the_command_that_measured_it(tmp_path: Path) -> None:
    table = "| a |\n| --- |\n| 1 |\n"
    stamp = "Measured by `citewell eval scorer f.jsonl` (2 cores, 24 GiB, 2026-11-22)."
    (tmp_path / "stamped.md").write_text(f"# f.jsonl\n\n{stamp}\n\n{table}", encoding="utf-8")
    (tmp_path / "bare.md").write_text(table, encoding="utf-8")
    results = ResultFiles(tmp_path)
    assert results.tables("stamped.md") == results.tables("bare.md") == [[{"a": "1"}]]
    source = {"command": "citewell eval scorer f.jsonl", "machine": "2 cores, 24 GiB", "date": "2026-11-22"}
    assert results.sources == [{"file": "stamped.md"} | source]
    assert results.missing == ["`bare.md` names no command, machine or date."]


def test_published_figures_name_their_paper_and_place() -> None:
    found = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    for topic in found["topics"].values():
        assert topic["differs"]
        for row in topic["rows"]:
            assert row["paper"] in found["papers"]
            assert row["place"]
            assert row["values"]


def test_the_report_says_who_is_ahead() -> None:
    compared = [("recall", Cell(0.5), 0.75), ("precision", Cell(0.8), 0.7), ("fluency", Cell(), 0.7)]
    assert standing("WebGLM", compared) == [
        "**Behind WebGLM**: recall by .250.",
        "**Ahead of WebGLM**: precision by .100.",
    ]
    assert standing("WebGLM", []) == []


def test_cells_show_values_and_intervals() -> None:
    assert share({"value": 0.5, "low": 0.25, "high": 1.0, "questions": 3}).text == ".500 (.250 to 1.000)"
    assert share([0.5, 0.5, 0.5]).text == ".500"
    assert share(None).text == ""
    assert Cell(1234.5, digits=0).text == "1,234"
    assert Cell(-0.022).text == "-.022"
    assert read_cell("81.4 (77.1 to 85.4)", 1).text == "81.4 (77.1 to 85.4)"
    assert read_cell("not measured").text == ""


def test_tables_of_pages_are_read() -> None:
    page = "# A\n\n| a | b |\n| --- | ---: |\n| x | 1.5 |\n| y | |\n\ntext\n\n| c |\n| --- |\n| z |\n"
    assert read_tables(page) == [[{"a": "x", "b": "1.5"}, {"a": "y", "b": ""}], [{"c": "z"}]]


def test_studies_count_what_the_scripts_judged_and_say_that_they_are_scripts(tmp_path: Path) -> None:
    rate = {"mean": 1.0, "error": 0.0, "questions": 3, "judgments": 6}
    report = {
        "items": 3,
        "judgments": 6,
        "systems": ["alpha", "beta"],
        "scores": [{"name": "truthful"}, {"name": "informative"}],
        "wins": {"alpha": {"beta": rate}, "beta": {"alpha": rate}},
        "wins_by_scale": {},
        "agreement": [{"title": "Truthful"}],
        "raters": [{"rater": "a", "script": True}, {"rater": "b", "script": True}],
    }
    exports = {"ratings": 12, "comparisons": 6, "rankings": 0, "comparisons, webgpt": 6}
    stamp = {"command": "python -m x", "machine": "2 cores", "date": "2026-11-25"}
    studies = {"truthfulqa": {"pages": 6, "exports": exports, "report": report}}
    (tmp_path / "scripted_study.json").write_text(json.dumps(stamp | {"studies": studies}))
    section = sections(tmp_path)["studies"]
    assert "| truthfulqa | 3 | 6 | 2 | 2 | 2 | 1 | 18 | 6 |" in section.markdown()
    (line,) = section.lines
    assert "answers of alpha, beta to" in line
    assert "The raters are 2 scripts" in line


def test_the_picture_has_a_bar_for_each_system() -> None:
    section = sections(RESULTS)["accuracy"]
    picture = accuracy_chart(section)
    drawn = sum(name in row.cells for row in section.rows for name in ("NQ", "WebQuestions", "NQ-open"))
    assert picture.count("<rect") - 3 == drawn
    assert picture.count(">WebGLM, 10B<") == 2, "one for NQ, and one for WebQuestions"
    assert picture.index(">NQ<") < picture.index(">WebGLM, 10B<") < picture.index(">WebQuestions<")
