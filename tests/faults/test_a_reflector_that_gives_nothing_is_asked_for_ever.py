"""Chunks have max_attempts, reflections none: a model without a usable answer is asked four times at every lease's end."""

from world import World

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


def test_a_reflection_without_an_answer_is_not_asked_for_at_every_look(client, prefix):
    model = Mute()
    house = World(client, prefix, model=model, observation_threshold="200")
    house.say(*(f"message {n}" for n in range(30)))
    for _ in range(20):
        soon = 1 + client.time()[0] * 1000 + 60_000  # a minute passes: what stands later stays
        for name, score in client.zrange(house.shop.keys.due_reflect, 0, -1, withscores=True):
            if score < soon:
                client.zadd(house.shop.keys.due_reflect, {name: 1})
        house.tick_forgiving()
    assert model.asked <= 4 * 8
