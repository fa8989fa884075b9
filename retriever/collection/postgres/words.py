"""Words in PostgreSQL: the same BM25 as in a Tantivy index, over the passages that a GIN index finds.

PostgreSQL's own `ts_rank` knows neither how rare a word is nor how long a passage. Here `terms` counts the
passages with each term, so the query weights `ts_rank` of each term by Lucene's idf and the passage's length;
the best 400 passages are then scored exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from citewell.core.text import content_words, space_out
from citewell.core.types import Page
from citewell.retriever.collection.page_scores import (
    NAMESAKES,
    PASSAGES,
    TITLE_BOOST,
    PageHit,
    PassageHit,
    asked_names,
    best_pages,
    stems,
)
from citewell.retriever.collection.postgres.schema import key_of, sql
from citewell.retriever.collection.spelling import edits as edits_between
from citewell.retriever.lexical import K1, B, bm25_idf, bm25_weights

if TYPE_CHECKING:
    from uuid import UUID

    from psycopg import Connection

_NUMBER, _LENGTH = "", " "  # in `terms`: the number of passages, and the sum of their lengths
_MAX_TERMS = 64  # per question
_CANDIDATES = 5_000  # max passages that the database scores
_NEAR = 100  # titles with words like a misspelled one
_MAX_COUNT = 255  # of a term in a passage: PostgreSQL keeps no more positions

_STATISTICS = """
SELECT term, sum(titles)::bigint, sum(bodies)::bigint
FROM (SELECT * FROM {terms} UNION ALL SELECT * FROM {new_terms}) AS counted
WHERE term = ANY(%s) GROUP BY term
"""
# The order of passages where each term occurs once is exact.
_SEARCH = """
WITH best AS (
    SELECT found.*
    FROM (
        SELECT page, passage, title_length, body_length, words FROM {passages}
        WHERE words @@ %(query)s::tsquery LIMIT %(candidates)s
    ) AS found
    ORDER BY ({score}) / (1 + %(k1)s * (1 - %(b)s + %(b)s * body_length / %(average)s)) DESC
    LIMIT %(passages_scored)s
)
SELECT url, passage, title_length, body_length, lexemes, weights FROM best JOIN {pages} ON key = page,
LATERAL (
    SELECT array_agg(lexeme) AS lexemes, array_agg(array_to_string(weights, '')) AS weights
    FROM unnest(words) WHERE lexeme = ANY(%(lexemes)s)
) AS matched
"""
_SCORE = "%(idf{n})s::real * ts_rank(%(weights)s::real[], words, %(term{n})s::tsquery)"
_NAMED = "SELECT url, names FROM {pages} WHERE names && %s::text[] LIMIT %s"
_ALIKE = """
SELECT term FROM {terms} WHERE term >= %s AND term < %s AND titles > 0 AND length(term) BETWEEN %s AND %s
"""
_TITLES = """
SELECT title FROM {pages} WHERE key IN (
    SELECT page FROM {passages} WHERE words @@ %s::tsquery AND passage = 0 LIMIT %s
)
"""
_FORGET = """
WITH old AS (DELETE FROM {passages} WHERE page = ANY(%s) RETURNING title_length, body_length, words),
counted AS (
    SELECT lexeme AS term, count(*) FILTER (WHERE 'A' = ANY(weights)) AS titles,
        count(*) FILTER (WHERE 'D' = ANY(weights)) AS bodies
    FROM old, unnest(words) GROUP BY lexeme
    UNION ALL SELECT %s, count(*), count(*) FROM old
    UNION ALL SELECT %s, sum(title_length), sum(body_length) FROM old
)
INSERT INTO {new_terms} SELECT term, -titles, -bodies FROM counted WHERE titles != 0 OR bodies != 0
"""
_COPY = "COPY {passages} (page, passage, title_length, body_length, words) FROM STDIN"
_FOLD = """
WITH recent AS (DELETE FROM {new_terms} RETURNING term, titles, bodies)
INSERT INTO {terms} AS known
SELECT term, sum(titles), sum(bodies) FROM recent GROUP BY term ORDER BY term
ON CONFLICT (term) DO UPDATE
SET titles = known.titles + excluded.titles, bodies = known.bodies + excluded.bodies
"""


class _Statistics(NamedTuple):
    """The passages and the mean lengths of a collection, and of each term how many titles and bodies."""

    passages: int
    lengths: tuple[float, float]
    counts: dict[str, tuple[int, int]]


def add_words(connection: Connection, collection: int, pages: Iterable[Page]) -> None:
    """Write the words of pages without words, in a transaction of the caller."""
    titles: Counter[str] = Counter()
    bodies: Counter[str] = Counter()
    with connection.cursor() as cursor:
        with cursor.copy(sql(_COPY, collection)) as copy:
            for page in pages:
                key, title = key_of(page.url), stems(space_out(page.title))
                for number, passage in enumerate(page.passages):
                    body = stems(space_out(" ".join((*passage.headings, passage.text))))
                    copy.write_row((key, number, len(title), len(body), _tsvector(title, body)))
                    titles.update({_NUMBER: 1, _LENGTH: len(title)})
                    bodies.update({_NUMBER: 1, _LENGTH: len(body)})
                    titles.update(set(title))
                    bodies.update(set(body))
        with cursor.copy(sql("COPY {new_terms} (term, titles, bodies) FROM STDIN", collection)) as copy:
            for term in titles.keys() | bodies.keys():
                copy.write_row((term, titles[term], bodies[term]))


def remove_words(connection: Connection, collection: int, keys: Sequence[UUID]) -> None:
    """Delete the words of pages, in a transaction of the caller."""
    connection.execute(sql(_FORGET, collection), (list(keys), _NUMBER, _LENGTH))


def fold_counts(connection: Connection, collection: int) -> bool:
    """Add the recent counts of terms to the others; return whether there were any."""
    return connection.execute(sql(_FOLD, collection)).rowcount > 0


def search_words(connection: Connection, collection: int, query: str, limit: int) -> list[PageHit]:
    """Return the `limit` best pages for a plain-text query; see `CollectionStore.search`."""
    asked = list(dict.fromkeys(stems(space_out(" ".join(content_words(query))))))[:_MAX_TERMS]
    known = _statistics(connection, collection, asked)
    terms = sorted((term for term in asked if term in known.counts), key=lambda term: sum(known.counts[term]))
    namesakes = _namesakes(connection, collection, query)
    if not terms:
        return best_pages((), namesakes, limit)
    idf = {term: bm25_idf(known.passages, np.array(known.counts[term])) for term in terms}
    score = " + ".join(_SCORE.format(n=n) for n in range(len(terms)))
    rows = connection.execute(
        sql(_SEARCH.replace("{score}", score), collection),
        {f"term{n}": f"'{term}'" for n, term in enumerate(terms)}
        | {f"idf{n}": float(idf[term][1]) for n, term in enumerate(terms)}
        | {
            "query": _candidates(terms, known),
            "candidates": _CANDIDATES,
            "weights": [1.0, 0.0, 0.0, TITLE_BOOST],
            "k1": K1,
            "b": B,
            "average": known.lengths[1],
            "passages_scored": PASSAGES,
            "lexemes": terms,
        },
    ).fetchall()
    return best_pages(_scored(rows, known, idf), namesakes, limit)


def frequency(connection: Connection, collection: int, word: str) -> int:
    """Return how many passages have the word; see `CollectionStore.frequency`."""
    known = _statistics(connection, collection, stems(word))
    return max((max(count) for count in known.counts.values()), default=0)


def titles_near(connection: Connection, collection: int, word: str, edits: int) -> list[str]:
    """Return titles with a word like this one and its first letter; see `CollectionStore.titles_near`."""
    stem = " ".join(stems(word))
    values = (stem[:1], chr(ord(stem[:1] or " ") + 1), len(stem) - edits, len(stem) + edits)
    terms = [term for (term,) in connection.execute(sql(_ALIKE, collection), values)]
    near = [f"'{term}':A" for term in terms if edits_between(stem, term) <= edits]
    if not near:
        return []
    rows = connection.execute(sql(_TITLES, collection), (" | ".join(near), _NEAR))
    return [title for (title,) in rows]


def _namesakes(connection: Connection, collection: int, query: str) -> dict[str, float]:
    """Return the pages with a name of the query, and the name's share of its words."""
    shares = asked_names(query)
    if not shares:
        return {}
    rows = connection.execute(sql(_NAMED, collection), (list(shares), NAMESAKES))
    return {url: max(shares.get(name, 0.0) for name in names) for url, names in rows}


