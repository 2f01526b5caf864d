"""The tree of errors: one name catches them all, and each says what whoever catches it must know."""

import pytest

from om_api.domain import errors
from om_api.domain.errors import (
    BudgetReachedError,
    ModelError,
    NotPermittedError,
    NotReplicatedError,
    OMError,
    StoreError,
)

EVERY = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]


@pytest.mark.parametrize("kind", EVERY)
def test_one_name_catches_everything_that_is_raised_on_purpose(kind):
    assert issubclass(kind, OMError)


@pytest.mark.parametrize("kind", [errors.InvalidInputError, errors.SettingsError])
def test_what_a_caller_got_wrong_is_a_wrong_value_to_python_too(kind):
    assert issubclass(kind, ValueError)


@pytest.mark.parametrize("stored", [True, False, None])
def test_a_stores_error_says_what_became_of_the_write(stored):
    assert StoreError("away", stored=stored).stored is stored
    assert StoreError("away").stored is NotPermittedError("not yours").stored is False
    assert NotReplicatedError("on the primary alone").stored is None


def test_a_budget_that_is_reached_is_no_failure_and_is_worth_another_look():
    reached = BudgetReachedError("no more today", retry_after=60, instead="extractive")

    assert (reached.retryable, reached.retry_after, reached.why, reached.instead) == (True, 60, "budget", "extractive")
    assert (ModelError("no").retryable, ModelError("no").why) == (True, "other")
