"""The benchmark of references that bear an answer, on a few articles."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.answer_bearing import limited, measure
from benchmarks.answer_details import Details
from benchmarks.answer_questions import (
    BearingQuestion,
    definitions,
    lead_sentence,
    of_split,
    read_questions,
)
from citewell.core.settings import Settings, load_settings
from citewell.core.types import Reference
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import SourceDocument
from citewell.retriever.extract.sandbox import SandboxLimits
from tests.retriever.cross_encoder.test_load import write_cross_encoder

CAPTION = "A volcano seen from the north side of the bay, drawn by somebody who was there when it erupted."
VOLCANO = (
    "A volcano is an opening in the crust of a planet through which molten rock, ash and gases escape. "
    "Most of them lie where plates of the crust move apart or collide with each other."
)
VESUVIUS = (
    "Mount Vesuvius is a mountain east of Naples, best known for the eruption that buried Pompeii. "
    "The eruption happened in the year 79, and Pliny the Younger watched it from across the bay."
)
YEAST = (
    "Yeast is a fungus of a single cell that turns sugar into alcohol and carbon dioxide. "
    "Bakers use it since the gas makes bread rise, and brewers since the alcohol makes beer."
)


def article(title: str, *paragraphs: str) -> str:
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    return f'<main><article><h1>{title}</h1><p class="caption">{CAPTION}</p>{body}</article></main>'


ARTICLES = {
    "Volcano": article("Volcano", VOLCANO),
    "Mount Vesuvius": article("Mount Vesuvius", VESUVIUS),
    "Yeast": article("Yeast", YEAST),
}
QUESTIONS = (
    {"question": "Who watched the eruption of Vesuvius?", "answer": ["Pliny the Younger", "Pliny"]},
    {"question": "What makes bread rise?", "answer": ["carbon dioxide"]},
    {"question": "Who painted the Mona Lisa?", "answer": ["Leonardo da Vinci"]},
    {"question": "What is Volcano?", "url": "/wiki/Volcano", "lead": VOLCANO.split(". ")[0] + "."},
    {"question": "What is Yeast?", "url": "/wiki/Yeast", "lead": YEAST.split(". ")[0] + "."},
)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("data")
    documents = [
        SourceDocument(f"/wiki/{title.replace(' ', '_')}", text.encode(), "text/html", title)
        for title, text in ARTICLES.items()
    ]
    with indexing(EmbeddedCatalog(folder), "tiny") as indexer:
        report = index_documents(indexer, "tiny", documents, sandbox=SandboxLimits(workers=1))
    assert report.added == len(ARTICLES)
    return load_settings({"data_dir": folder, "search.collection": "tiny"})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "questions.jsonl"
    found.write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS), encoding="utf-8")
    return found


@pytest.mark.parametrize("system", ["default", "bm25", "encoder"])
def test_a_system_finds_the_answers_that_the_collection_has(
    system: str, settings: Settings, file: Path, tmp_path: Path
) -> None:
    details = Details(tmp_path / "details.json", {"split": "dev"})
    some = asyncio.run(measure(system, settings, read_questions(file)[1:3], details))
    assert len(some.seconds) == 2
    measured = asyncio.run(measure(system, settings, read_questions(file), details))
    assert measured == details.read(system)
    answered = measured.values["short answers @5"]
    assert [answered[question.key] for question in read_questions(file)[:3]] == [1, 1, 0]
    assert answered == measured.values["short answers @20"]
    assert list(measured.values["definitions @5"].values()) == [1, 1]
    assert set(measured.values["fragments"].values()) == {0}
    refused = {key for key, value in measured.values["refused"].items() if value}
    assert refused == ({"short answers: Who painted the Mona Lisa?"} if system == "default" else set())
    assert all(0 <= seconds < 10 for seconds in measured.seconds.values())
    assert measured.peak_mb > 10


def test_a_cross_encoder_orders_the_references_of_the_pipeline(
    settings: Settings, file: Path, tmp_path: Path
) -> None:
    model = write_cross_encoder(tmp_path / "model", "bert")
    questions, nothing = read_questions(file), Details(None, {})
    settings = load_settings(
        {"data_dir": settings.data_dir, "search.collection": "tiny", "retriever.max_tokens": 128}
    )
    mixed = asyncio.run(measure(f"cross-encoder:{model}", settings, questions, nothing)).values
    default = asyncio.run(measure("default", settings, questions, nothing)).values
    assert mixed["short answers @20"] == default["short answers @20"]
    assert mixed["refused"] == default["refused"]
    assert mixed["short answers @1"] != default["short answers @1"]  # its weights are random


def test_the_command_prints_intervals_and_tests_and_compares_with_an_earlier_run(
    settings: Settings, file: Path, tmp_path: Path
) -> None:
    details, out = tmp_path / "details.json", tmp_path / "result.json"
    command = [sys.executable, "-m", "benchmarks.answer_bearing", "--questions", str(file)]
    command += ["--collection", "tiny", "--data-dir", str(settings.data_dir), "--systems", "bm25,hybrid"]
    command += ["--details", str(details), "--output", str(out)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "hybrid: skipped, since the collection has no vectors." in printed
    asked = len(of_split(read_questions(file), "dev"))
    assert f"bm25: {asked} of {asked} questions" in printed
    kept = json.loads(details.read_text(encoding="utf-8"))["systems"]["bm25"]["values"]
    figures = json.loads(out.read_text(encoding="utf-8"))["systems"]["bm25"]["measures"]
    for measure_name, values in kept.items():
        figure = figures[measure_name]
        assert figure["questions"] == len(values)
        assert figure["low"] <= figure["mean"] <= figure["high"]

    again = subprocess.run(
        [*command, "--against", str(details)], check=True, capture_output=True, text=True
    ).stdout
    assert "bm25: " not in again  # not asked again
    assert "Against the earlier run:" in again
    assert "| bm25 | refused | +0.0000 |" in again


def test_a_definition_is_made_of_the_first_paragraph_that_is_prose() -> None:
    assert lead_sentence(ARTICLES["Volcano"], "Volcano") == VOLCANO.split(". ")[0] + "."
    short = article("Yeast", "Yeast Saccharomyces cerevisiae cells", YEAST)
    assert lead_sentence(short, "Yeast") == YEAST.split(". ")[0] + "."
    assert lead_sentence(article("Bread", YEAST), "Bread") == ""

    rows = [
        {"path": f"/wiki/{title}", "title": title, "html": text, "categories": ["subject.Science"]}
        for title, text in ARTICLES.items()
    ]
    curie = (
        "Marie Curie was a physicist born in Warsaw. She discovered polonium and radium, and received two "
        "Nobel prizes, alone the second time."
    )
    people = {"title": "Marie Curie", "path": "/wiki/Curie", "html": article("Marie Curie", curie)}
    listed = {"title": "List of volcanoes", "path": "/wiki/List", "html": article("Volcanoes", VOLCANO)}
    rows += [people | {"categories": ["subject.People.Chemists"]}, listed | {"categories": []}]
    made = {question.text: question.lead for question in definitions(rows, things=3, people=1)}
    assert made.keys() == {
        "What is Volcano?",
        "What is Mount Vesuvius?",
        "What is Yeast?",
        "Who was Marie Curie?",
    }
    assert made["Who was Marie Curie?"] == "Marie Curie was a physicist born in Warsaw."


def test_a_reference_bears_the_lead_of_its_own_page_only() -> None:
    lead = VOLCANO.split(". ")[0] + "."
    asked = BearingQuestion(text="What is Volcano?", origin="definitions", lead=lead, url="/wiki/Volcano")
    assert asked.is_borne_by(Reference(1, "/wiki/Volcano", "Volcano", VOLCANO, 0.5))
    assert asked.is_borne_by(Reference(1, "/copy", "Volcano", VOLCANO, 0.5, ("/wiki/Volcano",)))
    assert not asked.is_borne_by(Reference(1, "/other", "Volcano", VOLCANO, 0.5))
    assert not asked.is_borne_by(Reference(1, "/wiki/Volcano", "Volcano", "A volcano is an opening.", 0.5))


def test_a_third_of_the_questions_is_held_out_whatever_the_others_are() -> None:
    questions = [BearingQuestion(text=f"What is number {n}?", origin="short answers") for n in range(900)]
    held, dev = of_split(questions, "held"), of_split(questions, "dev")
    texts = {question.text for question in questions}
    assert len(held) + len(dev) == len(questions)
    assert {question.text for question in held + dev} == texts
    assert 250 < len(held) < 350
    assert of_split(questions[::2], "held") == [question for question in held if question in questions[::2]]
    assert limited(dev, 10) == dev[:10]
