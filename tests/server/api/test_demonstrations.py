"""Demonstrations over the API: a key's own, one action after the other, and exported when they are done."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from citewell.browser.episode import read_episodes
from citewell.core.settings import Settings
from tests.server.api.conftest import Service, make_key, serving
from tests.server.linked import Linked, linked_pages

QUESTION = {"question": "What do crows give to people?"}
QUOTED = "known to give gifts to humans"


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Linked]:
    with linked_pages(tmp_path_factory.mktemp("linked")) as linked:
        yield linked


@pytest.fixture(scope="module")
def service(settings: Callable[..., Settings], linked: Linked) -> Iterator[Service]:
    with serving(settings(**linked.settings)) as service:
        yield service


def begin(service: Service, **changes: Any) -> dict[str, Any]:
    made = service.client.post("/v1/demonstrations", json=QUESTION | changes)
    assert made.status_code == 201, made.text
    value: dict[str, Any] = made.json()
    return value


def act(service: Service, now: dict[str, Any], command: str) -> httpx.Response:
    sent = {"command": command, "after": now["count"]}
    return service.client.post(f"/v1/demonstrations/{now['id']}/actions", json=sent)


def browse(service: Service, now: dict[str, Any], *commands: str) -> dict[str, Any]:
    for command in commands:
        done = act(service, now, command)
        assert done.status_code == 201, done.text
        now = done.json()
    return now


def submit(service: Service, now: dict[str, Any], answer: str) -> httpx.Response:
    return service.client.post(f"/v1/demonstrations/{now['id']}/submission", json={"answer": answer})


def test_from_the_question_to_the_export(service: Service, tmp_path: Path) -> None:
    now = begin(service)
    assert (now["status"], now["count"], now["view"]["text"], now["last"]) == ("browsing", 0, "", None)
    now = browse(service, now, "Search crows", "Clicked on link 0", f"Quote: {QUOTED}", "Dance")
    assert now["view"]["title"] == "Crows (127.0.0.1)"
    assert now["view"]["links"] == [{"id": 0, "text": "humans", "domain": "127.0.0.1"}]
    assert now["last"] == {"command": "Dance", "valid": False, "reason": "it is not one of the commands"}
    assert [(quote["number"], quote["text"]) for quote in now["quotes"]] == [(1, QUOTED)]
    assert now["actions_left"] == 96
    assert service.client.get(f"/v1/demonstrations/{now['id']}").json() == now
    assert submit(service, now, "Gifts [1].").status_code == 409
    now = browse(service, now, "End: Answer")
    assert (now["status"], now["ending"]) == ("answering", "Answer")
    assert act(service, now, "Back").status_code == 409
    assert submit(service, now, "Gifts [3].").status_code == 400
    done = submit(service, now, "They give gifts [1].")
    assert done.status_code == 201
    assert service.client.get(f"/v1/demonstrations/{now['id']}").json()["status"] == "submitted"
    assert service.client.get(f"/v1/demonstrations/{now['id']}/episode").json() == done.json()

    file = tmp_path / "episodes.jsonl"
    file.write_bytes(service.client.get("/v1/export/demonstrations").content)
    (episode,) = (each for each in read_episodes(file) if each.id == now["id"])
    assert [step.kind for step in episode.steps] == ["search", "click_link", "quote", "invalid", "end"]
    reply = service.client.get("/v1/export/demonstrations", params={"format": "webgpt"})
    records = [json.loads(line) for line in reply.text.splitlines()]
    (record,) = (each for each in records if each["question"]["id"] == now["id"])
    assert record["quotes"] == {"title": ["Crows (127.0.0.1)"], "extract": [QUOTED]}
    assert (record["question"]["full_text"], record["answer"]) == (QUESTION["question"], episode.answer)


def test_pages_that_give_the_answer_away_are_not_shown(service: Service) -> None:
    known = "crows and other corvids are the only ones known to give gifts to humans"
    now = browse(service, begin(service, reference=known), "Search crows", "Clicked on link 0")
    assert "corvids" not in now["view"]["text"]
    assert act(service, now, f"Quote: {QUOTED}").json()["last"]["valid"] is False


def test_links_lead_to_the_web_alone(service: Service) -> None:
    now = browse(service, begin(service), "Search tides", "Clicked on link 0")
    assert now["view"]["title"] == "Tides (127.0.0.1)"
    assert [link["text"] for link in now["view"]["links"]] == ["Moon", "inside"]
    inside = browse(service, now, "Clicked on link 1")["view"]
    assert inside["text"].startswith("This page cannot be shown")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"question": "  "}, 400),
        (QUESTION | {"actions": 1001}, 400),
        (QUESTION | {"collection": "none"}, 404),
        (QUESTION | {"policy": "human"}, 400),
    ],
)
def test_what_cannot_be_begun_is_a_problem(service: Service, body: dict[str, Any], status: int) -> None:
    reply = service.client.post("/v1/demonstrations", json=body)
    assert (reply.status_code, reply.headers["Content-Type"]) == (status, "application/problem+json")


def test_an_action_after_an_older_state_is_refused(service: Service) -> None:
    begun = begin(service)
    browse(service, begun, "Search crows")
    late = act(service, begun, "Search tides")
    assert (late.status_code, late.json()["type"]) == (409, "/problems/browsed-elsewhere")
    assert act(service, begun | {"count": 1}, "x" * 20_001).status_code == 400
    now = service.client.get(f"/v1/demonstrations/{begun['id']}").json()
    assert (now["count"], now["view"]["title"]) == (1, "Search results for: crows")


def test_demonstrations_are_listed_and_deleted(service: Service) -> None:
    made = [begin(service)["id"] for _ in range(3)][::-1]
    page = service.client.get("/v1/demonstrations", params={"limit": 2}).json()
    assert [each["id"] for each in page["demonstrations"]] == made[:2]
    older = service.client.get("/v1/demonstrations", params={"limit": 1, "before": page["next"]}).json()
    assert [each["id"] for each in older["demonstrations"]] == made[2:]
    assert service.client.delete(f"/v1/demonstrations/{made[0]}").status_code == 204
    for address in ("", "/episode", "/recording"):
        assert service.client.get(f"/v1/demonstrations/{made[0]}{address}").status_code == 404
    assert service.client.get(f"/v1/demonstrations/{made[1]}/episode").status_code == 404
    assert service.client.get(f"/trace/{made[0]}").status_code == 404


def test_a_key_sees_its_own_demonstrations(settings: Callable[..., Settings], linked: Linked) -> None:
    with serving(settings(**linked.settings)) as service:
        ada, bob, admin = (make_key(service, *scopes) for scopes in (["ask"], ["ask"], ["ask", "admin"]))
        made = service.client.post("/v1/demonstrations", json=QUESTION, headers=ada).json()["id"]
        sent = {"command": "Search crows", "after": 0}
        for headers, status in ((bob, 404), (ada, 201)):
            reply = service.client.post(f"/v1/demonstrations/{made}/actions", json=sent, headers=headers)
            assert reply.status_code == status
        for headers, count in ((ada, 1), (bob, 0), (admin, 1)):
            found = service.client.get("/v1/demonstrations", headers=headers).json()["demonstrations"]
            assert len(found) == count
            reply = service.client.get(f"/v1/demonstrations/{made}/recording", headers=headers)
            assert reply.status_code == (200 if count else 404)


def test_the_commands_of_the_page_work_one_after_another(service: Service, tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "service-demonstrations.md").read_text(encoding="utf-8")
    for command in re.findall(r"^```bash\n(.*?)^```", page, re.M | re.S):
        own = command.replace("http://127.0.0.1:8090", service.url)
        own = own.replace("curl -s", "curl --fail-with-body -s")
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", own], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, command + done.stdout + done.stderr
    assert {file.name for file in tmp_path.iterdir()} == {
        "demonstration.json",
        "demonstrations.jsonl",
        "records.jsonl",
    }


def test_another_process_goes_on_where_one_stopped(settings: Callable[..., Settings], linked: Linked) -> None:
    both = settings(**linked.settings)
    with serving(both) as one, serving(both) as other:
        now = browse(one, begin(one), "Search crows", "Clicked on link 0", "Scrolled down 1")
        assert other.client.get(f"/v1/demonstrations/{now['id']}").json() == now
        now = browse(other, now, "Scrolled down 1", "Quote: Paragraph 9.", "End: Answer")
        done = submit(one, now, "There are many paragraphs [1].")
    assert [step["command"] for step in done.json()["steps"]][2] == "Scrolled down 2"
    with serving(both) as after:
        assert after.client.get(f"/v1/demonstrations/{now['id']}/episode").json() == done.json()


def test_no_folder_of_the_computer_is_told(settings: Callable[..., Settings], tmp_path: Path) -> None:
    with serving(settings(data_dir=tmp_path, search__collection="handbook")) as service:
        now = browse(service, begin(service), "Search how a citation is checked", "Clicked on link 0")
        sentence = "Citewell checks a citation in two━says all of it."
        now = browse(service, now, f"Quote: {sentence}", "End: Answer")
        done = submit(service, now, "By comparing [1].")
        recording = service.client.get(f"/v1/demonstrations/{now['id']}/recording").text
    assert done.json()["quotes"][0]["url"] == "collection:handbook/citations.md"
    entries = [json.loads(line) for line in recording.splitlines()]
    assert [entry["key"] for entry in entries][1:] == ["collection:handbook/citations.md"]
    assert "file:" not in json.dumps(now) + done.text + recording


def test_what_a_person_wrote_is_compared_with_an_answer_of_the_service(service: Service) -> None:
    question = "Which animals give gifts to humans?"
    now = browse(service, begin(service, question=question), "Search crows", "Clicked on link 0")
    now = browse(service, now, f"Quote: {QUOTED}", "End: Answer")
    assert submit(service, now, "It is crows [1]. Nobody else does.").status_code == 201
    written = service.client.get(f"/v1/answers/{now['id']}").json()
    assert (written["mode"], written["answer"]) == ("demonstration", "It is crows. [1] Nobody else does.")
    assert [(each["citations"], each["supported"]) for each in written["sentences"]] == [
        ([1], True),
        ([], False),
    ]
    assert [reference["text"] for reference in written["references"]] == [QUOTED]
    assert f'href="/trace/{now["id"]}"' in service.client.get(f"/answers/{now['id']}").text
    asked = service.ask(question, generator="extractive").json()
    assert asked["outcome"] == "answered", asked

    page = service.client.get("/compare").text
    assert "It is crows." in page
    assert asked["sentences"][0]["text"] in page
    assert now["id"] in page
    ratings = dict.fromkeys(("usefulness", "coherence", "unsupported", "overall"), -1)
    answers = [{"answer_id": asked["id"]}, {"answer_id": now["id"]}]
    body = {"question": question, "answers": answers} | ratings
    assert service.client.post("/v1/comparisons", json=body).status_code == 201
    rows = [json.loads(line) for line in service.client.get("/v1/export/comparisons").text.splitlines()]
    (row,) = (each for each in rows if each["question"] == question)
    assert row["answers"][1]["text"] == written["answer"]
    assert row["answers"][1]["references"] == [QUOTED]
    assert service.client.delete(f"/v1/demonstrations/{now['id']}").status_code == 204
    assert service.client.get(f"/v1/answers/{now['id']}").status_code == 404
