"""Whether a section of a reply, or a line of notes, says that there is nothing, in the ways models say it."""

from om_api.language.words import word_set
from om_api.patterns.pattern import Pattern

_LONGEST = 120  # characters of a clause; what is longer says something
_ENDS = Pattern(r"[\n;(]|[.,]\s|\s[-–—]\s")
_LABEL = Pattern(
    r"(?:primary|secondary|current[ -]task|task|suggested[ -]response|next[ -]step)\s*[:：]", ignore_case=True
)
_EDGES = Pattern(r"\A[\W_]+|[\W_]+\Z")
_ELSEWHERE = word_set(
    """keine keiner keines nichts aucun aucune rien ninguno ninguna nada nenhum nenhuma nessuno nessuna niente geen niets
    brak нет ничего なし 特になし 无 無 没有 沒有 없음"""
)
_WHICH = (
    "current|currently|active|open|pending|outstanding|remaining|further|specific|immediate|suggested|particular|other|more"
    "|new|next|unresolved|additional|explicit|ongoing|unfinished"
)
_KIND = (
    "tasks?|work|actions?|items?|requests?|questions?|responses?|reply|replies|suggestions?|steps?|follow-?ups?|to-?dos?|goals?"
    "|issues?|business"
)
_HOW = (
    "is|are|was|were|left|to do|to be done|currently|now|right now|at the moment|at this (?:moment|time|point|stage)|at present"
    "|for now|so far|yet|pending|open|outstanding|remaining|remains?|further|else|more|needed|required|necessary|planned|active"
    "|ongoing|in progress|specified|given|identified|assigned|available|suggested"
)
_THERE = "(?:there (?:is|are) (?:currently |now )?)?"
_NO_THING = (
    rf"{_THERE}(?:none|nothing|nil|null|n\.?/?a|not (?:applicable|specified|given|available)|empty|unknown|tbd|idle)"
    rf"(?: (?:{_HOW}))*"
)
_NO_KIND = rf"{_THERE}no(?: (?:{_WHICH}))*(?: (?:{_KIND})(?: (?:and|or) (?:{_WHICH}|{_KIND}))*)+(?: (?:{_HOW}))*"
_ALL_DONE = (
    r"(?:(?:all|everything|the) )?(?:(?:current|open|pending|requested) )?(?:(?:tasks?|work|requests?|items?) )?"
    r"(?:(?:is|are|was|were|has been|have been|now|all) )*(?:done|completed?|finished|resolved|settled)"
)
_THE_END = (
    "(?:the )?(?:conversation|session|chat) (?:(?:has|is|was) )?(?:now )?(?:ended|over|concluded|closed|finished)"
)
_NOTES = "observations?|notes?|facts?|information|info|details?|updates?|changes?|content|messages?|events?"
_WORTH = "notable|noteworthy|relevant|important|significant|specific|meaningful|substantive"
_NOTED = (
    f"{_HOW}|{_WORTH}|new|made|found|noted|observed|recorded|reported|to (?:note|observe|add|report|record|condense)"
    "|(?:worth|worthy of) (?:noting|observing|recording|a note)|of (?:note|interest|importance)"
    "|(?:in|from|for|of) (?:this|these|the) (?:messages?|conversation|exchange|session|thread|batch)"
)
_NO_NOTES = Pattern(
    rf"{_THERE}(?:none|nothing|no(?: (?:{_WHICH}|{_WORTH}))* (?:{_NOTES})(?: (?:and|or) (?:{_NOTES}))?)"
    rf"(?: (?:{_NOTED}))*",
    ignore_case=True,
)
_NOTHING = Pattern(f"{_NO_THING}|{_NO_KIND}|{_ALL_DONE}|{_THE_END}", ignore_case=True)
_WAITING = Pattern(
    r"(?:wait|waiting) (?:for|on) (?:the )?user(?:['’]s)?(?: (?:next|new|further))?"
    r"(?: (?:message|request|input|question|instructions?|task|reply|turn))?",
    ignore_case=True,
)


def says_nothing(text: str) -> bool:
    """Whether a section is empty, or each of its clauses says "none": "n/a", "-", "no open tasks", "Primary: nothing pending".

    Beside such a clause, one that waits for the user says no more. "None of the tests pass" says something.
    """
    clauses = [said for clause in _ENDS.split(text) if (said := _bare(clause))]
    telling = [clause for clause in clauses if not _WAITING.fullmatch(clause)]
    return all(map(_is_nothing, telling)) and bool(telling or not clauses)


def notes_nothing(line: str) -> bool:
    """Whether a line of notes says in each of its clauses that there is nothing to note: "No new observations."."""
    clauses = [said for clause in _ENDS.split(line[: _LONGEST + 1]) if (said := _bare(clause))]
    return len(line) <= _LONGEST and bool(clauses) and all(map(_NO_NOTES.fullmatch, clauses))


def without_label(line: str) -> str:
    """A line of a section without a label such as `Primary:`."""
    line = line.lstrip()
    label = _LABEL.match(line)
    return line[label.end() :] if label else line


def _bare(clause: str) -> str:
    """A clause without its mark, its label and what stands around its words; "" when that is all it is."""
    clause = _EDGES.sub("", clause)
    if label := _LABEL.match(clause):
        clause = _EDGES.sub("", clause[label.end() :])
    return "" if _LABEL.fullmatch(f"{clause}:") else " ".join(clause.split())


def _is_nothing(clause: str) -> bool:
    return len(clause) <= _LONGEST and (_NOTHING.fullmatch(clause) is not None or clause.lower() in _ELSEWHERE)
