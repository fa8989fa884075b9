"""Questions with the mode `browse`: every action is an event, and the episode is kept with the answer."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from benchmarks.small_service import BATS
from citewell.core.settings import Settings
from citewell.core.weights import locate
from tests.server.api.conftest import Service, Start, read_events, serving
from tests.server.linked import linked_pages
from tests.server.local import ReplyHandler, answering

QUESTION = "Which animals are known to give gifts to humans?"


@pytest.fixture(scope="module")
def service(settings: Callable[..., Settings], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("linked")
    with linked_pages(folder) as linked, serving(settings(**linked.settings)) as service:
        yield service


def test_every_action_is_an_event_and_the_episode_is_kept(service: Service) -> None:
    asked = {"question": QUESTION, "mode": "browse", "actions": 30}
    headers = {"Accept": "text/event-stream"}
    with service.client.stream("POST", "/v1/answers", json=asked, headers=headers) as response:
        events = list(read_events(response))
    browsed = [event.data for event in events if event.name == "browsed"]
    assert [each["number"] for each in browsed] == list(range(1, len(browsed) + 1))
    assert browsed[0]["command"].startswith("Search ")
    done = events[-1]
    assert (done.name, done.data["mode"], done.data["outcome"]) == ("done", "browse", "answered")
    assert "episode" not in done.data
    assert "corvids" in done.data["answer"]
    address = f"/v1/answers/{done.data['id']}"
    episode = service.client.get(f"{address}/episode").json()
    assert [step["command"] for step in episode["steps"]] == [each["command"] for each in browsed]
    assert [quote["text"] for quote in episode["quotes"]] == [
        reference["text"] for reference in done.data["references"]
    ]
    assert service.client.get(f"/trace/{done.data['id']}").status_code == 200
    assert service.client.get(address).json() == done.data

    again = service.client.post("/v1/answers", json=asked).json()
    assert again["cached"]
    assert service.client.get(f"/v1/answers/{again['id']}/episode").json() == episode
    assert service.client.delete(address).status_code == 204
    assert service.client.get(f"{address}/episode").status_code == 404

    other = service.ask(QUESTION).json()
    assert (other["mode"], other["cached"]) == ("answer", False)
    assert service.client.get(f"/v1/answers/{other['id']}/episode").status_code == 404
    assert 'citewell_stage_seconds_count{stage="browse"} 1.0' in service.client.get("/metrics").text


def test_actions_belong_to_browsing(service: Service) -> None:
    limited = service.ask(QUESTION, mode="browse", actions=1, fresh=True).json()
    steps = service.client.get(f"/v1/answers/{limited['id']}/episode").json()["steps"]
    assert (len(steps), limited["outcome"]) == (1, "no_evidence")
    for options in ({"mode": "retrieve"}, {"mode": "browse", "actions": 0}):
        assert service.ask(QUESTION, **options).status_code == 400


GIFTS = "Many animals give gifts to members of their own species"
COMMANDS = (f"Search {QUESTION}", "Clicked on link 0", f"Quote: {GIFTS}", "End: Answer")


class PolicyElsewhere(ReplyHandler):
    """A language model that browses in four commands, and answers what is not a state of the browser."""

    def do_POST(self) -> None:  # noqa: N802 - http.server calls it
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"]
        past = asked.partition("♦Past actions")[2].partition("♦")[0].split("\n")
        done = sum(bool(line) for line in past)
        text = COMMANDS[done] if "♦Actions left" in asked else f"{GIFTS} [1]. Crows write letters [1]."
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        self.reply(json.dumps({"choices": [choice]}).encode())


def test_the_policy_answers_where_the_settings_say_so(start: Start, tmp_path: Path) -> None:
    with linked_pages(tmp_path) as linked, answering(PolicyElsewhere) as url:
        model = {"browser__policy": "openai:tiny", "generator__base_url": f"{url}/v1"}
        service = start(**linked.settings, **model, browser__answerer="policy")
        found = service.ask(QUESTION, mode="browse").json()
        assert found["models"]["generator"] == "openai:tiny"
        assert [(each["text"], each["supported"]) for each in found["sentences"]] == [
            (f"{GIFTS}.", True),
            ("Crows write letters.", False),
        ]
        named = service.ask(QUESTION, mode="browse", generator="extractive").json()
        assert named["models"]["generator"] == "extractive"
        assert service.ask(QUESTION).json()["models"]["generator"] == "extractive"


def test_a_policy_that_writes_nothing_is_refused(start: Start) -> None:
    refused = start(browser__answerer="policy").ask(QUESTION, mode="browse")
    assert "The policy scripted writes no answers" in refused.json()["detail"]


def test_loading_a_policy_blocks_no_other_question(start: Start, tmp_path: Path) -> None:
    model = tmp_path / "policy.gguf"
    model.write_bytes(b"not a model")
    service = start(browser__policy=str(model))
    folder = service.settings.cache_dir / "models"
    folder.mkdir(exist_ok=True)
    name = f"policy.gguf-{locate(str(model)).fingerprint}-openvino.lock"
    asked = {"question": QUESTION, "mode": "browse"}
    headers = {"Accept": "text/event-stream"}
    with (
        FileLock(folder / name) as lock,  # another process converts the model of the policy
        service.client.stream("POST", "/v1/answers", json=asked, headers=headers) as response,
    ):
        events = read_events(response)
        assert next(events).name == "searching"
        time.sleep(0.5)  # the policy is being loaded by then
        quick = service.client.post("/v1/answers", json={"question": BATS, "collection": "notes"}, timeout=20)
        assert quick.json()["outcome"] == "answered"
        lock.release()
        assert next(events).name == "error"  # it is not a model
