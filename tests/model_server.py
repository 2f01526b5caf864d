"""An HTTP server that speaks chat completions and Gemini, and misbehaves by plan, for workers that use the real SDKs.

    with ModelServer(seeded_plan(7, {Behaviour.stall: 0.05, Behaviour.error_500: 0.1})) as server:
        ...  # models: {fake: {base_url: <server.url>}, other: {provider: gemini, base_url: <server.root>}}

Messages that carry marks such as `[[w1-17]]` can be traced: every mark that an Observer is shown among the messages,
and every one in a Reflector's memory, stands in the good answer.
"""

import contextlib
import enum
import json
import random
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self, TypeAlias

_GEMINI = re.compile(r"/v\w+/models/[^/:]+:generateContent")
_GEMINI_REASONS = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
_MARK = re.compile(r"\[\[[A-Za-z0-9._:-]+\]\]")
_DAY = re.compile(r"([A-Z][a-z]{2} \d{1,2}) (\d{4}):")
_THREAD = re.compile(r"^(<thread id=\"[^\"\n]+\">)\n(.*?)\n</thread>$", re.DOTALL | re.MULTILINE)
_MARKS_A_LINE = 50
_LONGEST_NOTE = 80  # characters of a message that its note repeats
_STALL_S, _DRIP_S, _ENDLESS = 30.0, 0.05, 10**9
_NOBODY = "I'm sorry, but I cannot help with taking notes of this conversation."
_GARBAGE = b"<<<\x00\xff upstream connect error \xfe>>>"


class Behaviour(enum.Enum):
    """What a call gets."""

    answer = "answer"  # a good one
    stall = "stall"  # nothing for half a minute, then the connection is closed
    error_500 = "error_500"
    error_429 = "error_429"  # with Retry-After: 1
    garbage = "garbage"  # 200 with bytes that are no JSON
    refusal = "refusal"  # 200 with fluent text, none of our tags
    empty = "empty"  # 200 with empty content
    drop = "drop"  # the connection is closed in the middle of a good answer
    length = "length"  # 200, finish_reason length: the text ends within its notes
    drip = "drip"  # 200, then a blank now and then for as long as the client waits
    blocked = "blocked"  # 200, finish reason content_filter or SAFETY, no content


class Canned(NamedTuple):
    """An answer of the test's own; a body that is no bytes is sent as JSON."""

    status: int
    body: Any
    headers: Mapping[str, str] = {}


Gets: TypeAlias = "Behaviour | Canned"
Plan: TypeAlias = "Callable[[int, str], Gets]"


class Call(NamedTuple):
    """One call: its number from 1, `observe` or `reflect`, what it got, the marks it showed, and when (monotonic s).

    `ended` is None while it hangs; it is when the server had no more to do with it, whether or not the client heard.
    """

    n: int
    purpose: str
    behaviour: Gets
    marks: tuple[str, ...]
    started: float
    ended: float | None = None


def seeded_plan(seed: int, weights: Mapping[Behaviour, float]) -> Plan:
    """A plan in which the n-th call always gets the same, whichever thread makes it.

    `weights` are shares; what is missing to 1 goes to good answers, unless `answer` has a weight of its own.
    """
    shares = {Behaviour.answer: max(0.0, 1.0 - sum(weights.values())), **weights}

    def plan(n: int, purpose: str) -> Behaviour:
        (chosen,) = random.Random(f"{seed}:{n}").choices(list(shares), list(shares.values()))
        return chosen

    return plan


