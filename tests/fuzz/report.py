"""What a run says of itself: how often each verb happened, and what was checked."""

from collections import Counter
from collections.abc import Mapping

VERBS = {  # what a reader looks for -> what the game counts
    "push, single": "push_one",
    "push, batch": "push_batch",
    "push, duplicate id": "push_duplicate",
    "push, one id twice in a batch": "push_twins",
    "push, late timestamp": "push_late",
    "push, equal timestamps": "push_equal",
    "push, future timestamp": "push_future",
    "push, a text no model observes": "push_poison",
    "push, grown": "push_grown",
    "push, grown, and overtaken by a seal or another": "push_grown_overtaken",
    "push, changed": "push_changed",
    "push, replace": "push_replaced",
    "amend": "amend.lua",
    "sync, going on": "sync_on",
    "sync, the same again": "sync_again",
    "sync, the last turn grown": "sync_grown",
    "sync, without its beginning": "sync_truncated",
    "sync, edited": "sync_edited",
    "sync, branched": "sync_branched",
    "plain ZADD": "plain",
    "plain ZADD, grown or changed": "plain_grown",
    "plain ZADD of the same bytes": "plain_copy",
    "plain ZADD of no message": "plain_malformed",
    "adopt": "adopt.lua",
    "claim": "claim.lua",
    "seal": "seal.lua",
    "buffer": "buffer.lua",
    "split": "split.lua",
    "activate": "activate.lua",
    "reflect": "reflect.lua",
    "reflect, slow and overtaken": "reflect.lua superseded",
    "observe, slow and outlived by another": "outlive",
    "clear": "clear.lua",
    "clear, overtaken by a seal": "clear_overtaken",
    "clear a thread": "clear_thread.lua",
    "forget": "forget",
    "erase": "erase.lua",
    "erase, overtaken by a worker": "erase_overtaken",
    "a line is added": "add_line.lua",
    "a line is corrected": "correct_line",
    "a correction is taken back": "undo_line",
    "a line is pinned": "pin.lua",
    "a line is pinned or let go while a reflection is thought": "pin_overtaking",
    "a line is pinned, overtaken by a reflection": "pin_overtaken",
    "a line is let go": "unpin",
    "migrate the scope": "migrate",
    "indexes into another number of parts": "part",
    "moves there and back": "moves_there_and_back",
    "retry what was rejected": "retry",
    "review a reflection": "review",
    "review, overtaken by another": "review_overtaken",
    "undo reflections": "restore.lua",
    "undo, overtaken by another": "restore_overtaken",
    "crash between two commands": "died",
    "connection dropped": "cut",
    "lock expiry": "locks_expire",
    "lease expiry": "leases_expire",
    "twenty minutes pass": "minutes_pass",
    "sources and histories expire": "day_passes",
    "an id returns after its source expired": "returns",
    "double delivery": "double",
    "task lost": "lose",
    "sweep": "sweep",
    "read, which may activate": "read",
}
OF_AN_ARCHIVE = {
    "archive": "archive",
    "archive, and die on the way": "archive_killed",
    "archive, overtaken by an owner": "archive_overtaken",
    "an owner, overtaken by a worker who archives": "owner_overtaken",
    "the archive is away, or back": "archive_is_away",
    "the archive is tidied": "tidy",
    "the archive is tidied, overtaken by a worker or an owner": "tidy_overtaken",
    "drop from Redis": "archive.lua",
    "bring back into Redis": "bring_back.lua",
}
OF_THREADS = {  # of every fourth seed
    "another name stands for a thread": "alias.lua",
    "another name for a thread, overtaken": "alias_overtaken",
    "a plain write under an alias": "readdress.lua",
    "a thread is named or archived": "describe.lua",
    "a thread is copied": "copy.lua",
    "a field of a working memory is written": "keep",
    "a field is written, overtaken by another": "keep_overtaken",
    "a context is read with another memory's notes": "read_composed",
    "a context is read without them": "read_alone",
}
OF_A_CLUSTER = {
    "a slot sets out for another node": "slot_leaves",
    "a part of its keys goes": "slot_goes_on",
    "all of it has arrived": "slot_arrives",
    "a command was sent on to where its keys go (ASK)": "ASK",
    "a command was sent on to where its slot is (MOVED)": "MOVED",
    "a command waited for its slot (TRYAGAIN)": "TRYAGAIN",
}
_INVARIANTS = """\
After every step, read from outside with plain redis-py: every acknowledged message is covered at least once and every
message at most once (raw, sealed, or named by an observation in force or replaced by a generation); what its owner removed
does not come back; recall finds every message that is kept by a word of its own, once, and none that is not; all pieces of
a message together say, once, what was said under its id, which only grows, or is replaced while raw; every receipt says
what became of each message, and a history that was synced adds exactly what is new; an id is known while anything of its
message is kept, and free once that has expired and a sweep came by; every text holds the id of every message that it
covers, and the generation in force those of all it replaced; no finished observation is lost or changed; observations only
grow at their end, each thread in order of sealing; what Redis says was archived stands in the archive, which every second
seed has, and in Redis no longer, and what an owner removed is in no row of it;
what is pinned stands in the generation in force or in an observation, and stays pinned until somebody lets it go or
removes it; counters equal what is there; no sealed set,
chunk or generation is orphaned; a memory that moved there and back says what it said, each line as often as before
and once more for each thread that reflected it since; of every review one decision is made; a field of a working memory says
what was written last, or what is under way; a context shows each note of another memory that is in force once, and none where
nobody asked for it; a name that stands for another thread holds nothing; what a copy has it has once. At the end everybody comes
to rest: nothing is left unobserved, and `om verify` finds nothing.
"""


def head(seeds: int, steps: int, seconds: float, server: str) -> str:
    """What a clean run was."""
    return f"{seeds:,} seeds, {steps:,} steps, on {server}, in {seconds / 60:.1f} minutes: no invariant was broken."


def table(ran: str, verbs: Counter[str], steps: int) -> str:
    """The report of a clean run, as Markdown."""
    known = VERBS | OF_AN_ARCHIVE | OF_THREADS
    shares = [(name, 100 * verbs[counted] / steps) for name, counted in known.items()]
    rows = [f"| {name} | {share:.1f} % |" for name, share in sorted(shares, key=lambda pair: -pair[1])]
    return "\n".join([ran, "", _INVARIANTS, "", "| verb | of all steps |", "|---|---|", *rows])


def sent_on(ran: str, verbs: Counter[str]) -> str:
    """The report of a clean run on a Cluster: what came beside the same verbs and invariants."""
    rows = [f"| {name} | {verbs[counted]:,} |" for name, counted in OF_A_CLUSTER.items()]
    return "\n".join([ran, "", "| in so many steps | |", "|---|---|", *rows])


def rare(verbs: Counter[str], steps: int, known: Mapping[str, str]) -> list[str]:
    """Those that happened in less than a third of an even share of the steps: such a run proves too little about them."""
    return [name for name, counted in known.items() if 3 * len(VERBS) * verbs[counted] < steps]
