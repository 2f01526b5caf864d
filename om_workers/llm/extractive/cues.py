"""Cues: the words that show what a sentence is good for; scoring.py says what each is worth."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from om_api.language.words import STOP, word_set
from om_workers.llm.extractive.terms import is_beyond_latin

_SELF = word_set("i i'm i'd i'll i've my me mine i’m i’d i’ll i’ve")
ERROR = word_set(
    """error errors failed fails fail failure failures exception refused refuses timeout timed aborted abort crash
    crashed crashes denied fatal traceback panic cannot conflict rejected invalid missing unreachable"""
)
_NOT_YET = word_set(
    """cannot never no not will should once when if until must need needs would let's please failed fails error errors
    unless before almost nearly after be every want wants wanted wish hope hoping plan plans planned planning going
    gonna try trying tried soon tomorrow nearly half partly"""
)
NUMBERS = word_set(
    """two three four five six seven eight nine ten eleven twelve dozen hundred thousand million percent half third
    fourth fifth twice double free"""
)
_FORE = word_set("next now then first finally also and so ok okay please pls just yes great good cool right")
ORDER = word_set(
    """add ask assign book build buy call cancel change check clean compare convert create delete deploy describe
    draft explain export find fix generate get give help implement install investigate list look make merge
    migrate move open order plan prepare print put refactor remind remove rename repeat replace reply report
    research reserve review run schedule search send set show start stop summarise summarize take tell test
    translate try update upgrade use write let's please need want"""
)
_ENDED = re.compile(r"[a-z]{2}(?<!ne)(?<!sp)ed\b")
_VAGUE = ("That", "It", "This", "Those", "They")
_ASKED = re.compile(
    r"[?\uff1f\u061f]|\b(?:(?:can|could|would|will) you|i (?:need|want|would like|'d like) you to)\b", re.IGNORECASE
)
_SPECIFIC = re.compile(r"[\w-]*\d[\w.,:-]*|\w+[/_]\w[\w/.-]*|\w+\.[a-z]{2,4}\b")
_MAY_BE_SPECIFIC = re.compile(r"[\d/_]|\.[a-z]")
_CODE = re.compile(r"\b(?=[\w-]*[A-Za-z])(?=[\w-]*\d)\w+(?:-\w+)+\b")
_NAME = re.compile(r"(?<=[a-z0-9,;:'’)] )[A-ZÀ-Þ][\w'’-]+")
_A_NAME = 4  # words, of scripts where no capital letter shows a name
_CONTRAST = re.compile(
    r", not\b|\brather than\b|\binstead of\b|\bno longer\b|\bno more\b|\bfrom (?:\S+ ){1,3}to\b", re.IGNORECASE
)
_NONE_OF = re.compile(r"\W*no (?!wait|idea|problem|worries|one\b|hurry|rush)\w+", re.IGNORECASE)
_NO_ERROR = re.compile(
    r"\b(?:errors?|failed|failures?)\W{1,3}(?:0|none|null|false)\b"
    r"|\b(?:0|no|without) (?:\w+ )?(?:errors?|failed|failures?)\b",
    re.IGNORECASE,
)
_DONE = word_set(
    """done complete finished completed merged shipped deployed fixed resolved released migrated implemented pass passes
    passed passing"""
)
_FINISHED = re.compile(
    r"(?:(?P<before>[\w'’]+)\W+)?\b(?:finished|completed|merged|shipped|deployed|fixed|resolved|released|migrated"
    r"|implemented)\b(?! (?:with|product|amount|costs?|price)\b)",
    re.IGNORECASE,
)
_STATES = word_set(
    "a an the any each every of with to for as more no i'm i’m we're we’re he's he’s she's she’s you're you’re"
)
_IS_DONE = re.compile(
    r"(?:^\W*(?:all )?|\b(?:is|are|was|were|it['’]s|that['’]s|got (?:it|that|this|them)|all) (?:now )?)"
    r"done(?=\s*(?:$|[^\w\s]|and\b))"
    r"|\b(?:is|are|now) complete\b",
    re.IGNORECASE,
)
_TESTS_PASS = re.compile(r"\btests?\b.*\bpass|\b\d+ passed\b", re.IGNORECASE)
_NOTHING_LEFT = re.compile(
    r"\b(?:nothing|none|no(?: \w+)? (?:tasks?|work|items?|requests?|questions?))(?: (?:else|more|is|are|now|still))* "
    r"(?:pending|open|outstanding|left|remaining|to do)\b"
    r"|\b(?:everything(?:'s|’s| is)|(?:it|that)(?:'s|’s| is) all|all(?: tasks)?(?: is| are)?) "
    r"(?:done|completed?|finished|resolved)\b",
    re.IGNORECASE,
)
_WORDS_THAT_SHOW = {
    "preference": """always never prefer prefers preferred preference hate hates dislike rather instead favourite favorite
    allergic allergy avoid must only ignore forget stop don't don’t unless vegetarian vegan""",
    "wish": "love loves like want",
    "change": "changed change moved switched switch instead longer anymore replaced renamed became",
    "decision": """decided decide decision agreed agree approved approve approval chose chosen choose confirmed settled picked
    use let's we'll rule policy""",
    "deadline": "deadline due until till by before after expires valid every daily weekly monthly schedule scheduled ends",
    "event": """born married moved joined left quit hired started finished bought sold booked visited met graduated promoted
    broke won lost died travelling traveling arrive arrives run runs work works live lives lead leads own owns
    called named""",
    "kin": """mother mom mum dad father parents sister brother siblings cousin aunt uncle grandma grandpa grandmother grandfather
    wife husband partner girlfriend boyfriend fiance fiancee son daughter child children kid kids family baby niece nephew""",
    "past": "was were had did went met came got bought saw left took made said told gave sold flew ran began tried been",
    "to_you": "you you're you've you'll you'd your yours you’re you’ve you’ll you’d",
    "reacts": """amazing awesome congrats congratulations cool glad great hope inspiring nice proud sounds thank thanks
    wonderful wow""",
    "stresses": "always really so such",
    "favourite": "favorite favorites favourite favourites",
    "feels": "feel feels feeling felt",
    "time": """today tomorrow yesterday tonight monday tuesday wednesday thursday friday saturday sunday mondays tuesdays
    wednesdays thursdays fridays saturdays sundays january february april May june july august september october
    november december week month year birthday anniversary minutes hours days weeks months years
    last ago next since recently""",
    "unsure": "maybe might perhaps probably possibly guess unsure wondering",
    "advice": "recommend recommended recommends suggest suggested suggestion advise advised best avoid never instead",
    "promises": "i'll i’ll we'll we’ll promise",
}
_SHOWS = {
    "own": _SELF,
    "first": _SELF | word_set("we we're we'd we'll we've us our ours myself we’re we’d we’ll we’ve"),
    **{cue: word_set(words) for cue, words in _WORDS_THAT_SHOW.items()},
}
_SHOWN_BY = {
    word: [cue for cue, some in _SHOWS.items() if word in some] for word in frozenset().union(*_SHOWS.values())
}


