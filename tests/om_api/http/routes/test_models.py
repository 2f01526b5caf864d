"""Models and prompts over HTTP, as far as a key may know of who uses them."""


def test_models_come_with_prices_and_without_agents_of_others(using):
    found = using("operator", "harold")("GET", "/v1/models").json()["items"]
    models = {each["name"]: each for each in found}

    assert {"extractive", "deepseek", "gemini-2.5-flash"} <= models.keys()
    assert models["gemini-2.5-flash"]["prices"]["input"] > 0
    assert models["gemini-2.5-flash"]["context_window"] > 0


def test_prompts_come_in_pages(using):
    ask = using("operator", "*")
    first = ask("GET", "/v1/prompts?limit=3").json()
    second = ask("GET", f"/v1/prompts?limit=500&cursor={first['next']}").json()
    names = [(each["variant"], each["name"]) for each in (*first["items"], *second["items"])]

    assert len(first["items"]) == 3
    assert len(names) == len(set(names))
    assert {("default", "observer"), ("condensed", "reflector"), ("legacy", "level_1")} <= set(names)


def test_readers_and_writers_are_told_of_neither(using):
    replies = [using(role, "*")("GET", path) for role in ("reader", "writer") for path in ("/v1/models", "/v1/prompts")]

    assert [reply.status_code for reply in replies] == [403] * 4
