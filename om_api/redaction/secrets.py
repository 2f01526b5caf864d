"""Keys, tokens and passwords in a text: by what they are known to begin with, by what stands before them, or by their look."""

from bisect import bisect_right
from collections.abc import Iterator

from om_api.patterns.pattern import Match, Pattern

# of known forms; a digit is asked for where words could look like it. What is bounded is so because text is anybody's
_PRIVATE_KEY = Pattern(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-{1,4}[^-])*"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|-{1,4}$)?"
)
_KNOWN = Pattern(
    r"sk-[A-Za-z0-9_-]{20,300}"  # OpenAI, Anthropic, DeepSeek
    r"|[sprw]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,}"  # Stripe
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[\w-]{16,}"
    r"|(?:AKIA|ASIA)[0-9A-Z]{16}"  # AWS
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}"  # Slack
    r"|AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}"  # Google
    r"|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{16,}|hf_[A-Za-z0-9]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}"
    r"|omk?_[A-Za-z0-9_-]{32,}"
    r"|eyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*",  # a JWT
    behind="^|[^A-Za-z0-9]",
)
_LED_TO_DIGIT = Pattern(r"sk-[\w-]{0,40}\d")
_AMAZON, _OF_AMAZON = ("AKIA", "ASIA"), Pattern("[0-9A-Z]")
_BEARER = Pattern(
    r"\b(?:bearer[ \t]+|authorization[\"']?[ \t]*[:=][ \t]*[\"']?basic[ \t]+)(?P<value>[\w.~+/-]{12,}=*)",
    ignore_case=True,
)
_USER = Pattern(r"\b[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/@:]{0,200}:")
_PASSWORD = Pattern(r"[^\s\"'<>`]{1,201}")
_LONGEST = 200  # characters of a password in a URL
_HOST = Pattern(r"\[|[\w.-]{1,255}(?:[:/?#\s\"'<>`),;\]}\\]|$)")
_LONGEST_HOST = 256
_WITH_PORT = Pattern(r"(?:http|ws)s?://[^\s/@:]{0,200}:\d{1,5}/", ignore_case=True)
_CURL = Pattern(
    r"\bcurl\b[^\n]{0,500}?[ \t](?:-u|--user|-U|--proxy-user)[ \t=]{0,4}"
    r"(?:\\?\"[^\"\n:]{1,100}:(?P<double>[^\"\\\n]{1,200})|'[^'\n:]{1,100}:(?P<single>[^'\n]{1,200})|[^\s\"':]{1,100}:(?P<bare>[^\s\"'\\]{1,200}))"
)
_PASSES = r"pass(?:word|wd|phrase)|pwd|passwort|kennwort"
_KEYS = r"secret|token|api[ _-]?key|access[ _-]?key|private[ _-]?key|client[ _-]?secret|auth[ _-]?key|credential"
_SAID = Pattern(
    rf"(?P<name>{_PASSES}|{_KEYS})\\?[\"']?[*_`]{{0,3}}[ \t]{{0,4}}(?P<sign>:=|=>|=|:|[ ]is[ ])[*_]{{0,3}}[ \t]{{0,4}}"
    r"(?:`(?P<tick>[^`\n]{3,200})`|\\?\"(?P<double>[^\"\\\n]{3,200})\\?\"|'(?P<single>[^'\n]{3,200})'|(?P<bare>[^\s\"'\\,;&<>()\[\]{}]{3,200}))",
    ignore_case=True,
)
_TAGGED = Pattern(rf"<(?P<name>{_PASSES}|{_KEYS})>\s{{0,20}}(?P<value>[^<>\s][^<>\n]{{2,200}})</", ignore_case=True)
_IS_PASSES = Pattern(rf"(?:{_PASSES})$", ignore_case=True)
# a field's name that says what stands in it
NAMED = Pattern(rf"[\w.\s-]{{0,100}}(?:{_PASSES}|{_KEYS})", ignore_case=True)
_NO_VALUE = Pattern(
    r"(?:required|optional|none|null|nil|true|false|string|str|text|bytes|missing|invalid|incorrect|wrong|expired|reset"
    r"|changed|the|not|and|your|user|here|empty|unknown|forgotten|forgot|lost|please|enter|use|using|used|choose|set|sent|stored"
    r"|must|should|shall|can|cannot|could|may|might|will|would|has|have|had|does|did|was|were|are|that|this|these|those|there"
    r"|they|them|their|its|his|her|our|who|how|what|when|where|which|why|with|without|from|for|into|only|never|always|same"
    r"|new|old|any|one|two|all|every|each|both|some|see|ask|try|nothing|something|anything|at least|\*+|x+|\.+|\$.*|%.*)[.!?,]?",
    ignore_case=True,
)
_WORDS = ("pass", "pwd", "kennwort", "secret", "token", "key", "credential")
_DIGIT = Pattern(r"\d")
_NUMBER = Pattern(r"\d+")
_MIXED = Pattern(r"[\d!#$%&*+=@^~]")
_RUN = Pattern(r"[A-Za-z0-9+/_=-]{24,200}", behind="^|[^A-Za-z0-9+/_=-]", ahead="[^A-Za-z0-9+/_=-]|$")
_PIECE = Pattern(r"[A-Za-z0-9]{24,}")
_MANY, _LEAST_TOKEN = 3, 6
# what looks like a secret and is none: names that models' providers give, beginnings of pictures and files, links of Google's
_ID = Pattern(r"(?:srvtoolu|toolu|call|fc|msg|resp|rs|req|run|chatcmpl|gen)[_-][A-Za-z0-9_-]{8,}")
_PICTURE = Pattern(r"iVBORw0KGgo|/9j/|R0lGOD|UklGR|Qk0|PHN2Zy|JVBERi0")
_LINK = Pattern(
    r"https?://(?:[\w-]{1,63}\.){0,4}(?:google\.[a-z]{2,3}|goo\.gl|youtube\.com|youtu\.be)/[^\s\"'<>]{0,500}",
    ignore_case=True,
)


