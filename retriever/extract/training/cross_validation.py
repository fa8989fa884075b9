"""Cross-validation: scores on pages of unseen sites, by classifiers that are cached for the next run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from citewell.core.errors import ExtractionError
from citewell.core.progress import Log
from citewell.retriever.extract.html import read_html
from citewell.retriever.extract.main_text.classifier import Classifier, load, save
from citewell.retriever.extract.training.pages import LabeledPage, fold
from citewell.retriever.extract.training.rows import PageRow, rows_of
from citewell.retriever.extract.training.scores import (
    ExtractionScore,
    ShingleOverlap,
    mean_score,
    run_overlap,
    run_score,
    shown_text,
    word_score,
)
from citewell.retriever.extract.training.train import TrainingSettings, fit

_ENGINE = Path(__file__).parent.parent
# A classifier fitted by other code than the current one is not reused.
_FITTED_BY = (
    *(
        f"main_text/{name}.py"
        for name in ("layout", "signs", "features", "frames", "text_features", "forest", "classifier")
    ),
    *(f"training/{name}.py" for name in ("rows", "pages", "words", "train")),
)


class PageScore(NamedTuple):
    """The scores of one page by both measures of `citewell.retriever.extract.training.scores`."""

    data_set: str
    page_type: str
    words: ExtractionScore
    runs: ShingleOverlap


class GroupScore(NamedTuple):
    """The scores of the pages of one type, or of a whole data set (`all`)."""

    data_set: str
    page_type: str
    pages: int
    words: ExtractionScore
    runs: ExtractionScore


def checksum(file: Path) -> str:
    """Compute the SHA-256 of a file, in hexadecimal digits."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def fold_classifiers(
    files: Sequence[Path],
    pages: Callable[[], Sequence[LabeledPage]],
    settings: TrainingSettings,
    folds: int,
    cache: Path,
    log: Log,
) -> list[Classifier]:
    """Fit one classifier per fold to the pages of `files` whose sites are not in the fold.

    Each is saved in the folder `cache` as soon as it is fitted, under a name derived from the data, the
    settings and the code; `pages` is called only if one is missing.
    """
    folder = cache / _fingerprint(files, settings)
    classifiers = []
    for number in range(folds):
        kept = folder / f"{number + 1}-of-{folds}"
        if not kept.is_dir():
            learned = [page for page in pages() if fold(page.group, folds) != number]
            classifier = fit(learned, settings, _named(log, f"fold {number + 1} of {folds}"))
            partial = kept.with_suffix(".partial")
            save(classifier, partial)
            partial.rename(kept)
        classifiers.append(load(kept))  # read from its file, so that the stored form is measured
    return classifiers


def score_pages(files: Iterable[Path], classifiers: Sequence[Classifier]) -> Iterator[PageScore]:
    """Read every page with the classifier of its fold, which has not seen its site, and score it."""
    for data_set, row in rows_of(files):
        text = text_of(row, classifiers[fold(row.site, len(classifiers))])
        gold = row.gold_text or ""
        yield PageScore(data_set, row.page_type, word_score(text, gold), run_overlap(text, gold))


def text_of(row: PageRow, classifier: Classifier) -> str:
    """Return the text of a page as a person sees it; empty if no main text is found."""
    body = row.html.encode(errors="replace")
    try:
        document = read_html(body, "text/html; charset=utf-8", row.url or "", classifier)
    except ExtractionError:
        return ""
    return shown_text(document)


def by_type(scores: Iterable[PageScore]) -> list[GroupScore]:
    """Return the scores of each data set as a whole, and of its page types if it has several."""
    groups: dict[str, dict[str, list[PageScore]]] = {}
    for score in scores:
        types = groups.setdefault(score.data_set, {"all": []})
        types["all"].append(score)
        types.setdefault(score.page_type, []).append(score)
    return [
        GroupScore(
            name,
            page_type,
            len(members),
            mean_score([member.words for member in members]),
            run_score(member.runs for member in members),
        )
        for name, types in sorted(groups.items())
        for page_type, members in sorted(types.items())
        if page_type == "all" or len(types) > 2
    ]


def _fingerprint(files: Sequence[Path], settings: TrainingSettings) -> str:
    said = [*map(checksum, files), repr(settings), version("catboost")]
    said += [checksum(_ENGINE / name) for name in _FITTED_BY]
    return hashlib.sha256("\n".join(said).encode()).hexdigest()[:16]


def _named(log: Log, name: str) -> Log:
    return lambda step: log(f"{name}: {step}")