def _scored(rows: Sequence[Any], known: _Statistics, idf: dict[str, Any]) -> list[PassageHit]:
    """Score the passages of `_SEARCH`, each of its two fields by BM25, and order them, best first."""
    boosts = np.array([TITLE_BOOST, 1.0])
    found = []
    for url, passage, title_length, body_length, lexemes, weights in rows:
        norms = K1 * (1 - B + B * np.array([title_length, body_length]) / known.lengths)
        score = 0.0
        for term, marks in zip(lexemes, weights, strict=True):
            counts = np.array([marks.count("A"), marks.count("D")])
            score += float(bm25_weights(idf[term], counts, norms) @ boosts)
        found.append(PassageHit(url, passage, score))
    return sorted(found, key=lambda hit: (-hit.score, hit.url, hit.passage))


def _statistics(connection: Connection, collection: int, terms: Sequence[str]) -> _Statistics:
    rows = connection.execute(sql(_STATISTICS, collection), ([*terms, _NUMBER, _LENGTH],)).fetchall()
    counts = {term: (titles, bodies) for term, titles, bodies in rows}
    number = max(1, counts.pop(_NUMBER, (1, 1))[0])
    lengths = counts.pop(_LENGTH, (1, 1))
    means = (max(1.0, lengths[0] / number), max(1.0, lengths[1] / number))
    return _Statistics(number, means, {term: count for term, count in counts.items() if sum(count) > 0})


def _candidates(terms: Sequence[str], known: _Statistics) -> str:
    """Return the query for candidates: passages with one of the rarest terms, which weigh most.

    If even the rarest is frequent, passages need another term too.
    """
    chosen: list[str] = []
    total = 0
    for term in terms:
        total += sum(known.counts[term])
        if chosen and total > _CANDIDATES:
            break
        chosen.append(f"'{term}'")
    others = " | ".join(f"'{term}'" for term in terms[1:])
    if others and sum(known.counts[terms[0]]) > _CANDIDATES:
        return f"{chosen[0]} & ({others})"
    return " | ".join(chosen)


def _tsvector(title: Sequence[str], body: Sequence[str]) -> str:
    """Return a tsvector with a position per occurrence, of weight A in the title and D in the body."""
    titles, bodies = Counter(title), Counter(body)
    parts = []
    for term in titles.keys() | bodies.keys():
        first = min(titles[term], _MAX_COUNT)
        last = min(first + bodies[term], _MAX_COUNT)
        marks = [f"{n}A" for n in range(1, first + 1)] + [str(n) for n in range(first + 1, last + 1)]
        parts.append(f"'{term}':{','.join(marks)}")
    return " ".join(parts)
