"""What a client keeps of a resource: each chunk while it is what it was, and nothing changes that somebody else is reading."""

from scene import AT, member

from om_api.client.recall.recall_index import RecallIndex
from om_api.domain.values import Scope
from om_api.recall.segment import Segment, encode
from om_api.store.index.indexing import findable
from om_api.store.index.listing import Listing, MemoryPlace
from om_api.store.index.segments import Members, Stretch


def pairs(*numbers, thread="t1"):
    return [(member(n, thread), AT + n * 1000) for n in numbers]


def place(thread="t1", epoch="e1"):
    return MemoryPlace(thread, Scope("harold"), epoch, "0")


def listed(chunks=(), sources=(), raw=None, epoch="e1"):
    return Listing(
        now=AT,
        scope="resource",
        threads=frozenset({"t1", "t2"}),
        chunks={name: place("", epoch) for name in chunks},
        sources={name: place("t1", epoch) for name in sources},
        raw=raw or {},
    )


def segment(*numbers, thread="t1"):
    return Segment(encode(thread, findable(pairs(*numbers, thread=thread), thread, "harold")))


def looked(*what, **learned):
    """An index that was looked at, and was told what it lacked."""
    index = RecallIndex("harold", "auto")
    index.look(*what)
    index.learn(learned)
    return index


def test_what_is_not_known_yet_is_lacking_and_then_is_not():
    index, now = RecallIndex("harold", "auto"), listed(["c2"], ["o1"], {"t1": pairs(5)})
    first = index.look(now)
    index.learn({"o1": segment(1, 2), "c2": Members("t1", pairs(3, 4))})

    assert first == {"o1": place(), "c2": place("")}
    assert index.look(now) == {}
    assert [part.size for part in index.parts()] == [2, 2, 1]


def test_a_chunk_of_another_epoch_is_another_one():
    index = looked(listed(sources=["o1"]), o1=segment(1))

    assert index.look(listed(sources=["o1"], epoch="e2")) == {"o1": place(epoch="e2")}
    assert index.parts() == []


def test_what_is_listed_no_more_is_let_go():
    index = looked(listed(["c1"], ["o1"]), o1=segment(1), c1=segment(2))
    before = index.weight
    index.look(listed(["c1"]))

    assert [part.at(0) for part in index.parts()] == [AT + 2000]
    assert 0 < index.weight < before


def test_what_has_expired_is_not_asked_for_again():
    index, now = RecallIndex("harold", "auto"), listed(sources=["o1", "o2"])
    index.look(now)
    index.lose(["o1"])

    assert index.look(now) == {"o2": place()}
    assert index.look(listed(sources=["o1"], epoch="e2")) == {"o1": place(epoch="e2")}


def test_a_chunk_that_moved_is_read_again():
    index, now = looked(listed(sources=["o1", "o2"]), o1=segment(1), o2=segment(2)), listed(sources=["o1", "o2"])
    index.drop(["o1"])
    index.drop([])

    assert index.look(now) == {"o1": place()}


def test_a_thread_is_ordered_from_its_oldest_message_to_what_is_raw():
    raw = {"t1": pairs(0, 9), "t2": pairs(31, thread="t2"), "t3": []}
    index = looked(listed(["c2"], ["o1", "o3"], raw), c2=segment(5, 6), o1=segment(1), o3=segment(33, thread="t2"))

    assert index.order("t1") == [Stretch("t1", "o1", 0, 0), Stretch("t1", "c2", 0, 1), Stretch("t1", "", 0, 1)]
    assert index.order("t2") == [Stretch("t2", "o3", 0, 0), Stretch("t2", "", 0, 0)]
    assert index.order("t3") == []
    assert [each and each.id for each in index.raw(Stretch("t1", "", 1, 1))] == ["m9"]


