"""Events in the order of their times, and lines before servers."""

from om_bench.fleet.clock import Clock, Servers


def test_what_happens_at_the_same_time_happens_in_the_order_it_was_said():
    clock, seen = Clock(), []
    for name, at in (("late", 2.0), ("first", 1.0), ("second", 1.0), ("never", 9.0)):
        clock.after(at, lambda name=name: seen.append((name, clock.now)))
    clock.run(until=5)

    assert seen == [("first", 1.0), ("second", 1.0), ("late", 2.0)]


def test_two_servers_work_on_two_things_at_a_time():
    clock, seen = Clock(), []
    servers = Servers(clock, 2)
    for seconds in (3.0, 1.0, 1.0):
        servers.use(seconds, lambda: seen.append(clock.now))
    clock.run()

    assert seen == [1.0, 2.0, 3.0]
    assert servers.busy_s == 5.0


def test_processes_share_the_cores_of_their_machine():
    """Three processes with a second of work each, on two cores: the third waits for a core."""
    clock, seen = Clock(), []
    cores = Servers(clock, 2)
    for _ in range(3):
        Servers(clock, 1, cores).use(1.0, lambda: seen.append(clock.now))
    clock.run()

    assert seen == [1.0, 1.0, 2.0]


def test_a_process_does_one_thing_at_a_time_however_many_cores_there_are():
    clock, seen = Clock(), []
    process = Servers(clock, 1, Servers(clock, 8))
    for _ in range(3):
        process.use(1.0, lambda: seen.append(clock.now))
    clock.run()

    assert seen == [1.0, 2.0, 3.0]


def test_what_takes_no_time_waits_for_nobody():
    clock, seen = Clock(), []
    servers = Servers(clock, 1)
    servers.use(5.0, lambda: seen.append("long"))
    servers.use(0.0, lambda: seen.append("nothing"))
    clock.run()

    assert seen == ["nothing", "long"]
