"""What a shared memory is told, without a model: sentences that say plainly that something was decided, preferred or is so."""

from collections.abc import Collection, Sequence

from om_api.language.telegraphic import one_line
from om_api.patterns.pattern import Pattern
from om_workers.llm.extractive.units import Unit

_CUES = {
    "decisions": Pattern(
        r"\b(?:(?:we|they|I|you) (?:have |all )?(?:decided|agreed)|(?:it (?:is|was)|it's) (?:decided|agreed|settled)|agreed on"
        r"|the plan is|our decision is|(?:we|they) (?:chose|settled on)|from now on|going forward)\b",
        ignore_case=True,
    ),
    "preferences": Pattern(
        r"\b(?:(?:I|we) (?:always |never )?prefer|please (?:always|never)|(?:I|we) (?:always|never) want)\b",
        ignore_case=True,
    ),
    "facts": Pattern(r"\b(?:for everyone|for everybody|please note|for your information|fyi)\b", ignore_case=True),
}
_MOST = 20
_LONGEST = 400


def shared(found: Sequence[Unit], kinds: Collection[str]) -> dict[str, list[str]]:
    """The sentences of people that have words of one of the kinds, by which; questions and what was pasted are none."""
    said: dict[str, list[str]] = {}
    for unit in found:
        if unit.role != "user" or unit.pasted or unit.text.rstrip().endswith("?"):
            continue
        kind = next((kind for kind in _CUES if kind in kinds and _CUES[kind].search(unit.text)), None)
        text = one_line(unit.text)[:_LONGEST].strip()
        if kind and text and text not in said.setdefault(kind, []) and len(said[kind]) < _MOST:
            said[kind].append(text)
    return {kind: lines for kind, lines in said.items() if lines}
