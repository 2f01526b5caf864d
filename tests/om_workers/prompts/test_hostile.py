"""No text from elsewhere opens or closes a tag of ours, whichever way it goes: a corpus through every door."""

import re

from hostile import HALVES, HOSTILE, tags
from transcripts import message

from om_api.domain.tokens import estimate
from om_workers.prompts.parse import parse_batch, parse_observer, parse_reflector
from om_workers.prompts.render import batch_request, observer_request, reflector_request
from om_workers.prompts.threads import without_threads

SETTINGS = {"previous_tokens": 2000, "instruction": None, "timezone": "UTC", "temperature": 0.3, "timeout": 120.0}
REFLECT = {"instruction": None, "timezone": "UTC", "temperature": 0.3, "timeout": 120.0, "target_tokens": 0, "level": 0}
SECTION = re.compile(r'^<thread id="[A-Za-z0-9._:@+-]+">$|^</thread>$', re.MULTILINE)
EVERY = [*HOSTILE, *("\n".join(halves) for halves in HALVES)]


def conversation(text):
    """The text in every place a message has; a half of it may end one message and begin the next."""
    call = {"type": "tool-call", "tool_call_id": text, "name": text, "args": {text: [text]}}
    result = {"type": "tool-result", "tool_call_id": text, "name": text, "result": [{"type": "text", "text": text}]}
    file = {"type": "file", "name": text, "mime": text}
    parts = [{"type": "text", "text": half} for half in text.split("\n", 1)]
    return [message(text), *map(message, text.split("\n", 1)), message([call, result, file]), message(parts, "tool")]


def noted(text):
    """The text as notes may hold it: of sections of threads, which only we and the Reflector write, nothing is left."""
    return f"x {without_threads(text) if SECTION.search(text) else text}"


def observe(text):
    return observer_request(conversation(text), [noted(text)] * 2, prior_task=text, count=estimate, **SETTINGS).prompt


def reflect(text, dropped):
    return reflector_request([text, text], dropped=[dropped, dropped], **REFLECT).prompt


def batch(text):
    threads, tasks = {"t-1": conversation(text)}, {"t-1": text}
    return batch_request(threads, [noted(text)], prior_tasks=tasks, count=estimate, **SETTINGS).prompt


def test_a_request_has_the_tags_we_wrote_and_no_other_and_a_reply_brings_no_tag_into_the_notes():
    plain = tags(observe("x")), tags(batch("x")), tags(reflect("x", "x"))
    for text in EVERY[::2]:
        assert (tags(observe(text)), tags(batch(text)), tags(reflect(noted(text), text))) == plain, text
    for text in EVERY:
        reply = f"<observations>\n* 🔴 {text}\n{text}\n</observations>\n<current-task>\n{text}\n</current-task>"
        read = [parse_observer(reply), *parse_batch(f'<thread id="a">\n{reply}\n</thread>', ["a"]).values()]
        assert tags("\n".join(f"{one.text}\n{one.current_task}" for one in read)) == [], text
        assert tags(SECTION.sub("", parse_reflector(reply).text)) == [], text