class ModelServer:
    """A model on a free port of this machine while the `with` block lasts: `url` for OpenAI's protocol, `root` for Gemini's.

    `plan(n, purpose)` says what the n-th call gets, counted from 1; without a plan every call gets a good answer.
    `delay` (s) is how long it thinks before anything but a stall. Leaving the block ends whatever hangs. `calls` grows by one
    a call; `last` is the newest request as it came, `last_path` where to.
    """

    def __init__(self, plan: "Plan | None" = None, delay: float = 0.0) -> None:
        self.calls: list[Call] = []
        self.last: dict[str, Any] = {}
        self.last_headers: dict[str, str] = {}
        self.last_path = ""
        self.plan: Plan = plan or (lambda n, purpose: Behaviour.answer)
        self.delay = delay
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._http = _Server(("127.0.0.1", 0), self)
        self.root = f"http://127.0.0.1:{self._http.server_port}"
        self.url = f"{self.root}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.05,), name="model-server", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._http.shutdown()
        self._http.server_close()

    def begin(self, request: dict[str, Any], headers: Mapping[str, str], path: str) -> Call:
        """Note a call and decide what it gets."""
        prompt = prompt_of(request)
        purpose = "reflect" if section(prompt, "memory") else "observe"
        with self._lock:
            n = len(self.calls) + 1
            call = Call(n, purpose, self.plan(n, purpose), marks(shown(prompt)), time.monotonic())
            self.calls.append(call)
            self.last, self.last_path = request, path
            self.last_headers = {name.lower(): value for name, value in headers.items()}
        return call

    def end(self, call: Call) -> None:
        """Note when a call was over."""
        with self._lock:
            self.calls[call.n - 1] = call._replace(ended=time.monotonic())

    def wait(self, seconds: float) -> None:
        """Let time pass, but no longer than the server lives."""
        self._over.wait(seconds)

    @property
    def over(self) -> bool:
        """Whether the server is ending."""
        return self._over.is_set()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], model: ModelServer) -> None:
        self.model = model
        self._open: set[socket.socket] = set()
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        super().server_close()
        for connection in list(self._open):  # kept alive by clients
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that hung up is what it does when it runs out of patience."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body leave together
    server: _Server

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if self.path != "/v1/chat/completions" and not _GEMINI.fullmatch(self.path):
            self._send(404, {"error": {"message": f"no such path: {self.path}"}})
            return
        model = self.server.model
        call = model.begin(request, dict(self.headers.items()), self.path)
        try:
            if call.behaviour is not Behaviour.stall:
                model.wait(model.delay)
            self._behave(call.behaviour, request)
            self.wfile.flush()
        finally:
            model.end(call)

    def _behave(self, gets: Gets, request: dict[str, Any]) -> None:
        if isinstance(gets, Canned):
            self._send(gets.status, gets.body, gets.headers)
        elif gets is Behaviour.stall:
            self.server.model.wait(_STALL_S)
            self.close_connection = True
        elif gets is Behaviour.drop:
            body = _json(whole(request, answer_to(request)))
            self._send(200, body[: len(body) // 2], {"Content-Length": str(len(body))})
            self.close_connection = True
        elif gets is Behaviour.drip:
            self._drip()
        else:
            self._send(*_answers(gets, request))

    def _send(self, status: int, body: Any, headers: Mapping[str, str] = {}) -> None:
        raw = body if isinstance(body, bytes) else _json(body)
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(raw)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def _drip(self) -> None:
        self._send(200, b"", {"Content-Length": str(_ENDLESS)})
        while not self.server.model.over:
            self.wfile.write(b" ")
            self.wfile.flush()
            self.server.model.wait(_DRIP_S)
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  its name in the base class
        """Say nothing: tests read `calls`."""


def _answers(gets: Behaviour, request: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
    good = answer_to(request)
    cut = good[: max(1, good.rfind("\n", 0, good.rfind("</observations>")))]
    return {
        Behaviour.answer: (200, whole(request, good), {}),
        Behaviour.refusal: (200, whole(request, _NOBODY), {}),
        Behaviour.empty: (200, whole(request, ""), {}),
        Behaviour.length: (200, whole(request, cut, "length"), {}),
        Behaviour.blocked: (200, whole(request, None, "content_filter"), {}),
        Behaviour.garbage: (200, _GARBAGE, {}),
        Behaviour.error_500: (500, {"error": {"message": "internal error"}}, {}),
        Behaviour.error_429: (429, {"error": {"message": "rate limit reached"}}, {"Retry-After": "1"}),
    }[gets]


def whole(request: dict[str, Any], text: str | None, reason: str = "stop") -> dict[str, Any]:
    """An answer in the wire format of the request."""
    return (generated if "contents" in request else completion)(request, text, reason)


def prompt_of(request: dict[str, Any]) -> str:
    """What a request asks in the end, in either wire format."""
    if "contents" in request:
        return str(request["contents"][-1]["parts"][-1]["text"])
    return str(request["messages"][-1]["content"])


def completion(request: dict[str, Any], text: str | None, reason: str = "stop") -> dict[str, Any]:
    """A chat completion; usage is a token for four characters, a quarter of the input cached."""
    asked = sum(len(message["content"]) for message in request["messages"]) // 4
    told = len(text or "") // 4
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": request["model"],
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": asked,
            "completion_tokens": told,
            "total_tokens": asked + told,
            "prompt_tokens_details": {"cached_tokens": asked // 4},
        },
    }


def generated(request: dict[str, Any], text: str | None, reason: str = "stop") -> dict[str, Any]:
    """The same of Gemini, after a thought."""
    system = request["systemInstruction"]["parts"][0]["text"]
    asked, told = (len(system) + len(prompt_of(request))) // 4, len(text or "") // 4
    parts = [] if text is None else [{"text": "hm, <observations>", "thought": True}, {"text": text}]
    found = {"content": {"role": "model", "parts": parts}, "finishReason": _GEMINI_REASONS[reason], "index": 0}
    return {
        "candidates": [found],
        "usageMetadata": {
            "promptTokenCount": asked,
            "cachedContentTokenCount": asked // 4,
            "candidatesTokenCount": told - told // 3,
            "thoughtsTokenCount": told // 3,
            "totalTokenCount": asked + told,
        },
        "modelVersion": "gemini",
    }


def answer_to(request: dict[str, Any]) -> str:
    """The good answer: a note for every marked message, by threads if there are several; or the marks of a memory in as few
    lines as they fit."""
    prompt = prompt_of(request)
    lines = list(_condensed(prompt) if section(prompt, "memory") else _observed(shown(prompt)))
    return "\n".join(["<observations>", *(lines or ["* 🟢 Nothing of note was said"]), "</observations>"])


def _observed(messages: str) -> Iterator[str]:
    threads = _THREAD.findall(messages)
    for opening, transcript in threads:
        yield from (opening, *_noted(transcript), "</thread>")
    if not threads:
        yield from _noted(messages)


def _noted(transcript: str) -> Iterator[str]:
    for line in transcript.splitlines():
        if day := _DAY.fullmatch(line):
            yield f"Date: {day[1]}, {day[2]}"
        for mark in _MARK.findall(line):
            words = " ".join(line.partition(mark)[2].split())[:_LONGEST_NOTE]
            yield f"* 🟡 {mark} {words}".rstrip()


def _condensed(prompt: str) -> Iterator[str]:
    found = marks(section(prompt, "memory"))
    for start in range(0, len(found), _MARKS_A_LINE):
        yield f"* 🟡 {' '.join(found[start : start + _MARKS_A_LINE])}"


def shown(prompt: str) -> str:
    """What a request is about: its messages, or its memory; not the observations that came before."""
    return section(prompt, "memory") or section(prompt, "messages")


def section(prompt: str, name: str) -> str:
    """What stands in a section of a prompt; "" if it has none. Nothing that was said can open or close one."""
    found = re.search(rf"(?:\A|\n)<{name}>\n(.*?)\n</{name}>(?:\n|\Z)", prompt, re.DOTALL)
    return found[1] if found else ""


def marks(text: str) -> tuple[str, ...]:
    """The marks of a text, each once, in their order."""
    return tuple(dict.fromkeys(_MARK.findall(text)))


def _json(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()
