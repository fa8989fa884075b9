"""Measure which false edits of true sentences pass a check of support, by the kind of the edit.

`python -m benchmarks.false_edits` reads `questions/false_edits.jsonl`: 38 paragraphs of Wikipedia for
Schools, each with two true sentences and up to nine false ones, in which a name, a number or a date was
exchanged, a verb denied, a word replaced by its opposite, roles were swapped, a cause or a detail invented,
or a condition cut. It prints the share that passes the word rule, the reader of support (from a
probability of one half) and both with `--reader`, and the check of what the default writer writes with
`--judge`. Two thirds of the paragraphs are for development; `--held` measures the others.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.citation_support import MODEL_OF_WRITER
from benchmarks.results_files import output_option, save, table
from citewell.core.jsonl import read_lines
from citewell.core.settings import CitationSettings, Settings, load_settings
from citewell.core.types import Reference, Sentence
from citewell.generator.citations.judged import JudgedCitations
from citewell.generator.citations.support import ReferenceText
from citewell.generator.load import open_yes_model
from citewell.retriever.cross_encoder.support import load_support_reader

FILE = Path(__file__).parent / "questions" / "false_edits.jsonl"
TRUE = "true"
KINDS = ("name", "number", "date", "negation", "antonym", "roles", "cause", "condition", "invented")


class EditedClaim(NamedTuple):
    """A claim about a text of a page with a title, and the kind of its edit, or `true`."""

    claim: str
    title: str
    text: str
    kind: str


Check = Callable[[Sequence[EditedClaim]], list[bool]]
"""Says of n claims which are supported by their texts."""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reader", help="folder of a reader of support; without it, the word rule alone")
    parser.add_argument("--judge", action="store_true", help="measure the default writer's check as well")
    parser.add_argument("--held", action="store_true", help="measure the third that is held out")
    output_option(parser)
    arguments = parser.parse_args()
    settings = load_settings()
    claims = read_claims(held=arguments.held)

    def read(claims: Sequence[EditedClaim]) -> list[bool]:
        return [found >= 0.5 for found in reader.probabilities([(of.claim, of.text) for of in claims])]

    def both(claims: Sequence[EditedClaim]) -> list[bool]:
        return [one and other for one, other in zip(word_rule(claims), read(claims), strict=True)]

    checks: dict[str, Check] = {"word rule": word_rule}
    if arguments.reader:
        reader = load_support_reader(arguments.reader, settings.cache_dir, threads=settings.threads)
        checks |= {"reader": read, "both": both}
    if arguments.judge:
        checks["language model"] = lambda claims: asyncio.run(judged(claims, settings))
    found = {name: passed(check, claims) for name, check in checks.items()}
    counts = {kind: sum(each.kind == kind for each in claims) for kind in (TRUE, *KINDS)}
    rows = [
        [
            f"{kind} ({counts[kind]})" if kind in counts else kind,
            *(f"{of[kind]:.2f}" for of in found.values()),
        ]
        for kind in next(iter(found.values()))
    ]
    print(table(["passes", *found], rows))
    name = "false_edits_judge" if arguments.judge else "false_edits"
    save(name, {"held": arguments.held, "claims": counts, "passed": found}, arguments.output)


def read_claims(*, held: bool) -> list[EditedClaim]:
    """Read the claims of the paragraphs that are held out, or of the others."""
    found = []
    for line in read_lines(FILE):
        row = line.row()
        if row["held"] is held:
            page = row["title"], row["passage"]
            found += [EditedClaim(claim, *page, TRUE) for claim in row["true"]]
            found += [EditedClaim(claim, *page, kind) for kind, claim in row["false"].items()]
    return found


def word_rule(claims: Sequence[EditedClaim]) -> list[bool]:
    """Return what the word rule says."""
    threshold, found = CitationSettings().threshold, []
    for each in claims:
        text = ReferenceText(each.text, each.title)
        found.append(text.precision(each.claim) >= threshold and text.holds_facts(each.claim))
    return found


async def judged(claims: Sequence[EditedClaim], settings: Settings) -> list[bool]:
    """Return what the default writer's check says of sentences that it did not quote."""
    wanted = settings.generator.model_copy(update={"name": MODEL_OF_WRITER})
    found: list[bool] = []
    async with open_yes_model(wanted, settings.cache_dir, threads=settings.threads) as model:
        judge = JudgedCitations(model)
        for number, each in enumerate(claims, start=1):
            written = Sentence(each.claim, (), 0.0, supported=False)
            (sentence,) = await judge.check("", [written], [Reference(1, "", each.title, each.text, 0.0)])
            found.append(sentence.supported)
            print(f"judged: {number} of {len(claims)}", end="\r", file=sys.stderr, flush=True)
    return found


def passed(check: Check, claims: Sequence[EditedClaim]) -> Mapping[str, float]:
    """Return the share of each kind that a check lets pass, and that of all false claims."""
    verdicts = check(claims)
    shares = {}
    for kind in (TRUE, *KINDS):
        of = [verdict for verdict, each in zip(verdicts, claims, strict=True) if each.kind == kind]
        shares[kind] = round(sum(of) / len(of), 3)
    false = [verdict for verdict, each in zip(verdicts, claims, strict=True) if each.kind != TRUE]
    return shares | {"all false": round(sum(false) / len(false), 3)}


if __name__ == "__main__":
    main()
