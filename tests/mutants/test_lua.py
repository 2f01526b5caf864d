"""Every condition of a script is found; counted here by another way than the reader's."""

from __future__ import annotations

import re

import pytest

from mutants.lua import expressions, tokens
from mutants.lua_mutants import lua_mutants
from om_api.store.scripts import load_all

SCRIPTS = {name: script.source for name, script in load_all().items()}


def _bare(source):
    """A script without comments and without what its strings say."""
    return re.sub(r"--[^\n]*", "", re.sub(r"'[^'\n]*'", "''", source))


def _says(source):
    return [mutant.change.says for mutant in lua_mutants("x.lua", source)]


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_if_and_while_of_every_script_is_found(name):
    source = SCRIPTS[name]
    starts = {mutant.change.start for mutant in lua_mutants(name, source) if mutant.change.text == "false"}
    found = [
        word for word in ("if", "elseif", "while", "until") for e in expressions(tokens(source)) if e.after == word
    ]

    assert sorted(found) == sorted(re.findall(r"\b(?:if|elseif|while|until)\b", _bare(source)))
    assert len(starts) >= len(found)


@pytest.mark.parametrize("name", SCRIPTS)
def test_each_side_of_every_and_or_is_dropped(name):
    """n words join n + 1 sides in each expression, so an `and` or `or` has at least one mutant of its own."""
    joints = len(re.findall(r"\b(?:and|or)\b", _bare(SCRIPTS[name])))
    dropped = [says for says in _says(SCRIPTS[name]) if "-> without" in says]

    assert joints + bool(joints) <= len(dropped) <= 2 * joints


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_flag_is_left_out_once(name):
    flags = re.findall(r", '(?:NX|XX|GT|LT|REV)'", SCRIPTS[name])

    assert len([says for says in _says(SCRIPTS[name]) if says.startswith("without '")]) == len(flags)


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_mutant_compiles_so_that_it_is_judged_by_what_it_does(name):
    lua = pytest.importorskip("lupa.lua51").LuaRuntime()
    mutants = lua_mutants(name, SCRIPTS[name])

    assert all(lua.compile(mutant.mutated()) for mutant in mutants)
    assert all(mutant.mutated() != mutant.source for mutant in mutants)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("if a then b() end", ["if a -> false", "if a -> true"]),
        ("while a do b() end", ["while a -> false"]),
        ("x = a == 1", ["a == 1 -> false", "a == 1 -> true"]),
        ("x = f(a or 'if b or c')", ["a or 'if b or c' -> without a", "a or 'if b or c' -> without 'if b or c'"]),
        ("redis.call('ZADD', k, 'XX', 1, m) -- a or b", ["without 'XX'"]),
        ("return a\nb()", []),
    ],
)
def test_what_is_a_condition(source, expected):
    assert sorted(_says(source)) == sorted(expected)


def test_sides_are_dropped_on_their_level():
    (*_, last) = mutants = lua_mutants("x.lua", "return (a and b) or not c[d or 1].e(f) or g < 2")
    became = {mutant.mutated() for mutant in mutants}

    assert became == {
        "return not c[d or 1].e(f) or g < 2",
        "return (a and b) or g < 2",
        "return (a and b) or not c[d or 1].e(f)",
        "return (b) or not c[d or 1].e(f) or g < 2",
        "return (a) or not c[d or 1].e(f) or g < 2",
        "return (a and b) or not c[1].e(f) or g < 2",
        "return (a and b) or not c[d].e(f) or g < 2",
    }
    assert last.line == 1


def test_an_id_stays_when_lines_move_and_the_second_of_two_alike_has_a_number():
    source = "if a then b() end\nif a then c() end"
    ids = [mutant.id for mutant in lua_mutants("x.lua", source)]

    assert ids == [m.id for m in lua_mutants("x.lua", "-- new\nlocal d = 1\n" + source)]
    assert sorted(ids) == [f"x.lua: if a -> {word}" for word in ("false", "false #2", "true", "true #2")]


def test_what_is_no_lua_is_said():
    with pytest.raises(ValueError, match="no Lua: '!'"):
        tokens("a = !")
