"""The Cache-Control and Vary fields of an answer (RFC 9111 §5, RFC 9110 §12.5.5)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from multidict import CIMultiDictProxy

from citewell.core.http_time import delta_seconds

# A token, and after "=" a token or a quoted string (RFC 9110 §5.6.2, §5.6.4). It does not begin with white
# space: a field of many blanks would take quadratic time.
_DIRECTIVE = re.compile(r'([^\s=,;"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?[^,]*')
_ANY_DECODER = frozenset({"accept-encoding"})


class Directives:
    """The directives of an answer's Cache-Control fields, by lower-case name; of two the first counts."""

    def __init__(self, headers: CIMultiDictProxy[str]) -> None:
        self._values: dict[str, str | None] = {}
        for field in headers.getall("Cache-Control", ()):
            for match in _DIRECTIVE.finditer(field):
                name, quoted, plain = match.groups()
                self._values.setdefault(name.lower(), quoted if quoted is not None else plain)

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def seconds(self, name: str) -> int | None:
        """Return the seconds of a directive.

        None if it is missing, 0 if its value is not a number.
        """
        if name not in self._values:
            return None
        return delta_seconds(self._values[name] or "") or 0


def varying(headers: CIMultiDictProxy[str]) -> frozenset[str]:
    """Return the lower-case names of the request headers that an answer depends on.

    `*` stands for others still. Accept-Encoding is skipped, since bodies are stored decompressed.
    """
    fields = ",".join(headers.getall("Vary", ()))
    return frozenset(name for part in fields.split(",") if (name := part.strip().lower())) - _ANY_DECODER


def nominated(names: frozenset[str], request_headers: Mapping[str, str]) -> dict[str, str]:
    """Return the values that a request has for the headers of a Vary field.

    An absent header has an empty one.
    """
    sent = {name.lower(): " ".join(value.split()) for name, value in request_headers.items()}
    return {name: sent.get(name, "") for name in names}
