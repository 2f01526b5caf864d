"""Judging: what a note is made of decides whether it may stand, or is only quoted."""

from collections.abc import Sequence

from om_api.domain.notes.marks import Mark
from om_workers.trust.about import tells_of_user
from om_workers.trust.heard import TOLD, Heard
from om_workers.trust.looks import Look, is_imperative, look_of
from om_workers.trust.reading import label_of, sentences, without_label, words_of
from om_workers.trust.sayings import Saying

_TOOL = "tool "
_SAID = 0.3  # the share of a note's words from which on a saying has anything to do with it
_HALF = 0.5
_HARDLY = 0.1


class Judge:
    """Says of notes whether they may stand, by the sayings they were made of and by what was quoted `before`.

    `vouched` are lines of earlier notes that stand: what is said of the user in them was judged. `unknown` is whose an order is
    that nobody in the sayings gives.
    """

    def __init__(
        self,
        sayings: Sequence[Saying],
        before: Sequence[Mark] = (),
        vouched: Sequence[str] = (),
        unknown: str = "the assistant",
    ) -> None:
        self._heard, self._unknown = Heard(sayings, before, vouched), unknown

    @property
    def harmless(self) -> bool:
        """Whether nothing that is not trusted was said: notes stand as they are then."""
        return self._heard.harmless

    def of(self, note: str, source: str = "") -> Mark | None:
        """How a sentence of notes is to be quoted; None for one that may stand. `source` is whose words the notes say it is."""
        said, quoted = without_label(note), note[len(label_of(note)) :]
        told, look = words_of(said), max(look_of(said), look_of(quoted))
        ordered, order = self._heard.best(told, self._heard.orders_like(said))
        if ordered >= TOLD and ordered > self._heard.alone(told):
            return Mark(order.kind, order.source, quoted)
        if look and (source := self._whose(said, look, order.source if ordered >= _SAID else "")):
            return Mark("order", source, quoted)
        if not self._is_named(source) and is_imperative(said) and (whose := self._told_by(said, pasted=True)):
            return Mark("order", whose, quoted)
        claims = self._claims(said) if tells_of_user(said) else ""
        return Mark("claim", claims, quoted) if claims else None

    def tool_of(self, note: str) -> str:
        """Which tool alone says what a note tells of the world; "" where somebody trusted says it too, or a user handed it on."""
        whose = "" if tells_of_user(note) else self._told_by(note)
        return whose.removeprefix(_TOOL) if whose.startswith(_TOOL) else ""

    def known(self, mark: Mark) -> Mark | None:
        """The mark as it was made before, of one that was copied."""
        told = words_of(mark.said)
        share, piece = self._heard.best(told, self._heard.quoted_before(told))
        return Mark(piece.kind, piece.source, mark.said) if share >= TOLD else None

    def wished(self, said: str) -> bool:
        """Whether people say it for themselves."""
        return self._heard.alone(words_of(said)) >= TOLD

    def only_heard(self, text: str) -> bool:
        """Whether a text comes of words that nobody trusts alone, or would be quoted among notes."""
        return not self.harmless and any(self.of(said) or self._is_strange(said) for said in [text, *sentences(text)])

    def _is_strange(self, said: str) -> bool:
        told, heard = words_of(said), self._heard
        if heard.known(told, heard.ours) >= _HARDLY:
            return False
        if heard.named_by(said, heard.distrusted):
            return not heard.in_another_script(said)
        return not heard.in_another_language(said) and heard.best(told, heard.distrusted)[0] >= TOLD

    def _claims(self, said: str) -> str:
        """Who claims of the user what a note says of him, and he does not; "" where it may be true."""
        told, heard = words_of(said), self._heard
        share, claim = heard.best(told, heard.claimants)
        name = heard.named_by(said, heard.claimants)
        if (share < _SAID and not name) or self._is_ours(told, claim.words, _HALF if name else min(share, _HALF)):
            return ""
        if not heard.in_another_language(said):
            return name or claim.source
        told_of, teller = heard.best(told, [*heard.telling, *heard.orders_like(said)])
        return teller.source if told_of >= _SAID else "" if heard.in_another_script(said) else name

    def _is_ours(self, told: frozenset[str], claimed: frozenset[str], least: float) -> bool:
        """Whether that share of what a note tells is ours, or half of that in it which somebody claims."""
        heard = self._heard
        return heard.known(told, heard.ours) >= least or heard.share(told & claimed, heard.ours) >= _HALF

    def _is_named(self, source: str) -> bool:
        """Whether notes name somebody as a source whom nobody trusts: what he tells people to do is what he said."""
        named = source.strip(": ").removesuffix(" says").lower()
        return any(
            named in {each.source.lower(), each.source.removeprefix(_TOOL).lower()} for each in self._heard.distrusted
        )

    def _told_by(self, said: str, *, pasted: bool = False) -> str:
        """Who says something that nobody says who is trusted."""
        told, heard = words_of(said), self._heard
        pieces = heard.distrusted if pasted else heard.claimants
        if heard.known(told, heard.ours) >= _SAID:
            return ""
        share, piece = heard.best(told, pieces)
        return piece.source if share >= TOLD else heard.named_by(said, pieces)

    def _whose(self, said: str, look: Look, ordered: str) -> str:
        """Whose order a note is that looks like one; "" for what a user may have wished himself."""
        told, heard = words_of(said), self._heard
        own = heard.known(told, heard.own)
        share, piece = heard.best(told, heard.distrusted)
        if share > own and share >= _SAID:
            return ordered or piece.source
        if own < _SAID and (name := heard.named_by(said, heard.distrusted)):
            return ordered or name
        if look is Look.ORDERS and own < TOLD:
            return ordered or piece.source or self._unknown
        return ordered or heard.suspects[0] if heard.suspects and own < _SAID else ""
