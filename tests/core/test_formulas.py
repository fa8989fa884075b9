"""What is a formula and what a price, and MathML that shows and does nothing else."""

from __future__ import annotations

import re

import pytest

from citewell.core.formulas import before_unfinished, formula_at, held, mathml, restored

DEEP = "\\sqrt{" * 60 + "x" + "}" * 60


def formulas(text: str) -> list[str]:
    return held(text)[1]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$x$, $5$ and ($y=1$).", ["$x$", "$5$", "$y=1$"]),
        ("$$x$$ \\(y\\) \\[z\\]", ["$$x$$", "\\(y\\)", "\\[z\\]"]),
        ("$[0, 1)$ $a$$b$", ["$[0, 1)$"]),
        ("\\(\\text{costs $5}\\) $x\\$y$", ["\\(\\text{costs $5}\\)", "$x\\$y$"]),
        ("\\[\\begin{matrix}a\\\\[2pt]b\\end{matrix}\\]", ["\\[\\begin{matrix}a\\\\[2pt]b\\end{matrix}\\]"]),
    ],
)
def test_formulas_are_found(text: str, found: list[str]) -> None:
    assert formulas(text) == found
    assert restored(*held(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and $10.",
        "$5, $10/$20, US$5 and A$6, 5$ and 6$, $5-$10.",
        "$5 million for the firm (C$) or $5 (US$).",
        "Between $5 [1] and 6$ [2].",
        "$AAPL and $MSFT, $PATH:$HOME",
        "\\$x\\$ and $x\\$",
        "\\[1\\] \\[2, 3\\] \\[",
        "$x\n\ny$ $ x $ $$$$",
        "$`a`$",
    ],
)
def test_prices_and_prose_are_no_formulas(text: str) -> None:
    assert formulas(text) == []


def typeset(source: str) -> str:
    formula = formula_at(source, 0)
    assert formula is not None
    return mathml(formula)


def test_a_formula_is_mathml() -> None:
    assert typeset("$\\frac{1}{2}$") == "<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>"
    aligned = typeset("$$\\begin{aligned}a&=b\\\\c&=d\\end{aligned}$$")
    assert aligned.startswith('<math display="block"><mtable')
    assert aligned.count('<mtd class="right">') == aligned.count('<mtd class="left">') == 2


@pytest.mark.parametrize(
    "source",
    ["$\\frac{1}$", "$\\unknown{x}$", "$x_$", "$}{$", "\\(\\left(x\\)", f"${DEEP}$", "$\\def\\a{b}\\a$"],
)
def test_an_invalid_formula_is_shown_as_it_was_written(source: str) -> None:
    assert typeset(source) == source


@pytest.mark.parametrize(
    "tex",
    [
        "\\text{<script>alert(1)</script>}",
        "<img/src=x/onerror=alert(1)>",
        "\\href{javascript:alert(1)}{x}",
        "\\color{red}{x}\\textcolor{#ff0000}{y}",
        "\\hspace{-100em}x\\hspace{100em}",
        "\\raisebox{100em}{x}",
        "\\mathrm{x}\\operatorname{y}(z)",
        "\\text{\\&lt;b\\&gt;}&amp;&lt;",
    ],
)
def test_a_formula_shows_and_does_nothing_else(tex: str) -> None:
    shown = typeset(f"${tex}$")
    assert not re.search(r"<(?!/?m)", shown)
    assert not re.search(r"<[^>]*(?:href|style|on\w+|src)\s*=", shown)
    assert "100em" not in re.sub(r">[^<]*<", "><", shown)


def test_an_unfinished_formula_is_held_back() -> None:
    assert before_unfinished("So:\n$$x$$\nOr $$y") == "So:\n$$x$$\nOr "
    assert before_unfinished("So \\[x\\] and \\[1\\] or \\[y") == "So \\[x\\] and \\[1\\] or "
