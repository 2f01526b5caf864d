"""The texts that models are asked with, by variant."""

from importlib.resources import files
from importlib.resources.abc import Traversable

import msgspec

# read as data: what asks models is above us, and may not be imported from here
_FOLDER, _DEFAULT = "om_workers.prompts", "default"


class PromptText(msgspec.Struct, frozen=True):
    """A text of a variant; `inherited` where the variant does not say it anew, so that it is the default's."""

    variant: str
    name: str
    inherited: bool
    text: str


def prompt_texts() -> tuple[PromptText, ...]:
    """Every text of every variant."""
    folders = sorted((each for each in files(_FOLDER).iterdir() if each.is_dir()), key=lambda each: each.name)
    own = {each.name: _texts(each) for each in folders if each.joinpath("observer.md").is_file()}
    usual = own[_DEFAULT]
    return tuple(
        PromptText(variant, name, name not in texts, texts.get(name, usual[name]))
        for variant, texts in own.items()
        for name in sorted(usual)
    )


def _texts(folder: Traversable) -> dict[str, str]:
    texts = (each for each in folder.iterdir() if each.name.endswith(".md"))
    return {each.name.removesuffix(".md"): each.read_text("utf-8").strip() for each in texts}
