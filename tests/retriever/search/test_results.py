"""Pages of results, of which one may fail."""

from __future__ import annotations

import pytest

from citewell.core.errors import ServiceError
from citewell.core.types import Hit
from citewell.retriever.search.results import ResultPage, plain, read_pages


async def asked(broken: int) -> list[Hit]:
    """Ask for 20 hits, ten a page, of which the page `broken` fails."""

    async def ask(number: int) -> ResultPage:
        if number == broken:
            raise ServiceError("no")
        hits = [Hit(f"https://a.example/{number}/{place}", "", "", "a") for place in range(10)]
        return ResultPage(hits, more=True)

    return await read_pages(20, 10, ask)


async def test_a_later_page_that_fails_leaves_what_was_found() -> None:
    assert len(await asked(1)) == 10


async def test_a_first_page_that_fails_is_an_error() -> None:
    with pytest.raises(ServiceError):
        await asked(0)


def test_a_title_cannot_command_a_terminal() -> None:
    assert plain("<b>Bats</b> &#27;[31m  in\nred\x07") == "Bats [31m in red"
