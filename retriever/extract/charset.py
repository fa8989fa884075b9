"""Decoding of bytes to text, also when the declared charset is missing or wrong."""

from __future__ import annotations

import codecs
import re

# Labels that browsers read as a larger charset (https://encoding.spec.whatwg.org/#names-and-labels).
_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
# Labels of the same standard that Python does not know.
_LABELS = {
    **dict.fromkeys(("windows-874", "dos-874", "iso885911"), "cp874"),
    **dict.fromkeys(("cn-big5", "x-x-big5"), "big5"),
    **dict.fromkeys(("gb_2312-80", "csgb2312"), "gb2312"),
    **dict.fromkeys(("iso-8859-8-e", "iso-8859-8-i", "logical", "visual"), "iso8859-8"),
    "windows-31j": "cp932",
    **dict.fromkeys(("windows-949", "ks_c_5601-1989"), "cp949"),
    "koi8-ru": "koi8-u",
    **{f"iso8859{part}": f"iso8859-{part}" for part in range(1, 10)},
    "iso885910": "iso8859-10",
    "iso885913": "iso8859-13",
    "iso885914": "iso8859-14",
    "iso885915": "iso8859-15",
}
# The charsets of the same standard. Python knows more codecs, and not all of them are charsets.
_CHARSETS = frozenset(
    [
        *("utf-8", "gb18030", "big5hkscs", "euc_jp", "iso2022_jp", "cp932", "cp949", "cp866", "cp874"),
        *("koi8-r", "koi8-u", "mac-roman", "mac-cyrillic"),
        *(f"iso8859-{part}" for part in (*range(2, 9), 10, 13, 14, 15, 16)),
        *(f"cp125{page}" for page in range(9)),
    ]
)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HTTP = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_META = re.compile(rb"<meta[^>]*?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml[^>]*?encoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE)
_META_WINDOW = 4096  # bytes; browsers look for <meta charset> in the first 1,024, authors do not
_HARDLY = 0.05  # of charset-normalizer's measure of disorder
_GUESS_WINDOW = 20_000  # bytes that the statistical guess reads: more are slower and no better


def decode(body: bytes, content_type: str = "") -> str:
    """Decode `body`, whatever it or its HTTP header (`content_type`) says about its charset.

    A byte order mark decides. Otherwise text that is UTF-8 is read as UTF-8, because text in another
    charset almost never is by accident. Then the header, `<meta charset>` and a statistical guess
    ([charset-normalizer](https://charset-normalizer.readthedocs.io)) are tried, and the first that fits
    every byte wins. A declared Latin-1 is tried last, because servers declare it for everything.
    """
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, errors="replace")
    if b"\x1b" in body and "iso2022_jp" in _declared(
        body, content_type
    ):  # Japanese in 7 bits would pass for UTF-8
        return body.decode("iso2022_jp", errors="replace")
    if (text := _fits(body, "utf-8")) is not None:
        return text
    if _is_damaged_utf8(body):
        return body.decode("utf-8", errors="replace")
    for name in sorted(_declared(body, content_type), key=lambda name: name == "cp1252"):
        if (text := _fits(body, name)) is not None:
            return text
    return body.decode(_guess(body), errors="replace")


def to_utf8(body: bytes, content_type: str = "") -> bytes:
    """Recode `body` from the charset that `decode` finds to UTF-8; return it unchanged if it is UTF-8."""
    if not body.startswith(tuple(mark for mark, _ in _BOMS)) and b"\x1b" not in body:
        try:
            body.decode()
        except UnicodeDecodeError:
            pass
        else:
            return body
    return decode(body, content_type).encode(errors="replace")


def _declared(body: bytes, content_type: str) -> list[str]:
    """Return the charsets declared for `body`, HTTP before markup, in the order of browsers."""
    head = body[:_META_WINDOW]
    labels = [match[1].decode("ascii") for match in (_META.search(head), _XML.search(head)) if match]
    if match := _HTTP.search(content_type):
        labels.insert(0, match[1])
    return [name for label in labels if (name := _codec(label))]


def _codec(label: str) -> str:
    """Return Python's name of the charset that `label` means, or an empty string for an unknown label."""
    label = label.lower()
    try:
        name = codecs.lookup(_LABELS.get(label, label.removeprefix("x-"))).name
    except LookupError:
        return ""
    name = _SUPERSETS.get(name, name)
    return name if name in _CHARSETS else ""


def _fits(body: bytes, name: str) -> str | None:
    """Decode `body` as the charset `name`, or return None; a character cut off at the very end is allowed."""
    try:
        return codecs.getincrementaldecoder(name)("strict").decode(body)
    except UnicodeDecodeError:
        return None


def _is_damaged_utf8(body: bytes) -> bool:
    """Return whether `body` is UTF-8 except for a few bytes, as when a program cut a title by bytes."""
    text = body.decode("utf-8", errors="replace")
    beyond_ascii = len(text) - len(text.encode("ascii", errors="ignore"))
    return text.count("\ufffd") * 10 <= beyond_ascii


def _guess(body: bytes) -> str:
    from charset_normalizer import from_bytes

    sample = re.sub(rb"<[^>]*>", b" ", body)  # markup is ASCII in every charset and dilutes the sample
    matches = from_bytes(sample[:_GUESS_WINDOW], cp_isolation=sorted(_CHARSETS | _SUPERSETS.keys()))
    if (best := matches.best()) is None:
        return "cp1252"
    for match in matches:  # otherwise French is taken for Romanian or Latvian, whose charsets are similar
        alike = match.coherence >= best.coherence and match.chaos <= best.chaos + _HARDLY
        if match.encoding == "cp1252" and alike:
            best = match
    return _codec(best.encoding) or "cp1252"
