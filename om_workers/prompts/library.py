"""The prompts: text files in one folder for each variant."""

from functools import cache
from importlib import resources

from om_api.domain.errors import SettingsError

DEFAULT = "default"
HARDEST = 4


@cache
def variants() -> tuple[str, ...]:
    """The names of the variants there are, sorted; each is a folder beside this file."""
    folders = (entry for entry in resources.files(__package__).iterdir() if entry.is_dir())
    return tuple(sorted(folder.name for folder in folders if folder.joinpath("observer.md").is_file()))


@cache
def prompt(name: str, variant: str = DEFAULT) -> str:
    """Return a prompt's text, read once a process; what a variant does not say anew is the default's.

    Raises SettingsError for a variant that does not exist.
    """
    if variant not in variants():
        known = ", ".join(variants())
        raise SettingsError(
            f"no prompts are called {variant!r}; set observer.prompt or reflection.prompt to one of {known}"
        )
    folder = resources.files(__package__)
    file = folder.joinpath(variant, f"{name}.md")
    return (file if file.is_file() else folder.joinpath(DEFAULT, f"{name}.md")).read_text("utf-8").strip()


def guidance(level: int, variant: str = DEFAULT) -> str:
    """What to tell a Reflector whose answers were too long: "" at level 0, from level 4 on the hardest there is."""
    return prompt(f"level_{min(level, HARDEST)}", variant) if level > 0 else ""
