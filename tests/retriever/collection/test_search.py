"""Searching a collection: plain words in, pages out, whatever the words are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from citewell.core.errors import CollectionError, InputError
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.search.query import Query

if TYPE_CHECKING:
    from conftest import Library

TEXTS = {
    "https://a.example/whale": "Blue whale\n\n"
    + "The largest animal that has ever lived is found in all oceans but the Arctic. " * 20
    + "\n\nIt feeds on krill, of which it may eat four tonnes a day in the summer months.\n\n"
    + "Its low voice can be heard by others of its kind at a distance of a thousand kilometres. " * 20,
    "https://a.example/krill": "Krill\n\nSmall crustaceans that are found in all the oceans of the world, "
    "and on which whales, seals and penguins live.",
    "https://a.example/jingyu": "蓝鲸\n\n蓝鲸是地球上现存体积最大的动物，生活在世界各大洋中，"
    "主要以磷虾为食。",
    "https://a.example/logic": "Words\n\nThe title of this page is no help to anybody, and neither is: AND, "
    "OR, NOT, body:whatever, wild*cards, [brackets], (parentheses) or “quotation marks”.",
}
DIVIDED = {
    "https://a.example/hindi": "नीली व्हेल\n\nनीली व्हेल पृथ्वी का सबसे बड़ा प्राणी है, और वह क्रिल खाती है।",
    "https://a.example/bosphorus": "İstanbul\n\nBalinalar İstanbul Boğazı'ndan seyrek olarak geçer.",
}


@pytest.fixture
def library(either: Library) -> Library:
    return either


@pytest.fixture(autouse=True)
def indexed(library: Library) -> None:
    library.index(TEXTS)


async def test_the_page_and_the_passage_that_match_best(library: Library) -> None:
    hits = await library.open().search(Query("How much krill does a blue whale eat?", 10))
    assert hits[0].url == "https://a.example/whale"
    assert hits[0].title == "Blue whale"
    assert hits[0].provider == "collection:shelf"
    assert "four tonnes a day" in hits[0].snippet


async def test_a_match_in_the_title_counts(library: Library) -> None:
    assert (await library.search("krill"))[0] == "https://a.example/krill"


async def test_inflected_words_are_found(library: Library) -> None:
    assert "https://a.example/krill" in await library.search("penguin crustacean")


@pytest.mark.parametrize("query", ["世界上最大的动物是什么？", "磷虾"])
async def test_chinese(library: Library, query: str) -> None:
    assert (await library.search(query))[0] == "https://a.example/jingyu"


@pytest.mark.parametrize(
    ("query", "page"),
    [("सबसे बड़ा प्राणी कौन है?", "hindi"), ("नीली व्हेल क्या खाती है?", "hindi"), ("İstanbul nerede?", "bosphorus")],
)
async def test_words_that_the_index_divides(library: Library, query: str, page: str) -> None:
    library.index(TEXTS | DIVIDED)
    assert (await library.search(query))[0] == f"https://a.example/{page}"


@pytest.mark.parametrize(
    "query",
    [
        'krill AND "whale',
        "(krill OR",
        "+krill -whale^2~3",
        "[krill TO",
        "body:krill* /krill/ \\",
        "NOT krill",
        "krill " * 3000,
    ],
)
async def test_operators_are_only_words(library: Library, query: str) -> None:
    assert "https://a.example/krill" in await library.search(query)


@pytest.mark.parametrize("query", ["", "   ", "?!", "***", '"', "\0", "zyzzyva", "x" * 100_000])
async def test_nothing_to_find(library: Library, query: str) -> None:
    assert await library.search(query) == []


@pytest.mark.parametrize("query", ["is it the", "or", "NOT", "and to in"])
async def test_a_query_of_stop_words_alone_is_a_query(library: Library, query: str) -> None:
    assert set(await library.search(query)) <= set(TEXTS)


async def test_the_limit(library: Library) -> None:
    assert len(await library.search("oceans krill", 1)) == 1
    assert len(await library.search("oceans krill", 2)) == 2


async def test_only_the_sites_that_are_wanted(library: Library) -> None:
    texts = {
        f"https://{name}.example/{n}": f"Otter {n}\n\nOtters swim in rivers and in the sea, number {n}."
        for name in ("a", "sub.b", "c")
        for n in range(4)
    }
    library.index(texts, "otters")
    hits = await library.open().search(Query("otters", 4, sites=("b.example",)))
    assert {hit.url for hit in hits} == {f"https://sub.b.example/{n}" for n in range(4)}
    hits = await library.open().search(Query("otters", 20, exclude_sites=("a.example", "b.example")))
    assert {hit.url for hit in hits} == {f"https://c.example/{n}" for n in range(4)}


def test_a_collection_has_no_other_filters(library: Library) -> None:
    query = Query("q", language="de", recency="day", sites=("a.example",))
    assert library.open().notices(query) == [
        "The collection shelf cannot filter by language: its hits are not filtered.",
        "The collection shelf cannot filter by recency: its hits are not filtered.",
    ]


async def test_an_open_collection_sees_what_is_indexed_later(library: Library) -> None:
    collection = library.open()
    assert await collection.search(Query("zeppelin", 5)) == []
    library.index({"https://a.example/z": "Zeppelin\n\nA rigid airship, named after a German count."}, "more")
    [hit] = await collection.search(Query("zeppelin", 5))
    page = collection.page(hit.url)
    assert page is not None
    assert page.passages[0].text.endswith("named after a German count.")


def test_an_unknown_collection_names_those_there_are(tmp_path: Path, library: Library) -> None:
    with pytest.raises(CollectionError, match=r"no collection 'shelve' \(there are: shelf\).*citewell index"):
        library.catalog.open("shelve")
    with pytest.raises(CollectionError, match="none yet"):
        EmbeddedCatalog(tmp_path / "empty").open("shelf")
    assert not (tmp_path / "empty").exists()


@pytest.mark.parametrize("name", ["", ".", "..", "../up", "a/b", "-x", "a b", "x" * 65, "é"])
def test_a_name_cannot_leave_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="is not a valid collection name"):
        EmbeddedCatalog(tmp_path).open(name)


def test_removing_a_collection(library: Library) -> None:
    assert library.catalog.names() == ["shelf"]
    library.catalog.remove("shelf")
    assert library.catalog.names() == []
    with pytest.raises(CollectionError, match="no collection 'shelf'"):
        library.catalog.remove("shelf")


def test_a_misspelled_name_is_corrected_by_the_titles(library: Library) -> None:
    library.index(
        {f"https://a.example/e{n}": f"Echidna {n}\n\nAn echidna lays eggs." for n in range(3)}, "more"
    )
    assert library.open().spelled("Does an echinda lay eggs?") == "Does an echidna lay eggs?"


async def test_the_page_on_a_subject_comes_first_among_many_that_speak_of_it(library: Library) -> None:
    texts = {
        f"https://a.example/{n}": f"Sea {n}\n\n" + f"The walrus, walruses and a walrus, number {n}. " * 5
        for n in range(30)
    }
    alone = "The walrus is a large mammal with tusks that lives on the ice of the north."
    library.index(texts | {"https://a.example/walrus": f"Walrus (animal)\n\n{alone}"}, "walruses")
    for question in ("What are walruses?", "walrus", "Tell me about the walrus"):
        assert (await library.search(question, 3))[0] == "https://a.example/walrus"


@pytest.mark.parametrize(
    ("asked", "spelled"),
    [
        ("What does a blue whael eat?", "What does a blue whale eat?"),
        ("Kirll", "Krill"),
        ("kroll", "kroll"),  # too short to be sure
        ("What is a whale?", "What is a whale?"),
        ("What is a wheel?", "What is a wheel?"),
        ("Zyzzyva?", "Zyzzyva?"),
        ("", ""),
    ],
)
def test_a_misspelled_name_is_corrected(library: Library, asked: str, spelled: str) -> None:
    texts = {f"https://a.example/{n}": f"Blue whale {n}\n\nThe blue whale, number {n}." for n in range(3)}
    library.index(texts, "whales")
    assert library.open().spelled(asked) == spelled
