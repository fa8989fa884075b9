"""Markdown, as handbooks and READMEs use it."""

from __future__ import annotations

from citewell.retriever.extract.markdown import read_markdown
from citewell.retriever.extract.page import extract

DOCUMENT = """\
# Flying *kites*

Kites fly because of [lift](https://a.example/lift "Lift") and `drag`,
as any text ![a drawing](x.png) on **aerodynamics** says.<br>New line.

## Building

You need:

- sticks,
  and *string*
- paper
  1. white
  2. red

### Code

```python
def lift(wind):
    area   = 2

    return area
```

| Kind | Wind |
|------|-----:|
| `Box` | **15** |

> A wise word &amp; more.

<!-- hidden -->
<p align="center">Shown</p>
"""


def test_blocks_are_plain_text_under_their_headings() -> None:
    document = read_markdown(DOCUMENT.encode())
    assert document.title == "Flying kites"
    building, code = ("Building",), ("Building", "Code")
    assert [(block.text, block.headings) for block in document.blocks] == [
        ("Kites fly because of lift and drag, as any text a drawing on aerodynamics says.\nNew line.", ()),
        ("You need:", building),
        ("- sticks, and string\n- paper\n  1. white\n  2. red", building),
        ("def lift(wind):\n    area   = 2\n\n    return area", code),
        ("Kind | Wind\nBox | 15", code),
        ("A wise word & more.", code),
        ("Shown", code),
    ]


def test_code_keeps_its_spaces_in_the_passage() -> None:
    page = extract(DOCUMENT.encode(), "docs/kites.md")
    assert any("def lift(wind):\n    area   = 2\n    return area" in p.text for p in page.passages)


def test_front_matter_names_the_page_and_is_no_text() -> None:
    page = extract(b'---\nlayout: x\ntitle: "Kites: a guide"\n---\nSome text.\n', "x.md")
    assert page.title == "Kites: a guide"
    assert [passage.text for passage in page.passages] == ["Some text."]


def test_text_between_two_rules_is_no_front_matter() -> None:
    page = extract(b"---\nMonday\nWe chose red.\n---\n\nTuesday\nThe fence is done.\n", "x.md")
    assert "We chose red." in page.passages[0].text


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    page = extract(b"---\n\nSome text without an end mark.\n", "x.md", title="Given")
    assert [passage.text for passage in page.passages] == ["Some text without an end mark."]
    assert page.title == "Given"
