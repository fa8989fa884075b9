"""Short names for generators, which do not expose the folders of this computer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from citewell.core.errors import CitewellError
from citewell.core.events import Done, Event, Notice
from citewell.core.redact import published_name
from citewell.core.settings import Settings

_GGUF = ".gguf"


def short_names(generators: Iterable[str]) -> dict[str, str]:
    """Return the name by which users choose each generator: of a path, the last part without `.gguf`.

    Folders before it tell apart those that would have the same name. Other names stay as they are.
    """
    possible = {name: _possible(name) for name in generators}
    taken = Counter(each for names in possible.values() for each in dict.fromkeys(names))
    return {
        name: next((each for each in names if taken[each] == 1), names[0]) for name, names in possible.items()
    }


class GeneratorNames:
    """The generators of a service by their short names, and a replacement of their paths by those."""

    def __init__(self, generators: Iterable[str]) -> None:
        """Name `generators`, which are written as in the settings."""
        self.short: Mapping[str, str] = short_names(generators)
        self._full = {short: name for name, short in self.short.items()}

    def full(self, short: str) -> str:
        """Return the generator of a short name as the settings write it."""
        return self._full.get(short, short)

    def shown(self, name: str) -> str:
        """Return the short name of a generator, or of another model that answers name."""
        return self.short.get(name) or published_name(name)

    def outside(self, event: Event) -> Event:
        """Return an event with short names."""
        if isinstance(event, Notice):
            return Notice(self._text(event.text))
        if not isinstance(event, Done):
            return event
        answer = event.answer
        models = {part: self.shown(name) for part, name in answer.models.items()}
        notices = tuple(map(self._text, answer.notices))
        return replace(event, answer=replace(answer, models=models, notices=notices))

    def hide(self, error: CitewellError) -> None:
        """Give an error short names."""
        error.message, error.hint = self._text(error.message), self._text(error.hint)
        error.args = (error.message,)

    def _text(self, text: str) -> str:
        for name, short in self.short.items():
            if name != short:
                for written in (str(Path(name).expanduser().absolute()), name):
                    text = text.replace(written, short)
        return text


def generator_names(settings: Settings) -> GeneratorNames:
    """Return the names of the generators that the settings name."""
    return GeneratorNames((settings.generator.name, *settings.server.generators))


def _possible(name: str) -> tuple[str, ...]:
    """Return the names that a generator may have, best first."""
    path = Path(name).expanduser()
    if not (path.is_absolute() or name.startswith(".") or path.suffix == _GGUF or path.exists()):
        return (name,)
    *folders, last = path.absolute().parts[1:] or (name,)
    stem = last.removesuffix(_GGUF)
    longer = ("/".join((*folders[-count:], stem)) for count in range(1, len(folders) + 1))
    return (stem, *longer, last)
