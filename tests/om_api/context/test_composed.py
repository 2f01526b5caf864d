"""Where other memories' notes stand: by when they came in force, in steps, within each memory's room."""

from snapshots import count as words

from om_api.context.composed import OwnTimes, composition
from om_api.context.signature import Signer
from om_api.context.stable import stable_blocks
from om_api.domain.snapshot import ComposedNotes
from om_api.domain.values import Generation, Observation, SharedFrom, Stored

BEGAN = 1_763_600_000_000
NEVER = OwnTimes(0, 0, BEGAN)


def noted(name, at, tokens=100, text="", **fields):
    text = text or f"* {name}" + " x" * (tokens - 2)
    made = Observation(
        id=name, thread_id="t-1", text=text, tokens=tokens, activation=f"a-{name}", activated_at=at,
        **fields,
    )  # fmt: skip
    return Stored(0.0, made, b"")


def notes(resource, *observations, most=4_000, text=""):
    generation = Generation(n=1, text=text) if text else None
    return ComposedNotes(resource=resource, observations=list(observations), generation=generation, max_tokens=most)


def arranged(composed, own=(), times=NEVER, whose="harold"):
    return composition(composed, list(own), times, whose, words)


def names(found):
    return [each.id for block in found.stable for each in block.group]


def news(found):
    return [each.id for one in found.news for each in one.observations]


def test_what_another_memory_was_told_of_this_one_is_not_shown_again():
    told, other = (noted(name, BEGAN, shared_from=SharedFrom(resource=name)) for name in ("harold", "berta"))

    own = noted("own", BEGAN + 60_000)
    assert names(arranged([notes("org", told, other)], [own])) == ["berta", "own"]
    assert names(arranged([notes("org", told, other)], [own], whose="")) == ["harold", "berta", "own"]


def test_the_oldest_go_by_half_the_room_at_a_time_and_are_counted():
    seen, gone = [], []
    for n in range(1, 80):
        some = [noted(f"n-{m}", BEGAN - 10**6 + m, tokens=60) for m in range(n)]
        found = arranged([notes("org", *some, most=4_000)])
        (told,) = found.news
        shown = names(found)
        assert shown == [f"n-{m}" for m in range(n - len(shown), n)]
        assert told.left_out == n - len(shown)
        assert 60 * len(shown) <= 3_000
        seen.append(shown)
        gone.append(told.left_out)
    assert len({*gone}) <= 5


def test_stored_tokens_of_another_memory_are_not_believed():
    for false in ({"tokens": 1}, {"tokens": 5, "wrapper_tokens": 10**12}):
        some = [noted(f"n-{n}", BEGAN - 10**6 + n, text="word " * 1_000, **false) for n in range(10)]
        found = arranged([notes("org", *some)])
        assert 0 < len(names(found)) <= 3, false
        blocks = stable_blocks([], None, Signer("5e"), True, composed=found, count=words)
        assert sum(block.tokens for block in blocks if block.resource_id) >= 1_000 * len(names(found)), false


def test_a_generation_that_is_too_long_shows_its_newest_lines():
    text = "\n".join(f"line {n}" for n in range(1_000))
    (generation,) = arranged([notes("org", text=text, most=400)]).generations

    assert generation.text.endswith("line 999")
    assert words(generation.text) <= 200
    assert generation.cut == 1_000 - len(generation.text.split("\n"))
    (generation,) = arranged([notes("org", text='common\n<thread id="t-9">\nnoted there\n</thread>')]).generations
    assert generation.text == "common\nnoted there"  # headings of another memory's threads are not shown
