"""A model server that reads and judges: what it answers to questions and to judges' prompts is the test's."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from model_server import Behaviour, Call, Canned, ModelServer, prompt_of, whole

from om_bench.judged.memories import JudgedGround
from om_workers.calls.registry import Registry

Answers = Callable[[str, str], str]


class ReadingModel(ModelServer):
    """Answers a reader by `read(system, prompt)` and a judge by `judge(system, prompt)`; an Observer as a ModelServer does.

    `asked` counts each question and judgement by its role and the line that tells what it is about. `gets` replaces an answer
    by another behaviour, where it is not None, by role and number of the call.
    """

    def __init__(
        self,
        read: Answers = lambda _system, _prompt: "It was Ghent.",
        judge: Answers = lambda _system, _prompt: "yes",
        gets: Callable[[str, int], Behaviour | Canned | None] = lambda _role, _n: None,
        delay: float = 0.0,
    ) -> None:
        super().__init__(delay=delay)
        self._answers, self._gets = {"read": read, "judge": judge}, gets
        self.prompts: list[tuple[str, str, str]] = []  # role, system, prompt

    def begin(self, request: dict[str, Any], headers: Mapping[str, str], path: str) -> Call:
        call = super().begin(request, headers, path)
        system, prompt = _said(request)
        role = "read" if system.startswith("You answer") else "judge" if system.startswith("You judge") else "observe"
        self.prompts.append((role, system, prompt))
        if (instead := self._gets(role, call.n)) is not None:
            return call._replace(behaviour=instead)
        if role == "observe":
            return call
        return call._replace(behaviour=Canned(200, whole(request, self._answers[role](system, prompt))))

    def asked(self, role: str) -> Counter[str]:
        """How often it was asked each thing in a role."""
        return Counter(prompt for each, _, prompt in self.prompts if each == role)


def _said(request: dict[str, Any]) -> tuple[str, str]:
    if "contents" in request:
        return str(request["systemInstruction"]["parts"][0]["text"]), prompt_of(request)
    return str(request["messages"][0]["content"]), prompt_of(request)


def configured(folder: Any, url: str, **more: Any) -> Any:
    """A folder of settings in which the model `fake` is served at an address."""
    folder.mkdir(exist_ok=True)
    lines = ["models:", "  fake:", f"    base_url: {url}", "    prices: {input: 1, output: 2}"]
    (folder / "observational-memory.yaml").write_text("\n".join([*lines, *(f"    {k}: {v}" for k, v in more.items())]))
    return folder


def grounded(url: str, settings: Any, observer: str = "extractive") -> JudgedGround:
    """What memories of a run stand on, of a store at an address."""
    changed = (f"observer_model={observer}", f"reflector_model={observer}")
    return JudgedGround(url, changed, settings, Registry(settings))
