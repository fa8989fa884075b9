"""The exceptions of Citewell: each says what went wrong and what to do about it.

The hierarchy; packages add subclasses of their own:

    CitewellError
    ├── InputError
    │   └── SettingsError
    ├── ServiceError
    │   ├── ServiceKeyMissingError
    │   ├── ServiceKeyRefusedError
    │   ├── ServiceQuotaError
    │   │   └── ServiceRateError
    │   ├── ServiceUnreachableError
    │   │   ├── ServiceOfflineError
    │   │   ├── ServiceLateError
    │   │   └── ServiceCutError
    │   ├── ServiceAnswerError
    │   └── ServicePausedError
    ├── FetchError
    ├── ExtractionError
    ├── CollectionError
    └── ModelError
        ├── UnknownModelError
        └── WeightsMissingError
"""

from citewell.core.reasons import one_reason


class CitewellError(Exception):
    """An error to show to users.

    All errors that Citewell raises for users derive from it. `message` says what went wrong; `hint` says what
    to do about it. The command line prints both and exits with `exit_code`.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InputError(CitewellError):
    """A question, file or option is invalid."""

    exit_code = 2


class SettingsError(InputError):
    """A setting is invalid, in a file, an environment variable or an option."""


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
    """The service needs an API key, but none is set."""

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


class ServiceOfflineError(ServiceUnreachableError):
    """The names of services cannot be resolved: they are wrong, or this computer is offline."""

    kind = "offline"

    def __init__(self, *names: str) -> None:
        """`names` are those of the hosts."""
        some = f"The name {names[0]}" if len(names) == 1 else f"The names {', '.join(names)}"
        super().__init__(
            f"Offline? {some} cannot be resolved.",
            "Without a network, ask your own files: citewell index FOLDER --collection NAME, then name it.",
        )
        self.names = names


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
    """A page could not be fetched.

    `message` is the reason reported for its URL, as `one_reason` returns it.
    `kind` is the reason as one word, for programs; docs/formats.md lists the kinds.
    """

    def __init__(self, message: str, hint: str = "", kind: str = "fetch") -> None:
        super().__init__(one_reason(message), hint)
        self.kind = kind


class ExtractionError(CitewellError):
    """No text can be extracted from a page or file.

    `message` is the reason, as `one_reason` returns it.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(one_reason(message), hint)


class CollectionError(CitewellError):
    """A collection is missing, damaged or not writable."""


class ModelError(CitewellError):
    """Model weights are missing, damaged or of an unsupported format."""


class UnknownModelError(ModelError):
    """No model has that name, or it is of another kind."""

    exit_code = InputError.exit_code


class WeightsMissingError(ModelError):
    """Model weights are available but not installed."""
