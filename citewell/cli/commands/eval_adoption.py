"""`citewell eval adoption`: are the references that a teacher cites more often relevant than those it saw?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from citewell.cli.commands.options import flags
from citewell.cli.commands.output import check_files, replace, write_results
from citewell.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.settings import Settings
    from citewell.pipeline.evaluation.adoption import AdoptingRow, Pair

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("adoption", short_help="Evaluate which references teachers cite.")
@click.argument("source", metavar="INPUT", type=click.Path(path_type=Path))
@click.option(
    "--labels", metavar="FILE", type=_FILE, help='Labels of people: {"id", "reference", "relevant"} per line.'
)
@click.option("--draw", metavar="FILE", type=_FILE, help="Write references to label to a new FILE, and exit.")
@click.option(
    "--least",
    metavar="P",
    type=click.FloatRange(0, 1),
    default=0.5,
    help="Min probability at which the reader finds a reference relevant [0.5].",
)
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Use only the first N rows.")
@click.option("--json", "out", metavar="FILE", type=_FILE, help="Write all metrics to FILE as JSON.")
@click.option("--markdown", metavar="FILE", type=_FILE, help="Write the tables to FILE.")
@click.option(
    "--set", "assignments", multiple=True, metavar="NAME=VALUE", help="Set any setting by name; repeatable."
)
def adoption(
    source: Path,
    labels: Path | None,
    draw: Path | None,
    least: float,
    limit: int | None,
    out: Path | None,
    markdown: Path | None,
    assignments: tuple[str, ...],
) -> None:
    """Compare the share of relevant references among those that the answers of INPUT cite and all shown.

    INPUT is the folder of a bootstrap, or a file of its data set. The reader of answers judges
    (retriever.reader), and people with --labels.
    """
    from citewell.core.settings import load_settings
    from citewell.pipeline.evaluation.adoption import (
        details,
        measure,
        read_adoptions,
        read_labels,
        summary,
        to_label,
    )
    from citewell.pipeline.evaluation.adoption import markdown as tables

    settings = load_settings(flags({}, (), assignments))
    if draw is not None and draw.exists():
        raise InputError(f"{draw} exists already.", "It may hold labels: name another file with --draw.")
    check_files(out, markdown, draw)
    rows = read_adoptions(source)[:limit]
    if draw is not None:
        replace(draw, to_label(rows))
        return
    found = []
    if settings.retriever.reader != "none":
        found.append(measure(rows, _read(rows, settings, least), settings.retriever.reader))
    if labels is not None:
        found.append(measure(rows, read_labels(labels), "people"))
    if not found:
        raise InputError("Nobody judges the references.", "Give --labels FILE, or set retriever.reader.")
    write_results(found, out, markdown, markdown=tables, summary=summary, details=details)


def _read(rows: Sequence[AdoptingRow], settings: Settings, least: float) -> dict[Pair, bool]:
    """Return whether the reader finds a sentence of each reference that answers the question."""
    from citewell.core.logistic import sigmoid
    from citewell.core.progress import Counter
    from citewell.core.text import encoded_text
    from citewell.generator.extractive import reference_sentences
    from citewell.retriever.cross_encoder.load import load_cross_encoder

    model = load_cross_encoder(settings.retriever.reader, settings.cache_dir, threads=settings.threads)
    progress = Counter("rows", lambda text: click.echo(text, err=True))
    found: dict[Pair, bool] = {}
    for done, row in enumerate(rows, 1):
        sentences = {r.number: reference_sentences(r.text) for r in row.references}
        asked = [
            (r.number, encoded_text(r.title_path, each))
            for r in row.references
            for each in sentences[r.number]
        ]
        values = sigmoid(model.scores(row.question, [text for _, text in asked]))
        best: dict[int, float] = {}
        for (number, _), value in zip(asked, values.tolist(), strict=True):
            best[number] = max(value, best.get(number, 0.0))
        found |= {(row.id, r.number): best.get(r.number, 0.0) >= least for r in row.references}
        progress(done, len(rows))
    return found
