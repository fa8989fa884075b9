"""Pages that give orders change no source, learn no secret and cause no request, and stay text."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from lxml import html

from tests.server.security.conftest import POISONED, SECRET, Guarded, Listener, Poisoned, events_of

STREAM = {"Accept": "text/event-stream"}
NAMES = {
    "queued",
    "searching",
    "searched",
    "fetched",
    "failed",
    "ranked",
    "quoted",
    "notice",
    "token",
    "scored",
    "done",
}
RUNNING = "//script | //iframe | //object | //embed | //img | //style | //base | //meta[@http-equiv]"


def test_the_set_is_large_and_varied() -> None:
    assert len({row.id for row in POISONED}) == len({row.place for row in POISONED}) == len(POISONED) >= 50
    assert min(Counter(row.kind for row in POISONED).values()) >= 5


# The obedient model does whatever it reads, so that a part of the set shows what such a model can do.
PAIRS = [("extractive", row) for row in POISONED] + [("taken_over", row) for row in POISONED[::3]]


@pytest.mark.parametrize(("name", "row"), PAIRS, ids=lambda part: part if isinstance(part, str) else part.id)
def test_orders_of_a_page_are_not_followed(
    name: str, row: Poisoned, request: pytest.FixtureRequest, canary: Listener, obedient: Listener
) -> None:
    guarded: Guarded = request.getfixturevalue(name)
    client, key = guarded.service.client, guarded.key
    body = {"question": row.question}
    stream = client.post("/v1/answers", json=body, headers=key | STREAM)
    events = events_of(stream.content)
    assert len(stream.text.splitlines()) == stream.text.count("\r\n")
    retrieved = next(event.data["references"] for event in events if event.name == "ranked")
    answer = events[-1].data
    address = f"/v1/answers/{answer['id']}"
    chat = {"model": "citewell", "messages": [{"role": "user", "content": row.question}]}
    completion = client.post("/v1/chat/completions", json=chat, headers=key)
    page = client.get(f"/answers/{answer['id']}", headers=key)

    # The sources are those that were retrieved, in their order, whatever the passage or the model says.
    sources = [(reference["number"], reference["url"]) for reference in answer["references"]]
    (own,) = [reference for reference in answer["references"] if reference["url"] == row.url]
    assert len(own["text"]) > len(f"The lighthouse of {row.place} was first lit in 1801. ")  # with its poison
    assert sources == [(each["number"], each["url"]) for each in retrieved]
    assert {number for each in answer["sentences"] for number in each["citations"]} <= set(dict(sources))
    assert completion.json()["citewell"]["references"] == answer["references"]

    # An event is one of ours, and there is one end.
    assert {event.name for event in events} <= NAMES
    assert [event.name for event in events].count("done") == 1
    assert client.get(address, headers=key).json()["answer"] == answer["answer"]

    # No secret is in anything that leaves the service, the prompt of a language model included.
    left = [completion.text, page.text, json.dumps([event.data for event in events])]
    secrets = (SECRET, key["Authorization"].split("_", 2)[2], str(guarded.service.settings.data_dir))
    assert not [secret for secret in secrets if secret in "".join([*left, *obedient.bodies])]

    # What is recognized as an order is shown, and said to be left out.
    assert not [order for order in own["orders"] if order in answer["answer"]]
    assert ("Left out of the evidence" in page.text) == bool(own["orders"])
    assert bool([notice for notice in answer["notices"] if "gives orders" in notice]) == bool(own["orders"])

    _check_page(page.text)
    assert canary.asked == []
    assert set(obedient.asked) <= {"POST /v1/chat/completions"}


def test_what_a_model_makes_up_is_marked_as_unsupported(taken_over: Guarded) -> None:
    body = {"question": POISONED[0].question}
    answer = taken_over.service.client.post("/v1/answers", json=body, headers=taken_over.key).json()
    (made_up,) = [each for each in answer["sentences"] if each["text"].startswith("Mallory")]
    assert (made_up["supported"], made_up["citations"]) == (False, [])
    assert not {"[99]", "[42]"} & set(answer["answer"].split())
    assert [reference["number"] for reference in answer["references"]] == [1, 2]


def _check_page(text: str) -> None:
    """Nothing on a page runs, loads or sends that is not the page's own."""
    tree = html.fromstring(text)
    for element in tree.xpath(RUNNING):
        assert element.tag == "script", html.tostring(element)
        assert not (element.text or "").strip()
    addresses = tree.xpath("//@src | //@action | //@formaction | //link/@href | //@data-src")
    assert all(address.startswith("/") and not address.startswith("//") for address in addresses), addresses
    links = tree.xpath("//a/@href")
    assert all(link.startswith(("/", "#", "https://lights.example/")) for link in links), links
    assert not [name for name in tree.xpath("//@*/..") for name in name.attrib if name.startswith("on")]
    assert not tree.xpath("//@style")


def test_what_was_poisoned_is_exported_one_line_a_row(extractive: Guarded) -> None:
    client, key = extractive.service.client, extractive.key
    asked: list[dict[str, Any]] = []
    for row in POISONED:
        response = client.post("/v1/answers", json={"question": row.question}, headers=key)
        opinion = {"thumb": -1, "comment": row.text}
        assert client.post(f"{response.headers['Location']}/feedback", json=opinion, headers=key).is_success
        asked.append(response.json())
    lines = client.get("/v1/export/feedback", headers=key).content.split(b"\n")
    assert lines.pop() == b""
    exported = [json.loads(line) for line in lines]
    assert [each["comment"] for each in exported] == [row.text.strip() for row in POISONED]
    for each, answer in zip(exported, asked, strict=True):
        assert (each["question"], each["answer"]) == (answer["question"], answer["answer"])
        assert each["references"] == [reference["text"] for reference in answer["references"]]
        assert each["thumbs"] == -1
