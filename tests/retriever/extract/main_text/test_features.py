"""What the classifier sees of a page."""

from __future__ import annotations

import random

import numpy as np
import pytest

from citewell.retriever.extract.main_text.features import (
    COLUMNS,
    CONTAINERS,
    NEIGHBOR_COLUMNS,
    Features,
    featurize,
)
from citewell.retriever.extract.main_text.frames import WordWeights, name_words
from citewell.retriever.extract.main_text.layout import lay_out, parse
from citewell.retriever.extract.main_text.signs import Signs, read_signs
from citewell.retriever.extract.main_text.text_features import text_words
from tests.retriever.extract.main_text.trees import made_up_tree

WEIGHTS = WordWeights({"post": 1.5, "menu": -2.0}, {"share": -1.0, "chapter": 0.5})
PAGE = (
    "<html><head><title>Box kites</title></head><body>"
    "<ul class='menu'><li><a>Home</a></li><li><a>Shop</a></li></ul>"
    "<div class='post'><h1>Box kites</h1><p>{}</p><p>{}</p></div><footer>Share this</footer></body></html>"
)
PROSE = "A box kite has two cells and a frame of four sticks, and it flies in a strong and steady wind. "


def features_of(html: str, url: str = "") -> Features:
    tree = parse(html)
    assert tree is not None
    return featurize(lay_out(tree), read_signs(tree, url), WEIGHTS)


def test_names_are_cut_into_words() -> None:
    assert set(name_words("post-body mainText x nav_2 HTMLpage")) >= {"post", "body", "main", "text", "nav"}
    assert text_words(["Share © 2024", "long " * 200, "US$5|Buy_now!"]) == [
        ["share", "©"],
        [],
        ["us", "$", "|", "buy", "now"],
    ]


@pytest.mark.parametrize("text", ["", "a|b||$5.00\tC-3\n", "".join(map(chr, range(128))), "don't\0know"])
def test_words_of_ascii_are_read_like_those_of_other_texts(text: str) -> None:
    assert text_words([f"{text} é"]) == [[*text_words([text])[0], "é"]]


def test_columns_have_names_of_their_own_and_neighbors_have_some_of_them() -> None:
    assert len(set(COLUMNS)) == len(COLUMNS)
    values = features_of(PAGE.format(PROSE, PROSE * 9)).values
    tree = parse(PAGE.format(PROSE, PROSE * 9))
    assert tree is not None
    own = len(COLUMNS) + len(read_signs(tree, "").values)
    assert values.shape[1] == own + 4 * len(NEIGHBOR_COLUMNS)
    heading = values[:, COLUMNS.index("heading_level")]
    assert heading.tolist() == [0, 0, 1, 0, 0, 0]
    before = values[:, own + NEIGHBOR_COLUMNS.index("heading_level")]
    assert before.tolist() == [0, *heading[:-1].tolist()]


def test_every_page_has_the_same_columns_and_no_missing_numbers() -> None:
    small, large = (
        features_of("<p>x</p>"),
        features_of(PAGE.format(PROSE, PROSE * 9), "https://a.example/t/1"),
    )
    assert small.values.shape == (1, large.values.shape[1])
    assert len(large.values) == 6
    assert large.containers.shape == (CONTAINERS, 6)


@pytest.mark.parametrize("seed", range(20))
def test_random_pages_have_finite_features(seed: int) -> None:
    features = features_of(f"<body>{made_up_tree(random.Random(seed), [])}</body>")
    assert np.isfinite(features.values).all()
    assert features.values.dtype == np.float32
    assert (features.first[features.containers] <= np.arange(len(features.values))).all()
    assert (features.last[features.containers] > np.arange(len(features.values))).all()


def test_containers_hold_more_and_more() -> None:
    features = features_of(PAGE.format(PROSE, PROSE))
    held = (features.last - features.first)[features.containers]
    assert (np.diff(held, axis=0) >= 0).all()
    assert (held[-1] == 6).all()


def test_pieces_whose_frames_look_alike_are_of_one_kind() -> None:
    features = features_of(PAGE.format(PROSE, PROSE * 2))
    home, shop, title, first, second, footer = features.kinds.tolist()
    assert home == shop
    assert first == second
    assert len({home, title, first, footer}) == 4


def test_features_do_not_depend_on_how_the_source_is_written() -> None:
    page = PAGE.format(PROSE, PROSE * 3)
    spaced = page.replace("><", ">\n   <").replace("<p>", "<P >")
    assert np.array_equal(features_of(page).values, features_of(spaced).values)


def test_signs_say_what_kind_of_page_it_is() -> None:
    tree = parse(
        "<html><head><title> Box   kites </title><meta property='og:type' content='Article'>"
        '<script type="application/ld+json">{"@type": "NewsArticle"}</script></head><body>x</body></html>'
    )
    assert tree is not None
    plain = parse("<html><head><title>Box kites</title></head><body>x</body></html>")
    assert plain is not None
    signs, without = (
        read_signs(tree, "https://a.example/news/1"),
        read_signs(plain, "https://a.example/news/1"),
    )
    assert signs.title == "Box kites"
    assert sum(signs.values) == sum(without.values) + 2
    assert read_signs(plain, "https://a.example/forum/topic/1") != without
    assert isinstance(read_signs(plain, ""), Signs)


@pytest.mark.parametrize(
    ("url", "head", "kind"),
    [
        ("https://a.example/2024/kites", "", "other"),
        ("", "<meta property='og:type' content='article'>", "article"),
        ("", '<script type="application/ld+json">{"@type": "NewsArticle"}</script>', "article"),
        (
            "https://a.example/community-news/t-shirts",
            "<meta property='og:type' content='article'>",
            "article",
        ),
        ("https://kiteforum.example/3", "", "forum"),
        ("https://forum.kites.example/3", "<meta property='og:type' content='article'>", "forum"),
        ("https://a.example/t/a-kite/3", "", "forum"),
        ("", '<script type="application/ld+json">{"@type": "QAPage"}</script>', "forum"),
        (
            "",
            '<script type="application/ld+json">{"@type": "FAQPage", "a": {"@type": "Question"}}</script>',
            "other",
        ),
    ],
)
def test_a_page_may_say_that_it_is_an_article_or_of_a_forum(url: str, head: str, kind: str) -> None:
    tree = parse(f"<html><head>{head}</head><body>x</body></html>")
    assert tree is not None
    assert read_signs(tree, url).kind == kind
