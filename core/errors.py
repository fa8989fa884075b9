"""Errors that say what went wrong and what to do about it."""


class CitewellError(Exception):
    """A failure that a user can understand and mend.

    `message` says what was tried and what went wrong; `hint` says what to do.
    The command line prints both and exits with `exit_code`.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InputError(CitewellError):
    """The question, the file or the option cannot be used as given."""

    exit_code = 2


class SettingsError(InputError):
    """A settings file, an environment variable or a flag is wrong."""


class SearchError(CitewellError):
    """A search provider could not answer."""


class FetchError(CitewellError):
    """A page could not be fetched; `message` is the reason reported for its URL."""


class ExtractionError(CitewellError):
    """A fetched page or a file holds no text that can be read."""


class CollectionError(CitewellError):
    """A collection is missing, damaged or cannot be written."""


class ModelError(CitewellError):
    """Model weights are missing, damaged or of a kind that cannot be loaded."""


class WeightsMissingError(ModelError):
    """Weights that could be installed are not."""
