import math

from om_api.domain.messages import Message
from om_api.language.words import words
from om_workers.llm.extractive import scoring
from om_workers.llm.extractive.cues import read
from om_workers.llm.extractive.units import units


def test_a_rare_word_weighs_more_than_a_common_one_a_number_half_and_a_stop_word_nothing():
    weight = scoring.weights([["parrot", "the", "41"], ["parrot", "kiko"]])

    assert weight == {"parrot": math.log(2), "kiko": math.log(3), "41": math.log(3) / 2}


def test_only_a_users_words_tell_of_the_user():
    found = read("my sister adopted a dog", words("my sister adopted a dog"))

    assert scoring.bonus(found) > scoring.bonus(found, "assistant") == 1.0


def test_who_said_it_decides_and_pasted_text_comes_last():
    said = {
        role: scoring.standing(units([Message(role=role, content="We booked the hall.", at=1)])[0])
        for role in ("user", "assistant")
    }
    (pasted, *_) = units([Message(role="user", content="The lamp is blue and small.\n" * 60, at=1)])

    assert said["user"] > said["assistant"] > scoring.standing(pasted)