def test_a_message_is_looked_for_by_its_id_in_every_thread_or_in_one():
    index = looked(listed(["c2"], [], {"t2": pairs(5, thread="t2")}), c2=Members("t1", pairs(4, 5)))

    assert list(index.find("m5", None)) == [Stretch("t1", "c2", 1, 1), Stretch("t2", "", 0, 0)]
    assert list(index.find("m5", "t2")) == [Stretch("t2", "", 0, 0)]
    assert list(index.find("m7", None)) == []


def test_the_past_of_a_thread_is_what_its_context_does_not_show():
    index = looked(listed(["c2"], ["o1"], {"t1": pairs(3), "t2": pairs(31, thread="t2")}), o1=segment(1), c2=segment(2))

    def starts(parts):
        return [(part.thread, part.at(0)) for part in parts]

    assert starts(index.past("t1")) == [("t1", AT + 1000), ("t2", AT + 31_000)]
    assert starts(index.past("t1", alone=True)) == [("t1", AT + 1000)]
    assert starts(index.past("t2")) == [("t1", AT + 1000), ("t1", AT + 2000), ("t1", AT + 3000)]
    assert (index.is_activated("o1"), index.is_activated("c2")) == (True, False)


def test_whoever_looks_again_changes_nothing_for_whoever_is_reading():
    index = looked(listed(["c2"], ["o1"], {"t1": pairs(3)}), o1=segment(1), c2=segment(2))
    order, parts = index.order("t1"), index.parts()
    again = index.copy()
    again.drop("o1")
    again.look(listed(["c9"], [], {"t1": pairs(7, 8)}))
    again.lose(["c9"])

    assert (index.order("t1"), index.parts()) == (order, parts)
    assert index.scope_of("o1") == place()
    assert [each.id for each in index.raw(Stretch("t1", "", 0, 0))] == ["m3"]
    assert index.look(listed(["c9"])) == {"c9": place("")}


def test_what_stays_raw_is_read_once():
    index = looked(listed(raw={"t1": pairs(1, 2), "t2": pairs(31, thread="t2")}))
    before = index.parts()
    index.look(listed(raw={"t1": pairs(1, 2, 3), "t2": pairs(31, thread="t2")}))

    assert [part in before for part in index.parts()] == [False, True]
    assert [part.size for part in index.parts()] == [3, 1]


def test_a_member_that_is_no_message_keeps_the_places_of_others():
    index = looked(listed(raw={"t1": [(b"no JSON", AT), *pairs(1)]}))

    assert index.raw(Stretch("t1", "", 0, 0)) == [None]
    assert list(index.find("m1", None)) == [Stretch("t1", "", 1, 1)]


def test_a_chunk_that_was_activated_before_one_sealed_earlier_takes_its_place():
    """Where a memory is of one thread, a chunk is of the same thread before and after: only its place in the list moves."""
    now = listed(sources=["o1", "o2"])
    index = looked(now, o1=segment(1), o2=segment(2))
    first = [part.at(0) for part in index.parts()]
    index.look(now._replace(sources={name: now.sources[name] for name in ("o2", "o1")}))

    assert (first, [part.at(0) for part in index.parts()]) == ([AT + 1000, AT + 2000], [AT + 2000, AT + 1000])


def test_the_words_of_what_went_are_let_go_by_how_much_they_were():
    """Many long chunks went, as many short ones came: two of each are not half of all, but what they hold is."""
    index = looked(listed(sources=["o1"]), o1=segment(*range(1, 60)))
    index.vocabulary()
    taken = index.vocabulary().length
    index.look(listed(sources=["o2", "o3"]))
    index.learn({"o2": segment(61), "o3": segment(62)})

    assert 0 < index.vocabulary().length < taken / 10


def test_what_was_taken_into_the_vocabulary_weighs():
    index = looked(listed(sources=["o1"]), o1=segment(*range(1, 60)))
    index.vocabulary()  # the first look takes nothing in
    before = index.weight
    words = index.vocabulary().words

    assert words > 0
    assert index.weight > before + 100 * words
