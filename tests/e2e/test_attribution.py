"""A resource with four interleaved threads, through two generations, asked from each thread at every look."""

import re

from world import World

from om_workers.llm.base import Reply, Request

_THREADS = ("alpha", "beta", "gamma", "delta")


class Faithful:
    """A model that notes each message under its own words, names the thread's task, and keeps sections when reflecting."""

    name = "faithful"

    def complete(self, request: Request) -> Reply:
        if request.purpose == "reflect":
            lines = "\n".join(request.observations)
            return Reply(text=f"<observations>\n{lines}\n</observations>", model=self.name)
        sections = [f'<thread id="{name}">\n{_noted(said)}\n</thread>' for name, said in request.threads.items()]
        return Reply(text="\n".join(sections) or _noted(request.messages), model=self.name)


def _noted(messages) -> str:
    lines = "\n".join(f"* 🟡 ({9 + n % 9:02}:00) {message.text()}" for n, message in enumerate(messages))
    task = messages[-1].text().split()[0]
    notes = f"<observations>\nDate: Jan 5, 2026\n{lines}\n</observations>"
    return f"{notes}\n<current-task>\nPrimary: {task}\n</current-task>"


def _sections(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, body in re.findall(r'<thread id="([^"]+)">\n(.*?)\n</thread>', text, re.DOTALL):
        found[name] = found.get(name, "") + body
    return found


def _memory_text(context) -> str:
    return "\n".join(block.text for block in context.blocks if block.kind in {"reflection", "observations"})


def test_every_thread_sees_who_said_what_and_has_its_own_task_through_two_generations(client, prefix):
    world = World(client, prefix, model=Faithful(), observation_threshold="600", min_recent_messages="1")
    said: dict[str, list[str]] = {thread: [] for thread in _THREADS}
    for n in range(96):
        thread = _THREADS[n % 4]
        said[thread].append(f"{thread}-{n} happened in {thread}")
        world.say(said[thread][-1], thread=thread, tokens=60)
        world.tick()
        for viewer in _THREADS:
            _check(world, viewer, said)
    assert len(world.om.generations("harold")) >= 2
    world.settle()
    tasks = {state.id: state.current_task for state in world.om.threads("harold")}
    assert all(tasks[thread].startswith(f"Primary: {thread}-") for thread in _THREADS)


def _check(world, viewer, said):
    context = world.context(viewer)
    memory = _memory_text(context)
    for thread, body in _sections(memory).items():
        foreign = [text for other in _THREADS if other != thread for text in said[other] if f"{text}\n" in f"{body}\n"]
        assert foreign == []
    raw = [message.text() for message in context.messages]
    for text in said[viewer]:
        assert (text in raw) + len(re.findall(re.escape(text) + r"(?=\n|$)", memory)) == 1
    volatile = context.blocks[-1].text if context.blocks[-1].kind == "volatile" else ""
    for other in _THREADS:
        unobserved = [text for text in said[other] if other != viewer and text not in memory]
        if unobserved:
            assert f'<unobserved-context thread="{other}">' in volatile
            assert unobserved[-1] in volatile
    if task := next((s.current_task for s in world.om.threads("harold") if s.id == viewer), ""):
        assert task in volatile
