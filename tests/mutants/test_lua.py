"""Every condition of a script is found; counted here by another way than the reader's."""

import re

import pytest

from mutants.lua import expressions, tokens
from mutants.lua_mutants import lua_mutants
from om_api.store.driver.scripts import load_all

SCRIPTS = {name: script.source for name, script in load_all().items()}


def _bare(source):
    """A script without comments and without what its strings say."""
    return re.sub(r"--[^\n]*", "", re.sub(r"'[^'\n]*'", "''", source))


def _says(source):
    return [mutant.change.says for mutant in lua_mutants("x.lua", source)]


def test_every_if_and_while_of_every_script_is_found():
    for name, source in SCRIPTS.items():
        found = [e.after for e in expressions(tokens(source)) if e.is_condition]

        assert sorted(found) == sorted(re.findall(r"\b(?:if|elseif|while|until)\b", _bare(source))), name


def test_each_side_of_every_and_or_is_dropped():
    """n words join n + 1 sides in each expression, so an `and` or `or` has at least one mutant of its own."""
    for name, source in SCRIPTS.items():
        joints = len(re.findall(r"\b(?:and|or)\b", _bare(source)))
        dropped = [says for says in _says(source) if "-> without" in says]

        assert joints + bool(joints) <= len(dropped) <= 2 * joints, name


def test_every_flag_comparison_and_lifetime_is_changed():
    for name, source in SCRIPTS.items():
        says, bare = _says(source), _bare(source)
        flags = re.findall(r", '(?:NX|XX|GT|LT|REV)'", source)

        assert len([word for word in says if word.startswith("without '")]) == len(flags), name
        assert len([word for word in says if re.search(r": ([<>=~]=?|min|max) -> \S+( #\d+)?$", word)]) == len(
            re.findall(r"[<>=~]=|[<>]|math\.(?:min|max)", bare)
        ), name
        assert len([word for word in says if word.startswith("'EXPIRE'")]) == 2 * source.count("'EXPIRE'"), name


def test_every_mutant_compiles_so_that_it_is_judged_by_what_it_does():
    lua = pytest.importorskip("lupa.lua51").LuaRuntime()
    for name, source in SCRIPTS.items():
        mutants = lua_mutants(name, source)

        assert all(lua.compile(mutant.mutated()) for mutant in mutants)
        assert all(mutant.mutated() != mutant.source for mutant in mutants)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("if a then b() end", ["if a -> false", "if a -> true"]),
        ("while a do b() end", ["while a -> false"]),
        ("x = a == b", ["a == b -> false", "a == b -> true", "x = a == b: == -> ~="]),
        (
            "x = a < 9",
            ["a < 9 -> false", "a < 9 -> true", *(f"x = a < 9: {n}" for n in ("9 -> 10", "9 -> 0", "< -> <="))],
        ),
        ("x = KEYS[i * 5 + 2] + reply[3]", []),
        ("x = KEYS[2] * 600", ["x = KEYS[2] * 600: 600 -> 1200", "x = KEYS[2] * 600: 600 -> 300"]),
        ("x = math.max(a, b)", ["x = math.max(a, b): max -> min"]),
        (
            "redis.call('EXPIRE', k, a * b)",
            ["'EXPIRE' a * b -> ((a * b) * 2)", "'EXPIRE' a * b -> math.floor((a * b) / 2)"],
        ),
        ("x = f(a or 'if b or c')", ["a or 'if b or c' -> without a", "a or 'if b or c' -> without 'if b or c'"]),
        ("redis.call('ZADD', k, 'XX', s, m) -- a or b", ["without 'XX'"]),
        ("return a\nb()", []),
    ],
)
def test_what_is_a_condition(source, expected):
    assert sorted(_says(source)) == sorted(expected)


def test_sides_are_dropped_on_their_level():
    mutants = lua_mutants("x.lua", "return (a and b) or not c[d or 1].e(f) or g < 2")
    became = {mutant.mutated() for mutant in mutants if "-> without" in mutant.id}

    assert became == {
        "return not c[d or 1].e(f) or g < 2",
        "return (a and b) or g < 2",
        "return (a and b) or not c[d or 1].e(f)",
        "return (b) or not c[d or 1].e(f) or g < 2",
        "return (a) or not c[d or 1].e(f) or g < 2",
        "return (a and b) or not c[1].e(f) or g < 2",
        "return (a and b) or not c[d].e(f) or g < 2",
    }
    assert {mutant.line for mutant in mutants} == {1}


def test_an_id_stays_when_lines_move_and_the_second_of_two_alike_has_a_number():
    source = "if a then b() end\nif a then c() end"
    ids = [mutant.id for mutant in lua_mutants("x.lua", source)]

    assert ids == [m.id for m in lua_mutants("x.lua", "-- new\nlocal d = e\n" + source)]
    assert sorted(ids) == [f"x.lua: if a -> {word}" for word in ("false", "false #2", "true", "true #2")]


def test_what_is_no_lua_is_said():
    with pytest.raises(ValueError, match="no Lua: '!'"):
        tokens("a = !")
