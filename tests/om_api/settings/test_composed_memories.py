"""`compose`: read in every form it may have, and refused where it leads back."""

from configured import om


def loaded(folder, base="[]", **agents):
    """The settings of `base` and of agents' own, each the value of `compose` as YAML."""
    folder.settings(f"compose: {base}, composed_by: ['*']")
    for name, said in agents.items():
        folder.agent(name, om(f"compose: {said}"))
    return folder.load()


def told(settings, name):
    return [tuple(each) for each in settings.links(name).composed]


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


def test_circle_leaves_out_the_link_that_closes_it_and_nothing_else(folder):
    """Catches a file that is dropped as a whole because of another agent's `compose`."""
    for agents, says in (
        ({"a": "[a]"}, "compose names a itself"),
        ({"a": "[b]", "b": "[a]"}, "compose leads in a circle: b composes a, which leads back to it"),
        ({"a": "[b]", "b": "[c]", "c": "[a]"}, "circle: c composes a, which leads back to it; permitted"),
    ):
        settings = loaded(folder, **agents)
        (problem,) = settings.problems
        last = max(agents)
        assert (says in problem.text, problem.file, told(settings, last)) == (
            True,
            settings.origin(last)["compose"],
            [],
        )
        assert settings.mistakes() == [problem] == [settings.problem(last)], agents
        assert all(told(settings, name) for name in agents if name != last), agents
    folder.agent("c", om("compose: [d, a], ttl_days: 7, composed_by: ['*']"))
    settings.refresh()
    assert (told(settings, "c"), settings.for_agent("c").ttl_days) == ([("d", 4_000, ())], 7)
    assert loaded(folder, **{name: agents[name] for name in "cba"}).links("c").circles == ("a",)
    folder.agent("a", om("compose: []"))
    settings.refresh()
    assert settings.problems == ()
    assert told(settings, "c") == [("a", 4_000, ())]
    assert loaded(folder, "[a, b]", a="[b]", b="[]", c="[]").problems == ()


def test_a_link_is_in_force_while_the_other_memory_permits_it(folder):
    """Sec-01, sec-02: settings of one memory alone open no other one."""
    folder.agent("alice", om("compose: [{resource: bob, share: [facts]}]"))
    settings = folder.load()
    for consent, links in (
        ("", ((), (), (("bob", "composed_by"), ("bob", "shared_by")))),
        ("composed_by: [bob, alice]", (("bob",), (), (("bob", "shared_by"),))),
        ("shared_by: ['a*']", ((), ("bob",), (("bob", "composed_by"),))),
        ("composed_by: [alice], shared_by: [alice]", (("bob",), ("bob",), ())),
        ("composed_by: [ALICE, alic, '*x']", ((), (), (("bob", "composed_by"), ("bob", "shared_by")))),
    ):
        folder.agent("bob", om(consent))
        settings.refresh()
        composed, shared, refused, _ = settings.links("alice")
        assert (tuple(each[0] for each in composed), tuple(each[0] for each in shared), refused) == links, consent
    folder.agent("bob", om("composed_by: alice"))
    settings.refresh()
    assert "permitted: up to 100 resource ids" in settings.problems[0].text
