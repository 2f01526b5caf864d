import pytest

from om_api import Message
from om_api.client.redacting import Redacting
from om_api.domain.errors import ModelError
from om_api.settings import load_settings
from om_api.store.driver.connection import Connection
from om_api.store.memory.keys import keys_of
from om_workers.calls.redacted_requests import RedactedRequests
from om_workers.llm.base import Reply, Request

EMAIL = "ada@example.com"
SAID = Message(role="user", content=f"to {EMAIL}", id="m-1", thread_id=EMAIL)
REQUEST = Request(purpose="observe", system=f"Instructions of {EMAIL}",
                  prompt=f'<thread id="{EMAIL}">\nto {EMAIL}\n</thread>', messages=(SAID,), threads={EMAIL: (SAID,)},
                  task=EMAIL, tasks={EMAIL: EMAIL}, observations=(EMAIL,), previous=EMAIL,
                  kept={"": {"contact": EMAIL}})  # fmt: skip


def _requests(client, prefix, **named):
    settings = load_settings(None, {"OM_PREFIX": prefix, **{f"OM_REDACTION__{n.upper()}": v for n, v in named.items()}})
    return RedactedRequests(Redacting(settings, keys_of(settings)), Connection(client))


def test_off_and_for_nobody_a_request_is_what_it_was(client, prefix):
    assert _requests(client, prefix).request("harold", REQUEST) is REQUEST
    assert _requests(client, prefix, before="model").request("", REQUEST) is REQUEST


@pytest.mark.parametrize("before", ["store", "model"])
def test_every_part_is_redacted_and_threads_keep_their_names(client, prefix, before):
    made = _requests(client, prefix, before=before).request("harold", REQUEST)
    assert made.prompt == f'<thread id="{EMAIL}">\nto [email]\n</thread>'
    assert list(made.threads) == list(made.tasks) == [EMAIL]
    values = (
        made.system, made.task, made.observations, made.previous, made.kept, made.tasks[EMAIL],
        made.messages[0].content,
    )  # fmt: skip
    assert EMAIL not in repr(values)
    assert made.threads[EMAIL][0].content == "to [email]"


def test_answers_are_redacted_and_nothing_is_sent_without_the_key(client, prefix, monkeypatch):
    reply = Reply(text=f'<thread id="{EMAIL}">\n* write to {EMAIL}\n</thread>', model="m")
    made = _requests(client, prefix, before="model").reply("harold", reply)
    assert made.text == f'<thread id="{EMAIL}">\n* write to [email]\n</thread>'
    monkeypatch.delenv("OM_SECRET_A", raising=False)
    with pytest.raises(ModelError, match="OM_SECRET_A") as error:
        _requests(client, prefix, before="model", key_env="OM_SECRET_A").request("harold", REQUEST)
    assert (error.value.retryable, error.value.retry_after) == (True, 60.0)
