"""Malformed addresses and hostile documents fail with a reason, and the commands go on without them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.server.malformed import FOUND, PDF, QUESTION, REDIRECTS, malformed_web, searching

if TYPE_CHECKING:
    from tests.cli.conftest import Cli


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with malformed_web() as base:
        yield base


@pytest.fixture
def environment(base: str) -> Mapping[str, str]:
    """The variables of a search that finds malformed addresses."""
    given = searching(base)
    return {f"CITEWELL_{name.replace('.', '__').upper()}": str(value) for name, value in given.items()}


def test_a_question_is_answered_and_each_page_that_failed_has_a_reason(
    cli: Cli, environment: Mapping[str, str], base: str
) -> None:
    code, _, err = result = cli.run("ask", QUESTION, "--json", env=environment)
    assert (code, "Traceback" in err) == (0, False), err
    (answer,) = result.objects()
    assert FOUND in answer["answer"]
    assert [each["url"] for each in answer["references"]] == [f"{base}/bats"]
    failed = {each["url"]: each for each in answer["failures"]}
    assert {failed[url]["kind"] for url in ("http://][@", "http://[::g]/")} == {"url"}
    assert {failed[f"{base}/away/{number}"]["kind"] for number in range(REDIRECTS)} == {"url"}
    assert failed[f"{base}/broken.pdf"]["reason"].startswith("the PDF is broken (PSSyntaxError: Invalid")
    assert max(len(each["reason"]) for each in answer["failures"]) <= 300

    code, out, err = cli.run("ask", QUESTION, env=environment)
    assert (code, "Traceback" in err) == (0, False), err
    assert f"Not read: {base}/broken.pdf: the PDF is broken" in " ".join(out.split())


def test_without_a_good_page_the_command_says_so(cli: Cli, environment: Mapping[str, str]) -> None:
    code, out, err = cli.run("ask", "What is there of nothing?", env=environment)
    assert (code, "Traceback" in out + err) == (0, False), err
    assert "No evidence for an answer was found." in out
    assert "Not read: http://][@: " in out


def test_browsing_goes_on_after_pages_that_cannot_be_opened(cli: Cli, environment: Mapping[str, str]) -> None:
    code, out, err = cli.run("browse", QUESTION, env=environment)
    assert (code, "Traceback" in out + err) == (0, False), err
    assert FOUND in out
    assert "→ Error" in err


def test_what_a_library_says_about_a_document_is_cut(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "broken.pdf").write_bytes(PDF)
    code, out, err = cli.run("extract", "broken.pdf")
    assert (code, out) == (1, "")
    (line,) = err.splitlines()
    assert line.startswith(
        "citewell: broken.pdf: the PDF is broken (PSSyntaxError: Invalid dictionary construct"
    )
    assert line.endswith("…). Download it again; if no PDF viewer can open it, the file is damaged.")
    assert len(line) < 330
