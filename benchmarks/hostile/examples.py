"""Bodies that fit the description of the API, from which attacks depart."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_DEEPEST = 4


@dataclass(frozen=True)
class Schemas:
    """An OpenAPI description (https://spec.openapis.org/oas/v3.1.0)."""

    document: dict[str, Any]

    @classmethod
    def read(cls, text: str) -> Schemas:
        """Read it from JSON; an empty one if the service has none."""
        try:
            found = json.loads(text)
        except ValueError:
            found = {}
        return cls(found if isinstance(found, dict) else {})

    def example(self, method: str, path: str) -> dict[str, Any]:
        """Return a body with all fields of an address, which is empty where it takes none."""
        path = re.sub(r":\w+}", "}", path)
        operation = self.document.get("paths", {}).get(path, {}).get(method.lower(), {})
        content = operation.get("requestBody", {}).get("content", {})
        body = self._value(content.get("application/json", {}).get("schema", {}), 0)
        return body if isinstance(body, dict) else {}

    def _value(self, schema: dict[str, Any], depth: int) -> Any:
        """Return a small value of a schema."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return self._value(self.document["components"]["schemas"].get(name, {}), depth)
        for several in ("anyOf", "oneOf", "allOf"):
            if several in schema:
                return self._value(schema[several][0], depth)
        if "enum" in schema:
            return schema["enum"][0]
        kind = schema.get("type", "object" if "properties" in schema else "string")
        kind = kind[0] if isinstance(kind, list) else kind
        if kind == "object":
            fields = schema.get("properties", {}) if depth < _DEEPEST else {}
            return {name: self._value(each, depth + 1) for name, each in fields.items()}
        if kind == "array":
            return [self._value(schema.get("items", {}), depth + 1)] if depth < _DEEPEST else []
        return {"integer": schema.get("minimum", 1), "number": 1.0, "boolean": False, "null": None}.get(
            kind, "none"
        )
