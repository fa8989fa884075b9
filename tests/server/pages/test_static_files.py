"""Scripts and styles: compressed, sent again only if changed, and none but those."""

from __future__ import annotations

import pytest

from tests.server.api.conftest import Service


@pytest.mark.parametrize(("encoding", "sent"), [("gzip", "gzip"), ("identity", None)])
def test_a_file_is_sent_once(service: Service, encoding: str, sent: str | None) -> None:
    headers = {"Accept-Encoding": encoding}
    first = service.client.get("/static/page.js", headers=headers)
    assert first.status_code == 200
    assert first.headers["Content-Type"].startswith("text/javascript")
    assert first.headers.get("Content-Encoding") == sent
    assert "import" in first.text
    tag = first.headers["ETag"]
    second = service.client.get("/static/page.js", headers=headers | {"If-None-Match": tag})
    assert (second.status_code, second.content) == (304, b"")
    assert second.headers["ETag"] == tag
    other = service.client.get("/static/page.js", headers=headers | {"If-None-Match": '"older"'})
    assert other.text == first.text


def test_the_header_of_a_file_can_be_asked_for_alone(service: Service) -> None:
    response = service.client.head("/static/style.css")
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/css")
    assert response.content == b""


def test_a_missing_file(service: Service) -> None:
    assert service.client.get("/static/missing.js").status_code == 404
