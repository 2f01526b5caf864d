"""What a request may ask of recall is what the client takes, with the same defaults."""

import inspect
from typing import get_args

from om_api.client.async_memory import AsyncObservationalMemory
from om_api.domain.messages import ROLES
from om_api.http.requests.recall_questions import RecallQuestion, Speaker


def test_a_question_is_what_the_client_takes_and_what_is_left_out_is_the_clients_default():
    taken = inspect.signature(AsyncObservationalMemory.recall).parameters
    defaults = {name: taken[name].default for name in RecallQuestion._fields if name != "query"}

    assert set(taken) - {"self", "resource_id", "may_read"} == set(RecallQuestion._fields)
    assert defaults == RecallQuestion._field_defaults


def test_everybody_who_may_have_said_something_may_be_named():
    assert get_args(Speaker) == ROLES
