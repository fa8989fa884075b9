"""Clients of every kind, which note what the service acknowledges."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import aiohttp

from benchmarks.chaos.ledger import FORGED, Ledger

COLLECTION = "kites"
UPLOADS = "uploads"
_QUESTIONS = (
    "How do bats find their way in the dark?",
    "What causes the tides?",
    "How do bees make honey?",
    "What lifts a kite?",
)
_RATINGS = {"usefulness": 1, "coherence": 0, "unsupported": -1, "overall": 1}
_FINE = {200, 201, 202, 204, 404, 409, 422, 429, 499, 502, 503, 504}
_JOB_SECONDS = 60.0


class ChaosClients:
    """Clients that ask, follow, leave, upload and browse until `stop`; one key each."""

    def __init__(self, url: str, keys: list[str], ledger: Ledger, seed: int) -> None:
        self._url = url
        self._keys = itertools.cycle(keys)
        self._ledger = ledger
        self._chance = random.Random(seed)
        self._numbers = itertools.count(1)
        self._stopped = asyncio.Event()

    def kinds(self) -> dict[str, tuple[Callable[[NotingClient], Awaitable[None]], int]]:
        """Return what each kind of client does again and again, and how many there are."""
        return {
            "asks": (self._asks, 3),
            "follows": (self._follows, 2),
            "leaves": (self._leaves, 2),
            "leaves half a body": (self._leaves_half, 1),
            "uploads": (self._uploads, 1),
            "browses": (self._browses, 1),
            "reads": (self._reads, 1),
        }

    async def run(self) -> None:
        """Work until `stop` is called, and let running requests end."""
        working = [
            self._work(name, work) for name, (work, count) in self.kinds().items() for _ in range(count)
        ]
        await asyncio.gather(*working)

    def stop(self) -> None:
        """Let all clients stop after their present request."""
        self._stopped.set()

    async def _work(self, name: str, work: Callable[[NotingClient], Awaitable[None]]) -> None:
        connector = aiohttp.TCPConnector(limit=0, force_close=True)  # either worker may get each request
        patience = aiohttp.ClientTimeout(total=120)
        headers = {"Authorization": f"Bearer {next(self._keys)}"}
        async with aiohttp.ClientSession(
            self._url, connector=connector, timeout=patience, headers=headers, read_bufsize=2**22
        ) as session:
            client = NotingClient(session, name, self._ledger)
            while not self._stopped.is_set():
                try:
                    await work(client)
                except (aiohttp.ClientError, TimeoutError, OSError) as error:
                    self._ledger.statuses[f"{name}: {type(error).__name__}"] += 1
                    await asyncio.sleep(0.2)

    def _question(self) -> str:
        """Return a question that no other request has; some try to forge a line of the log."""
        forged = f"\n{FORGED}" if self._chance.random() < 0.1 else ""
        return f"{self._chance.choice(_QUESTIONS)} ({next(self._numbers)}){forged}"

    def _body(self) -> dict[str, Any]:
        body: dict[str, Any] = {"question": self._question()}
        if self._chance.random() < 0.6:
            body["collection"] = COLLECTION  # the others ask the search, which may hang
        return body

    async def _asks(self, client: NotingClient) -> None:
        body = self._body()
        asked = await client.send("POST", "/v1/answers", body)
        if asked.status == 201:
            await self._answered(client, asked.body, body["question"])

    async def _answered(self, client: NotingClient, answer: dict[str, Any], question: str) -> None:
        ledger, id_ = self._ledger, str(answer["id"])
        ledger.answers[id_], ledger.questions[id_] = answer["answer"], question
        if self._chance.random() < 0.5:
            comment = f"Thank you, {next(self._numbers)}."
            given = await client.send("POST", f"/v1/answers/{id_}/feedback", {"thumb": 1, "comment": comment})
            if given.status == 201:
                ledger.feedback[given.body["id"]] = comment
        if self._chance.random() < 0.3:
            text = f"By their whiskers, {next(self._numbers)}."
            answers = [{"answer_id": id_}, {"text": text}]
            body = {"question": question, "answers": answers} | _RATINGS
            given = await client.send("POST", "/v1/comparisons", body)
            if given.status == 201:
                ledger.comparisons[given.body["id"]] = text
        elif self._chance.random() < 0.2:
            ledger.doubtful.add(id_)
            if (await client.send("DELETE", f"/v1/answers/{id_}")).status == 204:
                ledger.deleted.add(id_)

    async def _follows(self, client: NotingClient) -> None:
        body = self._body()
        events = await client.stream(body)
        if events and events[-1][0] == "done":
            await self._answered(client, events[-1][1], body["question"])

    async def _leaves(self, client: NotingClient) -> None:
        """Leave in the middle of an answer, as a stream or not."""
        sending = client.stream if self._chance.random() < 0.5 else client.ask
        leaving = asyncio.create_task(sending(self._body()))
        await asyncio.wait({leaving}, timeout=self._chance.expovariate(3))
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)

    async def _leaves_half(self, client: NotingClient) -> None:
        """Leave in the middle of a body, at an address that would be a line of the log."""
        path = f"/v1/answers/{quote(f'a{chr(10)}{FORGED}')}/feedback"
        await client.leave_half(path)
        await asyncio.sleep(self._chance.expovariate(2))

    async def _uploads(self, client: NotingClient) -> None:
        number = next(self._numbers)
        names = [f"note-{number}-{part}.md" for part in range(3)]
        form = aiohttp.FormData()
        for name in names:
            text = f"# Note {name}\n\nThe orchard {name} has {number} trees, each of them planted by hand."
            form.add_field("file", text.encode(), filename=name, content_type="text/markdown")
        begun = await client.send("POST", f"/v1/collections/{UPLOADS}/documents", form)
        if begun.status != 202:
            return
        until = asyncio.get_running_loop().time() + _JOB_SECONDS
        while asyncio.get_running_loop().time() < until:
            job = await client.send("GET", f"/v1/jobs/{begun.body['id']}")
            if job.status == 200 and job.body["status"] != "running":
                added = [one["name"] for one in job.body["documents"] or [] if one["status"] == "indexed"]
                if job.body["status"] == "done":
                    self._ledger.documents.update(added)
                return
            await asyncio.sleep(0.3)

    async def _browses(self, client: NotingClient) -> None:
        """Give a few commands of a demonstration, or let the scripted policy browse."""
        if self._chance.random() < 0.3:
            body = {"question": self._question(), "mode": "browse", "actions": 6, "collection": COLLECTION}
            asked = await client.send("POST", "/v1/answers", body)
            if asked.status == 201:
                await self._answered(client, asked.body, str(body["question"]))
            return
        begun = await client.send(
            "POST", "/v1/demonstrations", {"question": self._question(), "collection": COLLECTION}
        )
        if begun.status != 201:
            return
        id_ = begun.body["id"]
        self._ledger.demonstrations[id_] = 0
        for count, command in enumerate(("Search tides", "Clicked on link 0", "Scrolled down 1", "Top")):
            given = await client.send(
                "POST", f"/v1/demonstrations/{id_}/actions", {"command": command, "after": count}
            )
            if given.status != 201:
                return
            self._ledger.demonstrations[id_] = given.body["count"]

    async def _reads(self, client: NotingClient) -> None:
        odd = quote(f"a{chr(10)}{FORGED}")
        paths = ("/", "/health", "/ready", "/metrics", "/v1/answers", "/v1/collections", "/handbook/index")
        path = self._chance.choice((*paths, f"/static/{odd}", f"/v1/answers/{odd}", f"/{odd}"))
        await client.send("GET", path)
        await asyncio.sleep(self._chance.expovariate(4))


class ChaosReply:
    """A reply: its status, and its body if that is JSON."""

    def __init__(self, status: int, body: Any) -> None:
        self.status = status
        self.body = body


class NotingClient:
    """One client, whose replies are counted."""

    def __init__(self, session: aiohttp.ClientSession, name: str, ledger: Ledger) -> None:
        self._session = session
        self._name = name
        self._ledger = ledger

    async def send(
        self, method: str, path: str, body: dict[str, Any] | aiohttp.FormData | None = None
    ) -> ChaosReply:
        """Send a request; wait a little where the service asks for that."""
        data: dict[str, Any] = {"json" if isinstance(body, dict) else "data": body}
        async with self._session.request(method, path, **data) as reply:
            text = await reply.text()
        is_json = "json" in reply.headers.get("Content-Type", "")
        await self._note(reply.status, f"{method} {path}: {reply.status} {text[:300]}")
        return ChaosReply(reply.status, json.loads(text) if is_json and text else None)

    async def ask(self, body: dict[str, Any]) -> None:
        """Ask, and forget what is answered."""
        await self.send("POST", "/v1/answers", body)

    async def stream(self, body: dict[str, Any]) -> list[tuple[str, Any]]:
        """Return the events of a question."""
        events, name = [], ""
        async with self._session.post("/v1/answers", json=body | {"stream": True}) as reply:
            if reply.status != 200:
                await self._note(reply.status, f"stream: {reply.status} {(await reply.text())[:300]}")
                return []
            async for line in reply.content:
                field, _, value = line.decode().rstrip("\n").partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    events.append((name, json.loads(value)))
        await self._note(200, "")
        return events

    async def leave_half(self, path: str) -> None:
        """Close the connection in the middle of a body."""
        url = self._session._base_url
        assert url is not None
        _, writer = await asyncio.open_connection(url.host, url.port)
        authorization = self._session.headers["Authorization"]
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Authorization: {authorization}\r\nContent-Length: 99\r\n\r\n{{".encode())
        await writer.drain()
        writer.close()

    async def _note(self, status: int, shown: str) -> None:
        kind = f"{self._name}: {status}"
        self._ledger.statuses[kind] += 1
        if status >= 400:
            self._ledger.examples.setdefault(kind, shown)
        if status not in _FINE:
            self._ledger.faulty.append(shown)
        if status in (429, 503):
            await asyncio.sleep(0.3)
