"""`om verify`: silent on a sound store, and exit code 1 with a place and a reason on a broken one."""

import json

import pytest


@pytest.fixture
def broken(reflected, client, prefix):
    """The key of raw messages that a store lost behind our back."""
    reflected.say(*[f"message {n}" for n in range(12, 16)])
    key = f"{prefix}:{{harold}}:messages:t-1"
    assert client.unlink(key) == 1
    return key


def test_a_sound_store_is_exit_code_0(om, om_json, reflected):
    result = om("verify")

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "no breach; looked at 1 resource with 12 messages\n"
    assert om_json("verify") == []


def test_an_empty_store_is_sound_and_said_to_prove_nothing(om):
    result = om("verify")

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("no resource is there, so nothing is proved: see that OM_REDIS_URL")


def test_a_broken_store_is_exit_code_1_and_the_place_is_named(om, broken):
    result = om("verify")

    assert result.exit_code == 1
    assert broken in result.stdout
    assert "breaches: 1; looked at 1 resource with 12 messages" in result.stderr


def test_breaches_as_json_are_a_place_and_a_reason(om, broken):
    result = om("verify", "--json")
    breaches = json.loads(result.stdout)

    assert result.exit_code == 1
    assert breaches[0].keys() == {"where", "what"}
    assert broken in {breach["where"] for breach in breaches}


def test_a_store_that_cannot_be_reached_is_not_called_sound(bare):
    assert bare("--url", "redis://127.0.0.1:1/0", "verify").exit_code == 3


@pytest.fixture
def spoiled(reflected, client):
    """Segments that were deleted by hand after the sweep had seen to it that none was missing."""
    reflected.sweep()
    made = segments(reflected)
    client.delete(next(iter(made)))
    client.set(list(made)[1], b"garbage", keepttl=True)
    reflected.sweep()
    assert len(made) >= 2
    return made


def segments(world):
    return {key: world.client.get(key) for key in world.client.scan_iter(f"{world.prefix}:{{harold}}:segment:*")}


def test_what_is_missing_of_recalls_index_is_named_and_left_as_it_is(om, spoiled, reflected):
    result = om("verify")

    assert result.exit_code == 1
    assert "breaches: 2;" in result.stderr
    assert {key.decode() for key in list(spoiled)[:2]} <= set(result.stdout.split())
    assert len(segments(reflected)) == len(spoiled) - 1


def test_with_repair_the_next_sweep_makes_it_anew(om, spoiled, reflected):
    """Breaks without: a segment that was lost was never made again, until the analysis had another version."""
    result = om("verify", "--repair")
    reflected.sweep()

    assert "2 segments of recall's index removed: the next sweep makes what is lacking" in result.stderr
    assert segments(reflected) == spoiled
    assert om("verify").exit_code == 0


def test_a_repair_of_what_is_sound_says_and_does_nothing(om, reflected):
    before = segments(reflected)

    assert om("verify", "--repair").stderr == "no breach; looked at 1 resource with 12 messages\n"
    assert segments(reflected) == before
