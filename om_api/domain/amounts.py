"""How many of what, in words."""


def amount(number: int, one: str, more: str = "") -> str:
    """A number with its noun: `1 message`, `1,204 messages`; `more` is the plural where it is not `one` and an s."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"
