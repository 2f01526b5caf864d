"""Contents as ADK makes them of a session's events, and as a context becomes them."""

from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from hashlib import sha256
from itertools import count

from om_api.context import Context
from om_api.context.alternation import EARLIER
from om_api.integrations.importing import importing

with importing("google-adk", "google-adk"):
    from google.adk.events import Event
    from google.genai.types import Content, Part

_FRAMEWORKS = "adk_"  # what calls are named by which ADK asks for credentials and confirmations


def is_said(event: Event) -> bool:
    """Whether an event is part of the conversation, and whole."""
    parts = (event.content and event.content.parts) or []
    calls = [call.name or "" for part in parts if (call := part.function_call or part.function_response)]
    return bool(parts) and not event.partial and not any(name.startswith(_FRAMEWORKS) for name in calls)


def key_of(content: Content | None) -> Hashable:
    """What a content says, without the ids of calls: ADK takes its own off."""
    return tuple(map(_said, (content and content.parts) or ()))


def _said(part: Part) -> Hashable:
    call, result = part.function_call, part.function_response
    blob, file = part.inline_data, part.file_data
    asked = call and (call.name, repr(call.args))
    given = result and (result.name, repr(result.response))
    return part.text, asked, given, blob and blob.data, file and file.file_uri


def told_of(contents: Sequence[Content], events: Sequence[Event], agent: str) -> dict[int, Hashable]:
    """What another agent said, of each content by which ADK tells it to this one: `[name] said: ...` behind a preamble.

    By the `id()` of that content. They come in the order of the events.
    """
    said = [event for event in events if is_said(event)]
    own = {key_of(event.content) for event in said if event.author in {"user", agent}}
    others = deque(event for event in said if event.author not in {"user", agent})
    told: dict[int, Hashable] = {}
    for content in contents:
        names = [(part.text or "").partition("] ")[0] for part in (content.parts or ())[1:2]]
        is_told = names and names[0].startswith("[") and content.role == "user" and key_of(content) not in own
        author = names[0][1:] if is_told else ""
        while author and others:
            if (other := others.popleft()).author == author:
                told[id(content)] = key_of(other.content)
                break
    return told


def rendered(context: Context) -> list[Content]:
    """A context's contents, as models of Gemini take them: calls have no ids."""
    made = [Content.model_validate(each) for each in context.as_gemini()["contents"]]
    begun = made and made[0].parts and made[0].parts[0].text == EARLIER
    return made[1:] if begun else made  # it need not begin with a user, as more stands before it


def rendered_with_ids(context: Context) -> list[Content]:
    """The same for all other models, which tell by its id what a result is the result of."""
    made, asked, open_ids = rendered(context), count(), deque[str]()
    for part in _parts(made):
        if call := part.function_call:
            call.id = "call-" + sha256(f"{next(asked)} {call.name} {call.args}".encode()).hexdigest()[:24]
            open_ids.append(call.id)
        elif (result := part.function_response) and open_ids:
            result.id = open_ids.popleft()
    return made


def _parts(contents: Sequence[Content]) -> Iterator[Part]:
    for content in contents:
        yield from content.parts or ()
