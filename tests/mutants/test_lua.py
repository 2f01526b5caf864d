"""Every condition of a script is found; counted here by another way than the reader's."""

import re

import pytest

from mutants.lua import expressions, tokens
from mutants.lua_mutants import lua_mutants
from om_api.store.driver.scripts import load_all

SCRIPTS = {name: script.source for name, script in load_all().items()}


def _says(source):
    return [mutant.change.says for mutant in lua_mutants("x.lua", source)]


def test_every_condition_joint_flag_comparison_and_lifetime_of_every_script_is_changed():
    """n words join n + 1 sides in each expression, so an `and` or `or` has at least one mutant of its own."""
    for name, source in SCRIPTS.items():
        says = _says(source)
        bare = re.sub(r"--[^\n]*", "", re.sub(r"'[^'\n]*'", "''", source))  # no comments, and nothing in strings
        decided = [each.after for each in expressions(tokens(source)) if each.is_condition]
        joints = len(re.findall(r"\b(?:and|or)\b", bare))
        compared = [word for word in says if re.search(r": ([<>=~]=?|min|max) -> \S+( #\d+)?$", word)]
        flags = re.findall(r", '(?:NX|XX|GT|LT|REV)'", source)

        assert sorted(decided) == sorted(re.findall(r"\b(?:if|elseif|while|until)\b", bare)), name
        assert joints + bool(joints) <= sum("-> without" in word for word in says) <= 2 * joints, name
        assert len(compared) == len(re.findall(r"[<>=~]=|[<>]|math\.(?:min|max)", bare)), name
        assert sum(word.startswith("without '") for word in says) == len(flags), name
        assert sum(word.startswith("'EXPIRE'") for word in says) == 2 * source.count("'EXPIRE'"), name


@pytest.mark.nightly
def test_every_mutant_compiles_so_that_it_is_judged_by_what_it_does():
    lua = pytest.importorskip("lupa.lua51").LuaRuntime()
    for name, source in SCRIPTS.items():
        mutants = lua_mutants(name, source)

        assert all(lua.compile(mutant.mutated()) for mutant in mutants)
        assert all(mutant.mutated() != mutant.source for mutant in mutants)


def test_what_is_a_condition():
    nine = [f"x = a < 9: {n}" for n in ("9 -> 10", "9 -> 0", "< -> <=")]
    expires = ["'EXPIRE' a * b -> ((a * b) * 2)", "'EXPIRE' a * b -> math.floor((a * b) / 2)"]
    for source, expected in (
        ("while a do b() end", ["while a -> false"]),
        ("x = a == b", ["a == b -> false", "a == b -> true", "x = a == b: == -> ~="]),
        ("x = a < 9", ["a < 9 -> false", "a < 9 -> true", *nine]),
        ("x = KEYS[i * 5 + 2] + reply[3]", []),
        ("x = KEYS[2] * 600", ["x = KEYS[2] * 600: 600 -> 1200", "x = KEYS[2] * 600: 600 -> 300"]),
        ("redis.call('EXPIRE', k, a * b)", expires),
        ("x = f(a or 'if b or c')", ["a or 'if b or c' -> without a", "a or 'if b or c' -> without 'if b or c'"]),
        ("redis.call('ZADD', k, 'XX', s, m) -- a or b", ["without 'XX'"]),
    ):
        assert sorted(_says(source)) == sorted(expected), source


def test_an_id_stays_when_lines_move_and_the_second_of_two_alike_has_a_number():
    source = "if a then b() end\nif a then c() end"
    ids = [mutant.id for mutant in lua_mutants("x.lua", source)]

    assert ids == [m.id for m in lua_mutants("x.lua", "-- new\nlocal d = e\n" + source)]
    assert sorted(ids) == [f"x.lua: if a -> {word}" for word in ("false", "false #2", "true", "true #2")]
