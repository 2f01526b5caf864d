"""Every script keeps to its first line, and to itself."""

import re

import pytest

from om_api.store.driver.connection import Connection
from om_api.store.driver.scripts import absent, load_all, parse, provide
from om_api.store.driver.slots import slot_of
from om_api.store.memory import due
from om_api.store.memory.keys import Keys

NAMES = sorted(load_all())


def _slots(name):
    """What a script's header calls its fixed keys and arguments."""
    header = re.match(r"-- \w+\(([^;)]*);([^)]*)\)", load_all()[name].source)
    return [re.findall(r"\w+", words.split("[")[0]) for words in (header[1], header[2])]


def _bound(name, array):
    """What a script's locals call the slots of KEYS or ARGV, in order of position."""
    found = {}
    for names, values in re.findall(r"^local ([\w, ]+) = (.*(?:KEYS|ARGV).*)$", load_all()[name].source, re.MULTILINE):
        if unpacked := re.fullmatch(rf"unpack\({array}, 1, (\d+)\)", values):
            found.update(enumerate(names.split(", ")[: int(unpacked[1])], 1))
        elif "unpack" not in values:
            slots = [re.search(rf"{array}\[(\d+)\]", value) for value in values.split(", ")]
            found.update({int(slot[1]): local for local, slot in zip(names.split(", "), slots, strict=True) if slot})
    return [found[position] for position in sorted(found)]


@pytest.mark.parametrize("name", NAMES)
def test_the_first_line_is_the_signature(name):
    script = load_all()[name]

    assert parse(name, script.source) == script
    assert script.fixed or script.groups


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("array", ["KEYS", "ARGV"])
def test_the_body_names_the_slots_as_the_header_does(name, array):
    expected, actual = _slots(name)[array == "ARGV"], _bound(name, array)

    assert len(expected) == len(actual), (expected, actual)
    assert all(slot.startswith(local.rstrip("_")) for slot, local in zip(expected, actual, strict=True)), actual


def test_a_call_with_a_key_too_few_or_too_many_is_refused():
    for name, script in load_all().items():
        script.check(script.fixed)
        with pytest.raises(TypeError, match=rf"{name}\.lua takes {script.fixed}"):
            script.check(script.fixed - 1)
        if script.groups != (1,) and len(script.groups) < 2:
            with pytest.raises(TypeError, match="keys, not"):
                script.check(script.fixed + 1)


def test_keys_that_repeat_come_in_whole_groups():
    push = load_all()["push"]

    push.check(4 + 2 * 4)
    with pytest.raises(TypeError, match=r"4 \+ n x 2 keys, not 9"):
        push.check(9)


@pytest.mark.parametrize("first_line", ["", "-- seal", "-- other(a; b)", "local a = 1"])
def test_a_script_without_its_signature_is_refused(first_line):
    with pytest.raises(ValueError, match=r"the first line of seal\.lua must be its signature"):
        parse("seal", first_line + "\nreturn 1")


def test_every_script_loads_on_a_server(client):
    for name, script in load_all().items():
        reply = client.script_load(script.source)

        assert (reply.decode() if isinstance(reply, bytes) else reply) == script.sha, name


def test_every_script_compiles_as_lua_51():
    lua = pytest.importorskip("lupa.lua51").LuaRuntime()

    assert [name for name, script in load_all().items() if not lua.compile(script.source)] == []


@pytest.mark.parametrize("name", NAMES)
def test_no_script_assigns_a_global(name):
    """fakeredis lets a leaked global poison every later script of its client; a server refuses the script."""
    code = re.sub(r"--.*|'[^'\n]*'", "", load_all()[name].source)
    pairs = re.findall(r"\blocal (?:function )?([\w, ]+)|\bfor ([\w, ]+?) (?:=|in)\b|\bfunction \w*\(([\w, ]*)\)", code)
    declared = set(re.findall(r"\w+", " ".join(" ".join(pair) for pair in pairs)))
    while (flat := re.sub(r"\{[^{}]*\}", "", code)) != code:
        code = flat
    assigned = re.findall(r"^\s*(\w+(?:, *\w+)*) *=(?!=)", code, re.MULTILINE)

    assert set(re.findall(r"\w+", " ".join(assigned))) <= declared
    assert not re.findall(r"(?<!local )\bfunction \w+", code)


@pytest.mark.parametrize("name", [name for name in NAMES if "time[1]" in load_all()[name].source])
def test_every_script_reads_the_clock_in_the_same_words(name):
    lines = [
        line.strip() for line in load_all()[name].source.splitlines() if re.search(r"\btime\b", line.split("--")[0])
    ]
    read = "tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)"

    assert lines[0] == "local time = redis.call('TIME')"
    finer = "local now = tonumber(time[1]) * 1000000 + tonumber(time[2])"  # what is put in order by it
    assert lines[1:] in ([f"local now = {read}"], [f"local now = string.format('%d', {read})"], [finer])


def test_every_node_of_a_cluster_is_given_what_it_lacks_replicas_too(cluster, cluster_client):
    """A replica that takes over has no scripts, and an agent's ACL user may not bring them."""
    run = Connection(cluster_client).run
    run(provide())
    for node in (cluster.primaries[0], cluster.replicas[1]):
        node.client().script_flush()

    assert (run(provide()), run(provide())) == (2 * len(NAMES), 0)
    shas = [script.sha for script in load_all(cluster=True).values()]
    assert all(all(node.client().script_exists(*shas)) for node in cluster.nodes)


@pytest.mark.parametrize("key", ["cortex:om:{harold}:tokens", "cortex:om:due:observe:64:7", "cortex:om:events"])
def test_the_key_that_never_exists_is_of_the_slot_and_of_who_may_use_the_other(key):
    assert slot_of(("GET", absent(key))) == slot_of(("GET", key))
    assert absent(key).startswith(key)


def test_a_script_on_a_cluster_sees_the_keys_it_was_given(cluster_client):
    """Catches the key more being taken for one of a further group, and a first script that takes no groups."""
    run = Connection(cluster_client).run
    keys = Keys("absent-test")
    run(due.mark(keys.due_observe, ["harold"]))
    assert [claim.scope for claim in run(due.claim(str(keys.due_observe), 5))] == ["harold"]
