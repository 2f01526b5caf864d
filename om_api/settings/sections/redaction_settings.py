"""Redaction: what of an agent's messages is replaced by placeholders, before what, and who may put it back."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator

from om_api.settings.sections.fields import SECRET_NAME, SECRET_PREFIX, Group, SettingOwner, setting, switch

KINDS = ("email", "phone", "card", "iban", "secret")
# countries whose numbers `phonenumbers` knows, which is not loaded to read settings
_REGIONS = (
    "AC AD AE AF AG AI AL AM AO AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BW BY BZ CA "
    "CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR "
    "GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP "
    "KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR "
    "MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PR PS PT PW PY QA RE RO "
    "RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TA TC TD TG TH TJ TK TL TM TN TO TR TT "
    "TV TW TZ UA UG US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW"
)
REGIONS = frozenset(_REGIONS.split())
Before = Annotated[  # YAML reads a bare off as false
    Literal["off", "store", "model"], BeforeValidator(lambda said: "off" if said is False else said)
]


def _kinds(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not value or any(each not in KINDS for each in value):
        raise ValueError("no list of kinds")
    return tuple(kind for kind in KINDS if kind in value)


def _region(value: str | None) -> str | None:
    if value is not None and value not in REGIONS:
        raise ValueError("no such country")
    return value


class RedactionSettings(Group):
    """What is replaced by placeholders; off, nothing is looked for."""

    owner = SettingOwner.OPERATOR

    before: Before = setting(
        "off",
        "before what addresses, numbers and secrets are replaced: store (nothing is kept of them), model (messages are kept as"
        " they were said, no model is sent them), or off",
        "off, store or model",
    )
    kinds: Annotated[tuple[str, ...], BeforeValidator(_kinds)] = setting(
        KINDS, "what is replaced", f"a list of any of {', '.join(KINDS)}"
    )
    engine: Literal["patterns", "presidio"] = setting(
        "patterns",
        "who looks: our patterns, or these and Microsoft's Presidio",
        "patterns or presidio",
        owner=SettingOwner.ADMINISTRATOR,
    )
    region: Annotated[str | None, AfterValidator(_region)] = setting(
        None,
        "country of phone numbers that name none; null: only numbers with a country code are found",
        "two capital letters of a country that has phone numbers, such as AT, or null",
    )
    key_env: str | None = setting(
        None,
        "name of the environment variable that holds the key that each value is named by and encrypted with; null: none can"
        " be put back",
        f"the name of an environment variable that begins with {SECRET_PREFIX}, such as {SECRET_PREFIX}REDACTION (never the key"
        " itself), or null",
        owner=SettingOwner.ADMINISTRATOR,
        secret=True,
        pattern=f"^{SECRET_NAME.pattern}$",
    )
    reveal: bool = switch(
        "true: contexts and recall have the values put back, where the key is set",
        on=False,
        owner=SettingOwner.ADMINISTRATOR,
    )

    @property
    def is_on(self) -> bool:
        """Whether anything is replaced."""
        return self.before != "off"
