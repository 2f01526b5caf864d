"""Lists: the patterns that stand one a line in the text files beside these modules."""

from importlib.resources import files


def lines_of(name: str) -> list[str]:
    """The lines of a list, less its comments."""
    text = files(__package__).joinpath(name).read_text("utf-8")
    return [line for line in text.split("\n") if line and not line.startswith("#")]
