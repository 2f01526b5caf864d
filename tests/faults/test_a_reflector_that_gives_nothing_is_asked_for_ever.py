"""Chunks have max_attempts, reflections none: a model without a usable answer is asked four times at every lease's end."""

from world import World

from om_api.domain.errors import ModelError
from om_workers.llm.base import Reply
from om_workers.llm.scripted import Scripted


class Mute:
    name = "mute"
    asked = 0

    def complete(self, request):
        if request.purpose == "observe":
            return Scripted.echo().complete(request)
        self.asked += 1
        return Reply(text="", model=self.name)


def _reflected_in_vain(house, looks):
    house.say(*(f"message {n}" for n in range(30)))
    for _ in range(looks):
        soon = 1 + house.client.time()[0] * 1000 + 60_000  # a minute passes: what stands later stays
        for name, score in house.client.zrange(house.services.keys.due_reflect, 0, -1, withscores=True):
            if score < soon:
                house.client.zadd(house.services.keys.due_reflect, {name: 1})
        house.tick_forgiving()


def test_a_reflection_without_an_answer_is_not_asked_for_at_every_look(client, prefix):
    model = Mute()
    _reflected_in_vain(World(client, prefix, model=model, observation_threshold="200"), 20)

    assert model.asked <= 4 * 8


class Refusing(Mute):
    """Refuses what it reads, as a provider's content filter does."""

    retryable = False

    def complete(self, request):
        if request.purpose == "observe":
            return Scripted.echo().complete(request)
        self.asked += 1
        raise ModelError("the provider refuses this memory", retryable=self.retryable, retry_after=3_600)


def test_a_reflector_that_refuses_is_given_up_after_max_attempts(client, prefix):
    model = Refusing()
    _reflected_in_vain(World(client, prefix, model=model, observation_threshold="200"), 10)

    assert model.asked <= 3 * 4  # three for each memory that it was shown: this one changes three times


def test_a_reflector_that_says_when_to_come_back_is_not_asked_before(client, prefix):
    model = Refusing()
    model.retryable = True
    house = World(client, prefix, model=model, observation_threshold="200")
    _reflected_in_vain(house, 10)

    due = house.client.zscore(house.services.keys.due_reflect, "harold")

    assert model.asked < 10
    assert due > house.client.time()[0] * 1000 + 3_000_000
