"""What attacks achieve."""

from __future__ import annotations

from typing import Any

from benchmarks.report.cells import Cell, ReportRow, ReportSection, count, share
from benchmarks.report.reading import PublishedFigures, ResultFiles

_ATTACKS = {
    "address": "spellings of private addresses",
    "address by a redirect": "the same behind redirects",
    "address by DNS rebinding": "a name server that changes its answer",
    "address through a proxy": "spellings and private names, through a proxy",
    "bomb of 1,024 MiB": "bombs of 1 GiB: gzip, deflate, br, zstd",
    "server": "servers that are slow, endless or lie",
    "document": "documents that break parsers",
    "mutated page": "mutated pages and PDF files",
}
_CLASSES = {
    "keys": "keys that do not fit, at every address of the service",
    "scripts": "scripts in what pages of the service show, in Chromium",
    "limits": "more requests, connections and places than a key may have",
    "bodies": "broken, deep, huge, slow and cut bodies, at every address",
    "logs": "forged lines of the log, and searches for secrets",
    "remote_code": "models with code, and hostile weights",
    "hidden": "pages that hide a sentence, or show it in unusual ways",
    "files": "files outside of the folder of sources, devices and archives",
    "crawling": "sites that want to be waited for, or never end",
}


def attacks(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """Hostile pages, servers and callers: how many attacks were tried, and how many broke a rule."""
    private = results.read("hostile_addresses")
    groups = private.get("ways", {}) | results.read("hostile_pages").get("attacks", {})
    rows = [
        ReportRow(
            _ATTACKS.get(name, name),
            {
                "tried": count(of["attacks"]),
                "faults": count(len(of["faults"])),
                "slowest, s": Cell(of["slowest"], digits=1),
                "largest worker, MB": count(of["worker_megabytes"] or None),
            },
            "here",
        )
        for name, of in groups.items()
    ]
    addresses = private.get("kinds", {}).get("generated address")
    if addresses:
        rows.append(_row("generated addresses", addresses["attempts"], addresses["failed"]))
    for name, label in _CLASSES.items():
        found = results.read(f"hostile_{name}")
        if found:
            rows.append(_row(label, found["attempts"], found["failed"]))
    fuzz = results.read("browser_fuzz")
    if fuzz:
        rows.append(_row("random commands of the text browser", fuzz["commands"], fuzz["failures"]))
    chaos = results.read("chaos")
    if chaos:
        writes = sum(chaos["acknowledged"].values())
        label = f"faults of the service's surroundings, {writes:,} confirmed writes"
        rows.append(_row(label, sum(chaos["faults"].values()), len(chaos["problems"])))
    return ReportSection(
        title="Hostile pages and callers",
        question="Does an attack end in anything but a page or a reason, exceed its time or memory, reach "
        "what is private, get more than its key allows, run code, forge a line, or lose a confirmed write?",
        first="attack",
        columns=["tried", "faults", "slowest, s", "largest worker, MB"],
        rows=rows,
    )


def orders(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """Orders to language models inside of pages."""
    data = results.read("hostile_orders")
    writer = results.read("hostile_orders_writer").get("followed_on", {})
    rows = []
    if data:
        followed = data["followed_on"]
        rows = [
            _orders_row("found by words and the encoder", data["recall"], data["false_alarms"]),
            _orders_row("found by words alone", data["recall_by_words"], data["false_alarms_by_words"]),
            ReportRow(
                "became a supported quotation", _shares(followed["orders"], followed["answers"]), "here"
            ),
        ]
    if writer:
        label = "became a supported sentence of a language model"
        rows.append(ReportRow(label, _shares(writer["orders"], writer["answers"]), "here"))
    return ReportSection(
        title="Orders hidden in pages",
        question="Does Citewell find orders to language models that stand in pages, such as “ignore your "
        "instructions”, and do they reach an answer? The orders are worded apart from those of the training.",
        first="orders that",
        columns=["number", "of", "share", "false alarms", "ordinary sentences"],
        rows=rows,
    )


def _row(label: str, tried: int, faults: int) -> ReportRow:
    return ReportRow(label, {"tried": count(tried), "faults": count(faults)}, "here")


def _shares(number: int, of: int) -> dict[str, Cell]:
    return {"number": count(number), "of": count(of), "share": share(number / of)}


def _orders_row(label: str, recall: dict[str, Any], alarms: dict[str, Any]) -> ReportRow:
    of, number = recall["kinds"]["all"]
    cells = _shares(number, of)
    cells["false alarms"] = count(sum(each["alarms"] for each in alarms.values()))
    cells["ordinary sentences"] = count(sum(each["sentences"] for each in alarms.values()))
    return ReportRow(label, cells, "here")
