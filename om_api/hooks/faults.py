"""What can be wrong with a hook, beside what it raises itself."""

from om_api.domain.errors import OMError


class MissingHookError(OMError):
    """There is no such hook here, or its secret is not."""


class AnswerError(OMError):
    """A hook answered with what nobody can use."""
