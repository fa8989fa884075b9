"""Walk scripted raters through studies of real answers in Chromium, to reports and exports.

    python -m benchmarks.blind_reading study --out answers.jsonl
    python -m benchmarks.scripted_study answers.jsonl

makes a study of each form from the answers of four systems among the results; other files of answers are
those of `citewell eval answers` and `citewell eval truthfulqa`. Two raters, named as scripted, judge every
page with the keyboard alone. They choose by chance: the figures show that the way from answers to reports
works, and say nothing of the systems. It prints every table of the reports, and counts the rows of the
exports. It needs the extras `server` and `browser`, and Chromium or Chrome.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.results_files import output_option, save, table
from benchmarks.screenshots import serving
from citewell.core.jsonl import read_lines
from citewell.retriever.fetch.render import find_chromium, runs_as_root
from citewell.scorer.data.reading import read_comparisons
from citewell.server.access.owner import owner_token
from citewell.server.store.address import store_url
from citewell.server.store.database import open_store
from citewell.server.studies.answer_files import read_answer_file
from citewell.server.studies.answers import SystemAnswer
from citewell.server.studies.forms.catalog import FORMS, form_named
from citewell.server.studies.making import StudyPlan, drafted, planned
from citewell.server.studies.report.plain import plain
from citewell.server.studies.report.study_report import read_report
from citewell.server.studies.report.tables import markdown_report

RATERS = ("scripted 1", "scripted 2")
EXPORTS = ("ratings", "comparisons", "rankings")
_LEVELS = 9
_MILLISECONDS = 180_000  # that a page may take on a busy machine


def main() -> None:
    """Make the studies, judge them, and print and save their reports."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="answers of several systems")
    parser.add_argument("--limit", type=int, default=3, metavar="N", help="questions of a study [3]")
    output_option(parser)
    arguments = parser.parse_args()
    answers = [answer for file in arguments.files for answer in read_answer_file(file)]
    with tempfile.TemporaryDirectory() as folder:
        url = store_url("", Path(folder))
        studies = asyncio.run(make(url, answers, arguments.limit))
        with serving(folder) as address:
            pages = {form: judge(address, id_) for form, id_ in studies.items()}
            exports = {form: exported(address, Path(folder), id_) for form, id_ in studies.items()}
        reports = asyncio.run(read(url, studies))
    for markdown, _ in reports.values():
        print(markdown)
    rows = [(form, pages[form], *of.values()) for form, of in exports.items()]
    print(table(("form", "pages", *next(iter(exports.values()))), rows))
    found = {
        form: {"pages": pages[form], "exports": exports[form], "report": values}
        for form, (_, values) in reports.items()
    }
    save("scripted_study", {"raters": "scripts that choose by chance", "studies": found}, arguments.output)


async def make(url: str, answers: Sequence[SystemAnswer], limit: int) -> dict[str, str]:
    """Store a study of each form; return their ids."""
    studies = {}
    async with open_store(url) as store:
        for name in FORMS:
            form = form_named(name)
            drafts = drafted(answers, form, limit=limit, seed="scripted")
            plan = StudyPlan(name=f"Scripted: {name}", form=form, seed="scripted")
            study, items = planned(plan, drafts)
            await store.studies.add(study, items)
            studies[name] = study.id
    return studies


def judge(address: str, study: str) -> int:
    """Let each rater judge all pages of a study; return the number of pages."""
    from playwright.sync_api import sync_playwright

    pages = 0
    with sync_playwright() as playwright:
        sandbox = not runs_as_root()
        browser = playwright.chromium.launch(executable_path=find_chromium(), chromium_sandbox=sandbox)
        for rater in RATERS:
            page = browser.new_page(base_url=address)
            page.set_default_timeout(_MILLISECONDS)
            page.goto(f"/studies/{study}")
            page.get_by_label("Your name").fill(rater)
            page.keyboard.press("Enter")
            page.wait_for_url("**/studies/*rater=*")
            chance = random.Random(f"{rater}/{study}")
            while page.locator("#judging").count():
                press_through(page, chance)
                pages += 1
        browser.close()
    return pages


def exported(address: str, folder: Path, study: str) -> dict[str, int]:
    """Return how many rows each export of a study has, and how many comparisons in WebGPT's form read back.

    Exits if training reads other comparisons from WebGPT's form than from the other one.
    """
    import httpx

    own = {"Authorization": f"Bearer {owner_token(folder)}"}
    rows, comparisons = {}, {}
    with httpx.Client(base_url=address, headers=own, timeout=60) as client:
        for name, form in (*((name, "rows") for name in EXPORTS), ("comparisons", "webgpt")):
            reply = client.get(f"/v1/export/{name}", params={"study": study, "format": form})
            reply.raise_for_status()
            file = folder / f"{name}.jsonl"
            file.write_bytes(reply.content)
            rows[name if form == "rows" else f"{name}, {form}"] = sum(1 for _ in read_lines(file))
            if name == "comparisons" and reply.content:
                comparisons[form] = [replace(each, rater="") for each in read_comparisons(file).comparisons]
    if comparisons and comparisons["rows"] != comparisons["webgpt"]:
        sys.exit(f"The exports of the study {study} differ.")
    return rows


def press_through(page: Any, chance: random.Random) -> None:
    """Choose a level of each scale of a page by its digit, and store it."""
    body = page.locator("#judging").get_attribute("data-body")
    page.locator("#judged-question").focus()
    page.keyboard.press("j")
    while step := page.evaluate("document.activeElement.name"):
        levels = page.locator(f'[name="{step}"]').count()
        page.keyboard.press(str(chance.randint(1, min(levels, _LEVELS))))
    page.keyboard.press("Enter")
    page.wait_for_function("body => document.querySelector('#judging')?.dataset.body !== body", arg=body)


async def read(url: str, studies: dict[str, str]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the report of each study, as Markdown and as plain values, without the pace of the scripts."""
    found = {}
    async with open_store(url) as store:
        for form, id_ in studies.items():
            study = await store.studies.get(id_)
            assert study is not None
            report = await read_report(store, study)
            values = plain(report)
            values["raters"] = [{**rater, "seconds": None} for rater in values["raters"]]
            found[form] = (markdown_report(report), json.loads(json.dumps(values)))
    return found


if __name__ == "__main__":
    main()