def secrets_in(text: str) -> Iterator[tuple[int, int]]:
    """From where to where secrets stand; of `password=…` and the like what stands behind the sign."""
    known = [*_PRIVATE_KEY.finditer(text), *_KNOWN.finditer(text, _is_other)]
    yield from sorted(each.span() for each in known)
    if "://" in text:
        yield from _in_urls(text)
    lowered = text.lower()  # to look for words costs a tenth of what the patterns do
    if "bearer" in lowered or "basic" in lowered:
        yield from (each.span("value") for each in _BEARER.finditer(text) if _DIGIT.search(each["value"]))
    if "curl" in lowered:
        yield from (each.span(_group(each)) for each in _CURL.finditer(text))
    if any(word in lowered for word in _WORDS):
        yield from _said(text)
    yield from _random(text)


def _is_other(found: Match) -> bool:
    """Whether what begins like a key is none: words with hyphens, or a longer name in capitals."""
    start, end = found.span()
    if found[0].startswith("sk-"):
        return not _LED_TO_DIGIT.match(found.string[start : start + 44])
    return found[0].startswith(_AMAZON) and bool(_OF_AMAZON.match(found.string[end : end + 1]))


def _in_urls(text: str) -> Iterator[tuple[int, int]]:
    """The passwords in URLs: up to the last @ before a host, for a password may hold a slash, or an @."""
    for user in _USER.finditer(text):
        start = user.end()
        found = _PASSWORD.match(text[start : start + _LONGEST + 1])
        said = found[0].partition("://")[0] if found else ""
        at = said.rfind("@")
        while at > 0 and not _HOST.match(text[start + at + 1 : start + at + 1 + _LONGEST_HOST]):
            at = said.rfind("@", 0, at)
        if at > 0 and not _WITH_PORT.match(text[user.start() : start + at + 1]):
            yield start, start + at


def _random(text: str) -> Iterator[tuple[int, int]]:
    """What only its look tells, where it is nothing that is known to look so."""
    found = [each for each in _RUN.finditer(text) if any(map(_is_random, _PIECE.findall(each[0])))]
    links = [each.span() for each in _LINK.finditer(text)] if found else []
    begins = [start for start, _ in links]
    for each in found:
        start, end = each.span()
        encoded = text.endswith("base64,", max(0, start - 7), start) or _PICTURE.match(each[0])
        place = bisect_right(begins, start)
        linked = place > 0 and end <= links[place - 1][1]
        if not (encoded or linked or _ID.fullmatch(each[0])):
            yield start, end


def _said(text: str) -> Iterator[tuple[int, int]]:
    for each in _SAID.finditer(text):
        which = _group(each)
        if _is_value(each["name"], each["sign"], each[which]):
            yield each.span(which)
    if "</" in text:
        yield from (
            each.span("value") for each in _TAGGED.finditer(text) if _is_value(each["name"], ">", each["value"])
        )


def _group(found: Match) -> str:
    return next(name for name in ("tick", "double", "single", "bare") if found.groupdict().get(name))


def is_password(name: str) -> bool:
    """Whether what is called so is a password, digits or not."""
    return bool(_IS_PASSES.search(name))


def _is_value(name: str, sign: str, value: str) -> bool:
    """Whether what stands behind a name is a secret: words are not, unless it is a password's."""
    if _NO_VALUE.fullmatch(value):
        return False
    if is_password(name) and sign != " is ":
        return True
    return len(value) >= _LEAST_TOKEN and bool(_MIXED.search(value)) and not value.isdigit()


def _is_random(piece: str) -> bool:
    """Whether letters of both cases and digits change as in no word, hash, uuid or name of a class: 24 letters and more."""
    cases = (sum(map(str.isupper, piece)), sum(map(str.islower, piece)), len(_NUMBER.findall(piece)))
    return all(count >= _MANY for count in cases)
