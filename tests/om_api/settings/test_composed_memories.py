"""`compose`: read in every form it may have, and refused where it leads back."""

from configured import om

from om_api.settings.composed_memories import composed_by


def loaded(folder, base="[]", **agents):
    """The settings of `base` and of agents' own, each the value of `compose` as YAML."""
    folder.settings(f"compose: {base}")
    for name, said in agents.items():
        folder.agent(name, om(f"compose: {said}"))
    return folder.load()


def told(settings, name):
    return [
        (each.resource, each.max_tokens, each.share) for each in composed_by(settings.for_agent(name).compose, name)
    ]


def test_a_name_alone_stands_for_a_memory_with_the_usual_room(folder):
    settings = loaded(
        folder, "[org]", harold="[team-blue, {resource: org, max_tokens: 2000, share: [decisions, facts]}]"
    )
    assert told(settings, "harold") == [("team-blue", 4_000, ()), ("org", 2_000, ("decisions", "facts"))]
    assert told(settings, "anybody") == [("org", 4_000, ())]
    assert told(settings, "org") == []


def test_what_cannot_be_composed_is_told_with_what_can(folder):
    for said in (
        *("[org, org]", "[a b]", "[{resource: org, max_tokens: 399}]", "[{resource: org, share: [secrets]}]"),
        *("[{resource: org, most: 5}]", "[{max_tokens: 500}]", "org", f"[{', '.join(f'r{n}' for n in range(9))}]"),
    ):
        (problem,) = loaded(folder, harold=said).problems
        assert ("permitted: up to 8, each once" in problem.text, "harold" in problem.file) == (True, True), said


def test_a_circle_is_one_error_where_it_closes_and_mended_by_whichever_file_is(folder):
    for agents, says in (
        ({"a": "[a]"}, "compose names a itself"),
        ({"a": "[b]", "b": "[a]"}, "compose leads in a circle: b composes a which composes b"),
        ({"a": "[b]", "b": "[c]", "c": "[a]"}, "circle: c composes a which composes b which composes c"),
    ):
        settings = loaded(folder, **agents)
        (problem,) = settings.problems
        assert says in problem.text, agents
    folder.agent("a", om("compose: []"))
    settings.refresh()
    assert settings.problems == ()
    assert told(settings, "c") == [("a", 4_000, ())]
    assert loaded(folder, "[a, b]", a="[b]", b="[]", c="[]").problems == ()