_BY_WORDS = _SHOWS.keys() - {"first", "preference", "change", "past", "to_you", "unsure"}  # other signs show those too


class Cues(NamedTuple):
    """What a sentence shows: yes or no for kinds of words, numbers for how many."""

    own: bool
    first: bool
    tells: bool
    ours: bool
    preference: bool
    wish: bool
    change: bool
    decision: bool
    deadline: bool
    event: bool
    kin: bool
    past: bool
    to_you: bool
    reacts: bool
    stresses: bool
    favourite: bool
    vague: bool
    feels: bool
    time: bool
    error: bool
    unsure: bool
    advice: bool
    promises: bool
    quoted: bool
    asks: bool
    leads: bool
    done: bool
    codes: int
    numbers: int
    names: int

    @property
    def strong(self) -> bool:
        """Whether this is a fact, preference, decision or deadline rather than talk."""
        told = self.preference or self.wish or self.change or self.decision or self.deadline or self.event
        return told or self.names > 0


def read(text: str, words: Collection[str]) -> Cues:
    """The cues of one sentence, given its words."""
    bag = frozenset(words)
    shown = {cue for word in bag if word in _SHOWN_BY for cue in _SHOWN_BY[word]}
    own = "own" in shown
    beyond = is_beyond_latin(text)
    return Cues(
        **{cue: cue in shown for cue in _BY_WORDS},
        first=beyond or "first" in shown,
        tells=text.startswith(("I ", "My ", "We ")),
        ours="first" in shown and not own,
        preference="preference" in shown or _NONE_OF.match(text) is not None,
        change="change" in shown or _CONTRAST.search(text) is not None,
        past="past" in shown or _ENDED.search(text) is not None,
        to_you="to_you" in shown and not own,
        vague=text.startswith(_VAGUE),
        error=_wrong(text, bag),
        unsure="unsure" in shown or "not sure" in text,
        quoted='"' in text or "“" in text,
        asks=any(mark in text for mark in "?\uff1f\u061f"),
        leads=text.endswith((":", "：")),
        done=done(text, bag),
        codes=len(_CODE.findall(text)) if "-" in text else 0,
        numbers=len(specifics(text)) + len(bag & NUMBERS),
        names=len(bag - STOP) // _A_NAME if beyond else len(_NAME.findall(text)),
    )


def _wrong(text: str, bag: frozenset[str]) -> bool:
    """Whether a text tells of an error; `errors 0` and `no failures` do not."""
    if bag.isdisjoint(ERROR) and "Error" not in text and "Exception" not in text:
        return False
    return not _NO_ERROR.search(text)


def specifics(text: str) -> list[str]:
    """The numbers, identifiers, paths and file names of a text."""
    return _SPECIFIC.findall(text) if _MAY_BE_SPECIFIC.search(text) else []


def asked(text: str, words: Sequence[str]) -> bool:
    """Whether a text asks for something: a question, or an order by its first word after `next`, `ok` and the like."""
    first = next((word for word in words if word not in _FORE), "")
    return first in ORDER or _ASKED.search(text) is not None


def done(text: str, words: Collection[str]) -> bool:
    """Whether a text says that something has been finished: no plan, no wish, no question, no denial, no quotation."""
    if _DONE.isdisjoint(words) or any(sign in text for sign in '?？"“'):
        return False
    if any(word in _NOT_YET or word.endswith(("n't", "n’t")) for word in words):
        return False
    if _IS_DONE.search(text) or _TESTS_PASS.search(text):
        return True
    return any((found["before"] or "").lower() not in _STATES for found in _FINISHED.finditer(text))


def nothing_left(text: str) -> bool:
    """Whether a text says that nothing is to do any more; one that asks does not."""
    return "?" not in text and "？" not in text and _NOTHING_LEFT.search(text) is not None
