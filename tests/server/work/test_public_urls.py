"""Files of this computer are named by their collection, wherever an event names them, and nowhere else."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from urllib.parse import quote

import pytest

from citewell.core.events import Done, Event, Failed, Fetched, Notice, Ranked, Searched
from citewell.core.types import Answer, Failure, Hit, Reference
from citewell.pipeline.handbook import handbook_folder
from citewell.server.work.public_urls import PublicUrls


def test_a_page_has_its_place_in_what_was_indexed(tmp_path: Path) -> None:
    single = tmp_path / "one file.md"
    single.write_text("One.")
    own = PublicUrls({"notes": ["/srv/docs", "/srv/docs/deep", str(single), "https://example.org/"]})
    for path, name in (
        (Path("/srv/docs/a/b c.md"), "collection:notes/a/b c.md"),
        (Path("/srv/docs/deep/x.md"), "collection:notes/x.md"),
        (single, "collection:notes/one file.md"),
        (Path("/etc/passwd"), "collection:notes/passwd"),
    ):
        assert own.name(path.as_uri()) == name
    for other in ("https://example.org/file:///srv", "notes/a", "", "collection:x"):
        assert own.name(other) == other


@pytest.mark.parametrize("path", ["/srv/docs/a/b c.md", "/srv/docs/50% off.md", "/srv/docs/ä.md"])
def test_a_name_leads_back_to_its_page(path: str) -> None:
    own = PublicUrls({"notes": ["relative", "/srv/docs", "https://example.org/"]})
    url = Path(path).as_uri()
    for name in (own.name(url), quote(own.name(url), safe="/:"), url):
        assert url in own.addresses(name)


def test_a_page_of_the_handbook_is_found_by_its_name() -> None:
    folder = handbook_folder()
    assert folder is not None
    own, url = PublicUrls({"handbook": ["handbook"]}), (folder / "faq.md").as_uri()
    assert own.name(url) == "collection:handbook/faq.md"
    assert url in own.addresses("collection:handbook/faq.md")


def test_no_event_names_a_folder() -> None:
    url = "file:///srv/secret/notes/bats.md"
    reference = Reference(1, url, "Bats", f"It says {url}.", 0.9, (url,))
    failure = Failure(url, f"{url} cannot be read")
    answer = Answer(
        "Why?", "retrieved", "", (), (reference,), (failure,), notices=(f"{url}: it is long",),
        episode={"quotes": [{"url": url}], "steps": []},
    )  # fmt: skip
    events: list[Event] = [
        Searched((Hit(url, "Bats"),), (failure,)),
        Fetched(url, "Bats", 1, 0.1),
        Failed(failure),
        Notice(f"{url}: it is long"),
        Ranked((reference,), True),
        Done(answer),
    ]
    own = PublicUrls({"notes": ["/srv/secret/notes"]})
    for event in events:
        told = asdict(own.outside(event))
        # What a page says is what it says.
        assert "secret" not in str(told).replace(f"It says {url}.", ""), told
        assert "collection:notes/bats.md" in str(told)


def test_a_message_has_no_folder_of_what_was_indexed() -> None:
    own = PublicUrls({"notes": ["/srv/secret/notes"]})
    message = "1 added\nfile:///srv/secret/notes/a.pdf: damaged\nNothing in /srv/secret/notes/b: empty"
    assert own.text(message) == "1 added\ncollection:notes/a.pdf: damaged\nNothing in b: empty"
    assert own.text("There is no /srv/secret/notes.") == "There is no notes."
