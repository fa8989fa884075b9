"""Clients vanish, in every stage of a request; nobody else is to notice."""

from __future__ import annotations

import json
import socket
from contextlib import ExitStack

from tests.server.api.conftest import Search, Service
from tests.server.faults.conftest import answers_again, states, until


def send(service: Service, question: str, accept: str, *, all_but: int = 0) -> socket.socket:
    """Send a request without its last bytes, on a connection of its own."""
    body = json.dumps({"question": question}).encode()
    client = socket.create_connection(("127.0.0.1", service.client.base_url.port or 0))
    client.sendall(
        f"POST /v1/answers HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: {accept}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        + body[: len(body) - all_but]
    )
    return client


def at_work(service: Service) -> tuple[int, int]:
    ready = service.client.get("/ready").json()
    return ready["running"], ready["waiting"]


def test_clients_that_vanish_while_they_send(slow: Service) -> None:
    for accept in ("application/json", "text/event-stream"):
        for _ in range(20):
            send(slow, "Why?", accept, all_but=5).close()
    assert at_work(slow) == (0, 0)
    assert answers_again(slow)
    assert len(states(slow.client)) == 1  # nobody's half question was asked


def test_clients_that_vanish_while_they_wait_and_while_they_read(slow: Service, search: Search) -> None:
    """One question is worked on and one waits, half of the clients of each as a stream."""
    kinds = ("application/json", "text/event-stream")
    with ExitStack() as clients:
        for kind in kinds:
            clients.enter_context(send(slow, "One?", kind))
        search.await_question()
        for kind in kinds:
            clients.enter_context(send(slow, "Two?", kind))
        until(lambda: at_work(slow) == (1, 1))
        until(lambda: len(states(slow.client)) == 4)
        assert slow.ask("Three?").status_code == 429
    until(lambda: at_work(slow) == (0, 0))
    assert answers_again(slow)
    until(lambda: sorted(states(slow.client).values()) == 4 * ["cancelled"] + ["done"])
