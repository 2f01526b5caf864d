"""What a message says beside what was kept under its id, and what has to become of it: the rules, told by texts alone."""

from typing import Any, NamedTuple


class Form(NamedTuple):
    """What a message says: its role, and the texts of its parts."""

    role: str
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it; no two forms of one id say the same all in all."""
        return "".join(self.parts)

    @property
    def content(self) -> str | list[dict[str, Any]]:
        """As a message has it: a text if it is one part."""
        parts = [{"type": "text", "text": text} for text in self.parts]
        return self.parts[0] if len(parts) == 1 else parts


def said(text: str, role: str = "user") -> Form:
    """A form of one text."""
    return Form(role, (text,))


def goes_on(kept: Form, comes: Form) -> bool:
    """Whether what was kept is all of what comes, or a beginning: the same parts and then more, or a longer text."""
    whole, last, n = kept.parts[:-1], kept.parts[-1], len(kept.parts)
    alike = kept.role == comes.role and whole == comes.parts[: n - 1] and len(comes.parts) >= n
    return alike and comes.parts[n - 1].startswith(last)


class Kept(NamedTuple):
    """What is kept under an id, and whether all of that is raw. `form` None: the id is not known."""

    form: Form | None
    raw: bool = True

    def given(self, comes: Form, *, replace: bool) -> tuple[str, "Kept"]:
        """The word of the receipt for what comes, and what is kept then."""
        if self.form is None:
            return "added", Kept(comes)
        if self.form == comes:
            return "duplicates", self
        if goes_on(self.form, comes):
            return "grown", Kept(comes, self.raw)
        if not replace and self.raw and goes_on(comes, self.form):
            return "duplicates", self
        return ("replaced", Kept(comes)) if replace and self.raw else ("changed", self)
