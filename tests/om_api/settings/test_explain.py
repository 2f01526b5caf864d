"""What is wrong with a configuration is told by file and key, with what was probably meant."""

from __future__ import annotations

import pytest
from configured import om


def test_a_contradiction_between_two_files_names_both(folder):
    base = folder.settings("buffer_tokens: 6000")
    agent = folder.agent("harold", om("message_threshold: 5000"))
    (problem,) = folder.load().problems

    assert problem.file == str(agent)
    assert str(base) in problem.text
    assert "buffer_tokens is 6000" in problem.text


def test_every_mistake_of_a_file_is_reported_at_once(folder):
    folder.settings("message_threshold: 1, scope: user, obsever: 3")
    refusal = folder.refused().splitlines()

    assert len(refusal) == 3


def test_of_very_many_mistakes_the_first_are_told_and_how_many_more_there_are(folder):
    file = folder.settings(", ".join(f"k{n}: 1" for n in range(1_000)))
    refusal = folder.refused().splitlines()

    assert len(refusal) == 6
    assert refusal[-1] == f"{file}: 995 more like these"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (om("mesage_threshold: 5"), "did you mean message_threshold?"),
        (om("observer: {timout: 5s}"), "did you mean observer.timeout?"),
        (om("excerpt_tokens: 5"), "did you mean other_threads.excerpt_tokens?"),
        (om("timeout: 5s"), "did you mean observer.timeout or reflection.timeout?"),
        (om("storage: {redis: {hots: x}}"), "did you mean storage.redis.host?"),
        (om("storage: {redis: {zzz: x}}"), "permitted: url, host, port"),
        (om("observer.timeout: 5s"), "observer.timeout is not a setting"),
        ("models: {x: {base: 1}}", "did you mean models.x.base_url?"),
        (om("models: {a: {}}"), "models is not a setting; it stands at the top"),
        (om("'': 5"), "is not a setting"),
        ("message_threshold: 5", "did you mean observational_memory.message_threshold?"),
        ("observer: {}", "did you mean observational_memory.observer?"),
        ("memory: {}", "permitted: observational_memory and models"),
        ("true: 1", "permitted: observational_memory and models"),
    ],
)
def test_an_unknown_key_is_told_the_nearest_known_one(folder, text, hint):
    file = folder.base(text)
    refusal = folder.refused()

    assert refusal.startswith(f"{file}: ")
    assert hint in refusal
