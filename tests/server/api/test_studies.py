"""A study is made, judged and reported over the API, and nobody is told whose answer is whose."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from benchmarks.small_service import BATS
from citewell.core.settings import Settings
from citewell.scorer.data.reading import read_comparisons
from citewell.scorer.data.types import Comparison
from citewell.server.access.owner import owner_token
from citewell.server.store.database import ServiceStore
from citewell.server.studies.drawing import answer_order
from citewell.server.studies.forms.catalog import FORMS
from tests.server.api.conftest import Service, make_key, serving
from tests.server.pages.conftest import in_store
from tests.server.store.samples import answer as stored_answer

SYSTEMS = ("alpha", "human")
GOLD = {"comparison": {"overall": -1}}


@pytest.fixture
def service(settings: Callable[..., Settings]) -> Iterator[Service]:
    with serving(settings(server__cache_seconds=0)) as service:
        token = owner_token(service.settings.data_dir)
        service.client.headers["Authorization"] = f"Bearer {token}"
        yield service


def answers(question: str) -> list[dict[str, Any]]:
    return [
        {
            "system": name,
            "text": f"{question} Reason {SYSTEMS.index(name)} [1].",
            "references": [{"text": "Passage."}],
        }
        for name in SYSTEMS
    ]


def item(question: str, **more: Any) -> dict[str, Any]:
    return {"question": question, "answers": answers(question)} | more


def make(service: Service, **body: Any) -> str:
    made = service.client.post("/v1/studies", json={"name": "Two systems", "form": "webgpt"} | body)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def judge(service: Service, study_id: str, rater: str, prefer: str, **more: Any) -> list[int]:
    """Prefer a system on every item, in whatever order the rater sees it; return the statuses."""

    async def found(store: ServiceStore) -> Any:
        return await store.studies.get(study_id), await store.studies.items(study_id)

    study, items = in_store(service, found)
    statuses = []
    for each in items:
        order = answer_order(study, each, f"name {rater}")
        first = each.answers[order[0]]["system"] == prefer
        body: dict[str, Any] = {"item": each.id, "rater": rater, "answers": [{}, {}]}
        body["comparison"] = {"overall": -2 if first else 2}
        reply = service.client.post(f"/v1/studies/{study_id}/judgments", json=body | more)
        statuses.append(reply.status_code)
    return statuses


def test_what_is_preferred_is_stored_for_the_system_and_exported(service: Service) -> None:
    questions = [f"Why {number}?" for number in range(4)]
    gold = item("Which is right?", gold=GOLD)
    study = make(service, items=[gold, *map(item, questions)], share_required=0)
    assert judge(service, study, "scripted 1", "human") == [201] * 5
    assert judge(service, study, "Ada", "alpha") == [201] * 5
    results = service.client.get(f"/v1/studies/{study}/results").json()["results"]
    assert results["wins"]["human"]["alpha"] == {"mean": 0.5, "error": 0.0, "questions": 4, "judgments": 8}
    assert (results["items"], results["gold_items"], results["judgments"]) == (4, 1, 10)
    raters = {rater["script"]: rater for rater in results["raters"]}
    assert raters[True]["gold"] == {"agreed": 0, "total": 1}
    assert results["agreement"][0]["agreed"] == 0.0
    rows = [json.loads(line) for line in service.client.get("/v1/export/comparisons").text.splitlines()]
    assert {row["rater"] for row in rows} == {rater["rater"] for rater in results["raters"]}
    for row in rows:
        preferred = row["answers"][row["preferred"]]["system"]
        assert preferred == ("human" if row["rater"] == raters[True]["rater"] else "alpha")
    assert "Ada" not in service.client.get("/v1/export/comparisons").text


def test_who_fails_the_short_test_is_refused_from_then_on(service: Service) -> None:
    items = [item("Which is right?", gold=GOLD), item("Why?"), item("How?")]
    study = make(service, items=items, share_required=0, screening=1)
    assert judge(service, study, "scripted 1", "human") == [201, 409, 409]
    assert judge(service, study, "scripted 1", "alpha") == [409] * 3
    assert judge(service, study, "Ada", "alpha") == [201] * 3
    results = service.client.get(f"/v1/studies/{study}/results").json()["results"]
    assert results["judgments"] == 4
    assert {rater["script"]: rater["passed"] for rater in results["raters"]} == {True: False, False: True}


def test_who_skips_the_short_test_is_refused_until_it_is_finished(service: Service) -> None:
    items = [item("Why?"), *(item(f"Which is right? {number}", gold=GOLD) for number in range(2))]
    study = make(service, items=items, share_required=0, screening=2)
    assert judge(service, study, "Ada", "alpha") == [409, 201, 201]
    assert judge(service, study, "Ada", "alpha")[0] == 201
    results = service.client.get(f"/v1/studies/{study}/results").json()["results"]
    assert results["judgments"] == 3


def part(trust: str, support: str) -> dict[str, Any]:
    claims = [{"sentence": 0, "support": support, "relevance": "core"}]
    return {"trust": [{"reference": 1, "trust": trust}], "claims": claims}


def test_trust_and_claims_of_gold_items_count(service: Service) -> None:
    gold = item("Which is right?", gold={"answers": [part("high", "strong")] * 2})
    study = make(service, items=[gold], share_required=0, screening=1, passing=0.5)
    said = {"careful": part("high", "strong"), "half": part("high", "weak"), "careless": part("low", "none")}
    for rater, answer in said.items():
        assert judge(service, study, f"{rater}", "alpha", answers=[answer] * 2) == [201]
    raters = service.client.get(f"/v1/studies/{study}/results").json()["results"]["raters"]
    # Of each of two answers, a reference's trust and the support and relevance of a sentence are known.
    assert sorted((each["gold"]["agreed"], each["gold"]["total"], each["passed"]) for each in raters) == [
        (2, 6, False),
        (4, 6, True),
        (6, 6, True),
    ]


def test_what_the_short_test_knows_is_not_left_out(service: Service) -> None:
    gold = item("Which is right?", gold={"answers": [part("high", "strong")] * 2})
    study = make(service, items=[gold, item("Why?")], share_required=0, screening=1)
    address = f"/v1/studies/{study}"
    shown = service.client.get(f"{address}/next?rater=Ada").json()
    body = {"item": shown["item"], "rater": "Ada", "answers": [{}, {}], "comparison": {"overall": 1}}
    refused = service.client.post(f"{address}/judgments", json=body)
    assert refused.status_code == 400
    assert "short test. Judge at least one of relevance, support, trust." in refused.json()["detail"]
    body["answers"] = [part("high", "strong"), {}]
    assert service.client.post(f"{address}/judgments", json=body).status_code == 201
    shown = service.client.get(f"{address}/next?rater=Ada").json()
    body |= {"item": shown["item"], "answers": [{}, {}]}
    assert service.client.post(f"{address}/judgments", json=body).status_code == 201


@pytest.mark.parametrize(
    ("form", "parts", "said"),
    [
        ("webgpt", {"trust": [{"reference": 9, "trust": "high"}]}, "The answer has 1 references"),
        ("webgpt", {"claims": [{"sentence": 9, "support": "none"}]}, "The answer has 2 sentences"),
        ("minimal", part("high", "strong"), "for which the form minimal does not ask"),
    ],
)
def test_gold_that_no_rater_can_agree_with_is_refused(
    service: Service, form: str, parts: dict[str, Any], said: str
) -> None:
    body = {"name": "A", "form": form, "items": [item("Why?", gold={"answers": [parts, {}]})]}
    refused = service.client.post("/v1/studies", json=body)
    assert (refused.status_code, said in refused.json()["detail"]) == (400, True), refused.text


def test_who_gave_thumbs_is_not_held_out(service: Service) -> None:
    study = make(service, items=[item("Why?")], share_required=0)
    for gives_thumb in (True, False):
        key = make_key(service, "ask", "feedback")
        if gives_thumb:
            asked = service.client.post("/v1/answers", json={"question": BATS}, headers=key)
            address = f"{asked.headers['Location']}/feedback"
            assert service.client.post(address, json={"thumb": 1}, headers=key).status_code == 201
        given = service.client.get(f"/v1/studies/{study}/next", headers=key).json()
        judged = {"item": given["item"], "answers": [{}, {}], "comparison": {"overall": 1}}
        reply = service.client.post(f"/v1/studies/{study}/judgments", json=judged, headers=key)
        assert reply.status_code == 201
    results = service.client.get(f"/v1/studies/{study}/results").json()["results"]
    assert sorted(each["held_out"] for each in results["raters"]) == [False, True]
    assert set(results["wins_by_raters"]) == {
        "Raters whose other judgments may train a scorer",
        "Held-out raters",
    }


def test_a_program_rates_over_the_api_as_blindly(service: Service) -> None:
    for form, marks in (("webgpt", True), ("minimal", False)):
        study = make(service, form=form, items=[item("Why?"), item("How?")], share_required=0)
        address = f"/v1/studies/{study}"
        for done in range(2):
            reply = service.client.get(f"{address}/next?rater=scripted")
            assert not any(system in reply.text for system in SYSTEMS)
            given = reply.json()
            assert (given["done"], given["total"], given["every"]) == (done, 2, False)
            assert [("[1]" in each["text"], len(each["references"])) for each in given["answers"]] == [
                (marks, int(marks))
            ] * 2
            zero = next(n for n, each in enumerate(given["answers"]) if "Reason 0" in each["text"])
            scales = [scale.name for scale in FORMS[form].comparison]
            body = {"item": given["item"], "rater": "scripted", "answers": [{}, {}]}
            body["comparison"] = dict.fromkeys(scales, 2 if zero else -2)
            assert service.client.post(f"{address}/judgments", json=body).status_code == 201
        assert service.client.get(f"{address}/next?rater=scripted").json()["item"] is None
        wins = service.client.get(f"{address}/results").json()["results"]["wins"]
        assert wins["alpha"]["human"]["mean"] == 1.0


def test_a_study_is_exported_as_webgpt_released_its_comparisons(service: Service, tmp_path: Path) -> None:
    study = make(service, items=[item("Why?"), item("How?")], share_required=0)
    judge(service, study, "Ada", "human")
    other = make(service, items=[item("Where?")], share_required=0)
    judge(service, other, "Ada", "human")
    address = f"/v1/export/comparisons?study={study}"

    def read(query: str) -> list[Comparison]:
        file = tmp_path / "comparisons.jsonl"
        file.write_bytes(service.client.get(address + query).content)
        return [replace(each, rater="") for each in read_comparisons(file).comparisons]

    rows = read("")
    assert rows == read("&format=webgpt") == read("&clean=true")
    assert {each.question for each in rows} == {"Why?", "How?"}
    assert {(each.preference, "Reason 0" in each.first) for each in rows} == {(0.0, True)}
    row = json.loads(service.client.get(address + "&format=webgpt").text.splitlines()[0])
    assert (row["score_0"], row["score_1"]) in ((1.0, -1.0), (-1.0, 1.0))
    assert row["question"]["full_text"] == "Why?"
    assert row["quotes_0"] == {"title": [""], "extract": ["Passage."]}
    assert row["tokens_0"]["completion"] == row["answer_0"]
    assert "Passage." in row["tokens_0"]["prefix"]
    personal = {"flag": "unclear", "answers": [], "comparison": {}, "comment": "Ask ada@example.org."}
    assert judge(service, study, "Bob", "human", **personal) == [201, 201]
    counts = [len(service.client.get(address + query).text.splitlines()) for query in ("", "&clean=true")]
    assert counts == [4, 2]
    assert service.client.get("/v1/export/ratings?format=webgpt").status_code == 400
    assert service.client.get("/v1/export/rankings?study=none").status_code == 404


def test_every_part_is_required_where_the_draw_says_so(service: Service) -> None:
    study = make(service, items=[item("Why?")], share_required=1)
    assert judge(service, study, "Ada", "alpha") == [400]
    claims = [{"sentence": number, "support": "strong", "relevance": "core"} for number in range(2)]
    whole = {"trust": [{"reference": 1, "trust": "high"}], "claims": claims}
    scales = (
        "unsupported",
        "irrelevant",
        "useful_strong",
        "useful_weak",
        "useful_none",
        "coherence",
        "overall",
    )
    comparison = dict.fromkeys(scales, 1)
    assert judge(service, study, "Ada", "alpha", answers=[whole] * 2, comparison=comparison) == [201]
    assert judge(service, study, "Bob", "alpha", answers=[], comparison={}, flag="unclear") == [201]
    assert judge(service, study, "", "alpha") == [400]
    results = service.client.get(f"/v1/studies/{study}/results").json()["results"]
    assert (results["judgments"], results["flagged"]) == (2, 1)
    assert service.client.get("/v1/studies").json()["studies"][0]["items"] == 1
    assert service.client.delete(f"/v1/studies/{study}").status_code == 204
    assert service.client.get(f"/v1/studies/{study}/results").status_code == 404
    assert service.client.get("/v1/export/comparisons").text == ""


def test_a_key_rates_as_itself_and_sees_no_results(service: Service) -> None:
    study = make(service, form="turing", items=[item("Why?")])
    key = make_key(service, "feedback")
    page = service.client.get(f"/studies/{study}", headers=key).text
    assert 'name="rater" value="key"' in page
    html = service.client.get(f"/studies/{study}?rater=key", headers=key).text
    body = json.loads(unescape(re.findall(r"data-body='([^']*)'", html)[0]))
    body["answers"] = [{"rank": 1}, {"rank": 2}]
    address = f"/v1/studies/{study}/judgments"
    assert service.client.post(address, json=body, headers=key).status_code == 201
    assert "You have judged all pages" in service.client.get(f"/studies/{study}?rater=key", headers=key).text
    for forbidden in (f"/studies/{study}/results", f"/v1/studies/{study}/results", "/v1/export/rankings"):
        assert service.client.get(forbidden, headers=key).status_code == 403
    assert service.client.post("/v1/studies", json={}, headers=key).status_code == 403


def test_raters_see_lists_as_readers_do(service: Service) -> None:
    listed = [
        answer | {"text": f"## Bats\n\n- They *fly* [1].\n- They sleep {number}."}
        for number, answer in enumerate(answers("Why?"))
    ]
    study = make(service, items=[{"question": "Why?", "answers": listed}])
    html = service.client.get(f"/studies/{study}?rater=scripted").text
    assert html.count('<li><span class="sentence">') == 4
    assert html.count("They <em>fly</em>") == 2
    assert "- They" not in html


def test_the_history_becomes_a_study(service: Service) -> None:
    for options in ({}, {"k": 1}):
        service.ask(BATS, fresh=True, **options)
    study = make(service, form="webglm", history=True)

    async def systems(store: ServiceStore) -> list[str]:
        (only,) = await store.studies.items(study)
        return [each["system"] for each in only.answers]

    assert in_store(service, systems) == ["extractive", "extractive, k=1"]


def test_the_last_answer_of_a_system_in_the_history_counts_with_its_list(service: Service) -> None:
    async def answered(store: ServiceStore) -> None:
        for name, before, cached in (("first", "", False), ("second", "- ", False), ("first", "1. ", True)):
            body = {
                "outcome": "answered",
                "answer": "- They fly. [1]",
                "sentences": [{"text": "They fly.", "citations": [1], "before": before}],
                "references": [{"number": 1, "url": "", "title": "Bats", "text": "They fly.", "score": 1.0}],
                "models": {"generator": name},
            }
            changes = {"status": "done", "body": body, "settings": {"cached": True} if cached else {}}
            await store.answers.add(stored_answer(question="What do bats do?", **changes))

    in_store(service, answered)
    study = make(service, form="webglm", history=True)

    async def found(store: ServiceStore) -> list[Any]:
        (only,) = await store.studies.items(study)
        return [(each["system"], each["sentences"][0]["before"]) for each in only.answers]

    assert in_store(service, found) == [("first", "1. "), ("second", "- ")]


def test_quotations_of_the_history_stay_literal(service: Service) -> None:
    quoted = "1. An asterisk * marks a note, *not* emphasis."
    page = {"number": 1, "url": "", "title": "Marks", "text": quoted, "score": 1.0}

    async def answered(store: ServiceStore) -> None:
        for number in range(2):
            body = {
                "outcome": "answered",
                "answer": f"{quoted} [1]",
                "sentences": [{"text": quoted, "citations": [1], "support": 1.0, "supported": True}],
                "references": [page],
                "models": {"generator": f"system {number}"},
            }
            changes = {"status": "done", "body": body, "settings": {"k": number}}
            await store.answers.add(stored_answer(question="What is it?", **changes))

    in_store(service, answered)
    study = make(service, form="webglm", history=True)

    async def sentences(store: ServiceStore) -> list[Any]:
        return [each["sentences"] for item in await store.studies.items(study) for each in item.answers]

    literal = [{"text": quoted, "citations": [1], "before": None}]
    assert in_store(service, sentences) == [literal, literal]
    html = service.client.get(f"/studies/{study}?rater=scripted").text
    assert "marks a note, *not* emphasis" in html
    assert "<em>not" not in html


def test_what_does_not_fit_is_refused(service: Service) -> None:
    for body in (
        {"items": []},
        {"form": "none", "items": [item("Why?")]},
        {"items": [{"question": "Why?", "answers": answers("Why?")[:1]}]},
        {"items": [item("Why?")], "screening": 1},
        {"items": [item("Why?", gold={"comparison": {"beauty": 1}})]},
        {"items": [item("Why?", gold={"answers": [{}, {}, {}]})]},
    ):
        reply = service.client.post("/v1/studies", json={"name": "A", "form": "webgpt"} | body)
        assert reply.status_code == 400, body


def test_an_answer_without_another_is_not_compared(service: Service) -> None:
    alone = {"question": "Why?", "answers": answers("Why?")[:1]}
    study = make(service, form="minimal", items=[alone], share_required=0)
    scores = {scale.name: 4 for scale in FORMS["minimal"].answer_scales(1)}
    (one,) = in_store(service, lambda store: store.studies.items(study))
    body = {"item": one.id, "rater": "Ada", "answers": [{"scores": scores}]}
    compared = dict.fromkeys((scale.name for scale in FORMS["minimal"].comparison), 1)
    address = f"/v1/studies/{study}"
    refused = service.client.post(f"{address}/judgments", json=body | {"comparison": compared})
    assert refused.status_code == 400
    assert "A comparison is of two answers" in refused.json()["detail"]
    refused = service.client.post(f"{address}/judgments", json=body | {"comment": "Too short."})
    assert (refused.status_code, "Leave the comment out" in refused.text) == (400, True)
    flagged = body | {"flag": "unclear", "answers": [], "comment": "Too short."}
    assert service.client.post(f"{address}/judgments", json=flagged).status_code == 201
    assert service.client.post(f"{address}/judgments", json=body).status_code == 201
    results = service.client.get(f"{address}/results").json()["results"]
    assert (results["judgments"], results["flagged"]) == (1, 0), "the last judgment counts"


def test_a_rater_is_named_to_see_the_order_that_counts(service: Service) -> None:
    study = make(service, items=[item("Why?")], share_required=0)
    assert service.client.get(f"/v1/studies/{study}/next").status_code == 400
    assert service.client.get(f"/v1/studies/{study}/next?rater=Ada").status_code == 200


def test_the_short_test_is_not_skipped_for_other_items(service: Service) -> None:
    study = make(service, items=[item("Gold?", gold=GOLD), item("Why?")], share_required=0, screening=1)
    address = f"/v1/studies/{study}/next?rater=Ada"
    first = service.client.get(address).json()
    assert first["question"] == "Gold?"
    assert service.client.get(f"{address}&after={first['item']}").json()["question"] == "Gold?"


def test_gold_of_a_ranked_form_may_know_no_rank(service: Service) -> None:
    gold = {"flag": None, "comparison": {}, "answers": []}
    study = make(service, form="turing", items=[item("Gold?", gold=gold)], share_required=0)
    body = service.client.get(f"/v1/studies/{study}/next?rater=Ada").json()
    judged = {"item": body["item"], "rater": "Ada", "answers": [{"rank": 1}, {"rank": 2}]}
    address = f"/v1/studies/{study}"
    assert service.client.post(f"{address}/judgments", json=judged).status_code == 201
    assert service.client.get(f"{address}/next?rater=Ada").status_code == 200
    assert service.client.get(f"{address}/results").status_code == 200
    compared = judged | {"comparison": {"overall": 2}}
    refused = service.client.post(f"{address}/judgments", json=compared)
    assert (refused.status_code, "no comparison" in refused.json()["detail"]) == (400, True)


def test_only_the_last_judgment_of_an_item_is_exported(service: Service) -> None:
    study = make(service, items=[item("Why?")], share_required=0)
    assert judge(service, study, "Ada", "alpha") == [201]
    assert judge(service, study, "Ada", "human") == [201]
    (row,) = [json.loads(line) for line in service.client.get("/v1/export/comparisons").text.splitlines()]
    assert row["answers"][row["preferred"]]["system"] == "human"
