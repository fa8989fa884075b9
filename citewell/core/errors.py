"""Errors that say what went wrong and what to do about it.

The exception hierarchy; packages add kinds of their own under the class that fits:

    CitewellError
    ├── InputError
    │   └── SettingsError
    ├── ServiceError
    │   ├── ServiceKeyMissingError
    │   ├── ServiceKeyRefusedError
    │   ├── ServiceQuotaError
    │   │   └── ServiceRateError
    │   ├── ServiceUnreachableError
    │   │   ├── ServiceLateError
    │   │   └── ServiceCutError
    │   ├── ServiceAnswerError
    │   └── ServicePausedError
    ├── FetchError
    ├── ExtractionError
    ├── CollectionError
    └── ModelError
        └── WeightsMissingError
"""


class CitewellError(Exception):
    """A failure that a user can understand and fix.

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


class ServiceError(CitewellError):
    """A service that is asked over HTTP, a search provider or a language model, could not answer.

    `kind` says why in one word, for programs. `retry_after` is how many seconds the service asked to be
    left alone, if it said so.
    """

    kind = "service"

    def __init__(self, message: str, hint: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(message, hint)
        self.retry_after = retry_after


class ServiceKeyMissingError(ServiceError):
    """The service needs an API key, and none is set."""

    kind = "no_key"


class ServiceKeyRefusedError(ServiceError):
    """The service does not accept the API key, or wants one and got none."""

    kind = "bad_key"


class ServiceQuotaError(ServiceError):
    """The requests that the key or the address is allowed are spent."""

    kind = "quota"


class ServiceRateError(ServiceQuotaError):
    """Too many requests in a short time: the same request may succeed a little later."""

    kind = "rate_limited"


class ServiceUnreachableError(ServiceError):
    """The service did not answer, answered too late, or failed on its own side."""

    kind = "unreachable"


class ServiceLateError(ServiceUnreachableError):
    """The service took much longer than another one, which has answered."""

    kind = "late"


class ServiceCutError(ServiceUnreachableError):
    """The service broke off in the middle of an answer."""

    kind = "cut"


class ServiceAnswerError(ServiceError):
    """The service refused the request, or its answer is not of the form that it documents."""

    kind = "bad_answer"


class ServicePausedError(ServiceError):
    """The service failed before and is left alone for a while."""

    kind = "paused"


class FetchError(CitewellError):
    """A page could not be fetched; `message` is the reason reported for its URL.

    `kind` is the same reason in one word, for programs; docs/formats.md lists them.
    """

    def __init__(self, message: str, hint: str = "", kind: str = "fetch") -> None:
        super().__init__(message, hint)
        self.kind = kind


class ExtractionError(CitewellError):
    """A fetched page or a file holds no text that can be read."""


class CollectionError(CitewellError):
    """A collection is missing, damaged or cannot be written."""


class ModelError(CitewellError):
    """Model weights are missing, damaged or of a kind that cannot be loaded."""


class WeightsMissingError(ModelError):
    """Weights that could be installed are not."""
