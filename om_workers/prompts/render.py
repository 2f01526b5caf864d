"""What we ask the models: requests made of prompts, prior notes and messages."""

from collections.abc import Callable, Mapping, Sequence
from string import Template
from typing import Any, NotRequired, TypedDict, Unpack

from om_api.domain.kept.extractors import Extractor
from om_api.domain.messages import Message
from om_api.domain.tags import escape, without_brackets
from om_api.language.calendar import zone_of
from om_api.language.telegraphic import NoteStyle
from om_workers.llm.base import Request
from om_workers.prompts import further
from om_workers.prompts.further import Priors
from om_workers.prompts.library import DEFAULT, guidance, prompt
from om_workers.prompts.previous import trim_previous
from om_workers.prompts.recalled import NOTE, NOTHING_SHOWN, Shown
from om_workers.prompts.threads import thread_section, with_threads
from om_workers.prompts.transcript import format_messages, format_threads

_MOST_DROPPED = 8_000
_SHORTENED = (
    "The previous observations were shortened for you; the agent still has all of them. Something that you do not find"
    " above may have been noted already."
)

_NOTHING = "(nothing of these messages can be shown: there is nothing to note)"


class ReflectorManner(TypedDict):
    """How an agent's Reflector is asked; `instruction` is the operator's own addition to the prompt, `timeout` in seconds."""

    instruction: str | None
    timezone: str
    temperature: float
    timeout: float
    variant: NotRequired[str]


class Manner(ReflectorManner):
    """How an agent's Observer is asked: of the observations before, `previous_tokens` are shown, as `count` counts.

    `style` is for the extractive one. `extractors` are the sections that are wanted beside the notes.
    """

    previous_tokens: int
    count: Callable[[str], int]
    style: NotRequired[NoteStyle]
    extractors: NotRequired[tuple[Extractor, ...]]


def observer_request(
    messages: Sequence[Message],
    previous: Sequence[str],
    *,
    prior_task: str = "",
    known: Shown = NOTHING_SHOWN,
    kept: Priors | None = None,
    **manner: Unpack[Manner],
) -> Request:
    """Ask an Observer for notes of `messages`, oldest first: prior memory, history, and the task last.

    `previous` are observations' texts, oldest first; `known` tells what the agent was shown of its memory, `kept`
    what the sections of extractors say so far. Raises SettingsError for an unknown variant.
    """
    return _observing(
        previous,
        _tagged("current-task", escape(prior_task.strip())),
        format_messages(_noted(messages, known), manner["timezone"], manner["count"]),
        _ask("observer_task", manner, _reminder(manner)),
        manner,
        kept or {},
        messages=_heard(messages, known),
        task=prior_task,
    )


def batch_request(
    threads: Mapping[str, Sequence[Message]],
    previous: Sequence[str],
    *,
    prior_tasks: Mapping[str, str] | None = None,
    known: Shown = NOTHING_SHOWN,
    kept: Priors | None = None,
    **manner: Unpack[Manner],
) -> Request:
    """Ask an Observer for notes of several threads in one call; `parse_batch` reads the answer thread by thread.

    As `observer_request`, with the messages of each thread, oldest first, in a section of its own, and the current tasks
    by thread. Raises SettingsError for an unknown variant.
    """
    given = {name: _heard(messages, known) for name, messages in threads.items()}
    shown = {name: _noted(messages, known) for name, messages in threads.items()}
    return _observing(
        previous,
        _tagged("current-task", _tasks(threads, prior_tasks or {})),
        format_threads(shown, manner["timezone"], manner["count"]),
        _ask("observer_batch_task", manner, _reminder(manner)),
        manner,
        kept or {},
        messages=tuple(message for messages in given.values() for message in messages),
        threads=given,
        tasks=dict(prior_tasks or {}),
    )


def _noted(messages: Sequence[Message], known: Shown) -> list[Message]:
    """The messages as a transcript shows them: a note stands where the agent was shown its memory."""
    return [known.without(message, NOTE) for message in messages]


def _heard(messages: Sequence[Message], known: Shown) -> tuple[Message, ...]:
    """The messages as somebody hears them who reads values."""
    return tuple(known.without(message, "") for message in messages)


def _reminder(manner: Manner) -> str:
    return further.reminder(manner.get("extractors", ()), manner.get("variant", DEFAULT))


