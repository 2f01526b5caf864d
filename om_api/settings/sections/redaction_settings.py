"""Redaction: what of an agent's messages is replaced by placeholders, before what, and who may put it back."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, PlainValidator

from om_api.settings.sections.fields import Group, secret_variable, setting, switch

KINDS = ("email", "phone", "card", "iban", "secret")
Before = Annotated[  # YAML reads a bare off as false
    Literal["off", "store", "model"], BeforeValidator(lambda said: "off" if said is False else said)
]


def _kinds(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not value or any(each not in KINDS for each in value):
        raise ValueError("no list of kinds")
    return tuple(kind for kind in KINDS if kind in value)


class RedactionSettings(Group):
    """What is replaced by placeholders; off, nothing is looked for."""

    before: Before = setting(
        "off",
        "before what addresses, numbers and secrets are replaced: store (nothing is kept of them), model (messages are kept as"
        " they were said, no model is sent them), or off",
        "off, store or model",
    )
    kinds: Annotated[tuple[str, ...], PlainValidator(_kinds)] = setting(
        KINDS, "what is replaced", f"a list of any of {', '.join(KINDS)}"
    )
    engine: Literal["patterns", "presidio"] = setting(
        "patterns", "who looks: our patterns, or these and Microsoft's Presidio", "patterns or presidio"
    )
    region: str | None = setting(
        None,
        "country of phone numbers that name none; null: only numbers with a country code are found",
        "two capital letters such as AT, or null",
        pattern=r"^[A-Z]{2}$",
    )
    key_env: str | None = secret_variable(
        "key that each value is named by and encrypted with; null: none can be put back"
    )
    reveal: bool = switch("true: contexts and recall have the values put back, where the key is set", on=False)

    @property
    def is_on(self) -> bool:
        """Whether anything is replaced."""
        return self.before != "off"