def _observing(
    previous: Sequence[str], prior: str, said: str, asked: str, manner: Manner, kept: Priors, **given: Any
) -> Request:
    """An Observer's request of its sections in their order, and what is `given` in values."""
    shown, notes = _shown(previous, manner["previous_tokens"], manner["count"])
    extractors = manner.get("extractors", ())
    written = _joined([notes, prior, further.kept(extractors, kept), _tagged("messages", said or _NOTHING), asked])
    beside: dict[str, Any] = {"style": manner.get("style", "sentences"), "extractors": extractors, "previous": shown}
    beside["kept"] = {thread: dict(values) for thread, values in kept.items()}
    wanted = further.asked_for(extractors, manner.get("variant", DEFAULT))
    return _request("observer", manner, wanted, purpose="observe", prompt=written, **beside, **given)


def reflector_request(
    texts: Sequence[str],
    *,
    target_tokens: int,
    level: int,
    dropped: Sequence[str] = (),
    pinned: Sequence[str] = (),
    sent_back: tuple[str, str] | None = None,
    extractors: tuple[Extractor, ...] = (),
    kept: Priors | None = None,
    **manner: Unpack[ReflectorManner],
) -> Request:
    """Ask a Reflector to condense `texts`, oldest first, the generation in force before all; the task comes last.

    `level` says how hard to press: 0 not at all, 4 the hardest. `dropped` is what an earlier answer left out; it stands
    before the task, in at most 8,000 characters, behind the lines that are `pinned`. `sent_back` is a text that was not
    approved, and the reviewer's comment. `extractors` are further sections, which say `kept` so far. Raises SettingsError.
    """
    memory = _tagged("memory", "\n\n".join(filter(None, map(with_threads, texts))))
    missing, stays, variant = _list(dropped), "\n".join(map(without_brackets, pinned)), manner.get("variant", DEFAULT)
    named = {"reflector_dropped": missing, "reflector_pinned": stays, "reflector_sent_back": sent_back}
    pressed = [guidance(level, variant), *(prompt(name, variant) for name, there in named.items() if there)]
    pressed += [further.reminder(extractors, variant, "reflector_further")]
    size = f"The whole answer must be shorter than {target_tokens:,} tokens." if target_tokens > 0 else ""
    asked = _ask("reflector_task", manner, _joined([*pressed, size]))
    beside = [_tagged("pinned", stays), _tagged("dropped", missing), *_reviewed(*(sent_back or ("", "")))]
    said = _joined([memory, further.kept(extractors, kept or {}), *beside, asked])
    given: dict[str, Any] = {"target_tokens": target_tokens, "level": level, "observations": tuple(texts)}
    wanted = further.asked_for(extractors, variant, "reflector_further_sections")
    return _request("reflector", manner, wanted, purpose="reflect", prompt=said, **given)


def _reviewed(text: str, comment: str) -> tuple[str, str]:
    """What was sent back, and what its reviewer said to it."""
    return _tagged("sent-back", with_threads(text)), _tagged("review-comment", escape(comment.strip()))


def _request(name: str, manner: ReflectorManner, further: str = "", **given: Any) -> Request:
    own = (manner["instruction"] or "").strip()
    system = [prompt(name, manner.get("variant", DEFAULT)), further, own and f"# Instructions for this agent\n\n{own}"]
    return Request(
        system=_joined(system),
        temperature=manner["temperature"],
        timeout=manner["timeout"],
        timezone=manner["timezone"],
        **given,
    )


def _ask(name: str, manner: ReflectorManner, pressed: str = "") -> str:
    task = Template(prompt(name, manner.get("variant", DEFAULT))).substitute(timezone=zone_of(manner["timezone"]).key)
    return _tagged("task", _joined([task, pressed]))


def _shown(previous: Sequence[str], tokens: int, count: Callable[[str], int]) -> tuple[str, str]:
    """What is shown of earlier observations, and the same as a section, with a word on what was left out."""
    noted = "\n".join(line for text in previous for line in text.split("\n") if line.strip())
    shown = trim_previous(noted, tokens, count)
    section = _tagged("previous-observations", with_threads(shown))
    return shown, _joined([section, _SHORTENED if shown != noted else ""])


def _tasks(threads: Mapping[str, Sequence[Message]], prior: Mapping[str, str]) -> str:
    said = {name: escape(prior.get(name, "").strip()) for name in threads}
    return "\n".join(thread_section(name, text) for name, text in said.items() if text)


def _tagged(name: str, text: str) -> str:
    return f"<{name}>\n{text}\n</{name}>" if text else ""


def _list(dropped: Sequence[str]) -> str:
    """What was dropped, an item each, as many as there is room for."""
    lines, room = list[str](), _MOST_DROPPED
    for text in dropped:
        line = escape(f"- {' '.join(text.split())}")
        room -= len(line) + 1
        if room < 0:
            break
        lines.append(line)
    return "\n".join(lines)


def _joined(texts: Sequence[str]) -> str:
    return "\n\n".join(filter(None, texts))
