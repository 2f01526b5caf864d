"""Pasting: which lines of a user's message are his own, and which he hands on, by how people do that."""

from om_api.patterns.pattern import Pattern
from om_workers.trust.disguises import is_hidden
from om_workers.trust.looks import Look, look_of

_LONG = 800  # characters of a message from which on its orders to a model are taken for handed on
_TYPED = 500  # lines of a message that are looked at one by one: nobody types more, and each takes time
_FENCE = "```"
_THINGS = (
    r"(?:e-?mails?|mails?|messages?|texts?|pages?|web ?sites?|articles?|documents?|docs?|files?|reviews?|posts?|comments?"
    r"|letters?|contracts?|pdfs?|readme|issues?|tickets?|logs?|outputs?|snippets?|code|papers?|transcripts?|notes?|invoices?|cvs?"
    r"|quotes?|chats?|threads?|results?|nachricht\w*|artikel|dokumente?|seite|datei|courriels?|texte|pièce"
    r"|r[eé]sum[eé]s?|correos?|texto|página|mensajes?|artículos?|documentos?)"
)
_THE = r"(?:this|these|the|that|following|my|a|an|diese\w*|folgende\w*|der|die|das|ce|cet|cette|le|la|este|esta|el)"
_READ = (
    r"(?:summari[sz]e|translate|proofread|rewrite|check|read|review|explain|look at|what (?:does|is)|got|received|found|says?"
    r"|said|wrote|reads)"
)
_INTRO = Pattern(
    rf"\b{_THE}\b[^.!?:\n]{{0,40}}\b{_THINGS}\b[^.!?:\n]{{0,60}}:"
    rf"|\b{_READ}\b[^.!?:\n]{{0,30}}\b(?:this|these|following|it|says?|said)?:",
    ignore_case=True,
)
# who asks to be heard goes on himself
_HEED = Pattern(
    r"\b(?:carefully|closely|listen|remember|note|for you|to you|für dich|an dich|an sie"
    r"|pour toi|pour vous|para ti|para usted)\b",
    ignore_case=True,
)
_HANDLES = Pattern(
    r"\b(?:summari[sz]e|translate|proofread|rewrite|explain|got|received|found|says?|said|wrote)\b", ignore_case=True
)
_MINE = Pattern(
    r"\b(?:i|i'm|i've|i'd|my|me|mine|we|our|ich|mein\w*|mir|mich|wir|unser\w*|je|mon|mes|nous|yo|mis?|soy|eu|meu|minha|io|mio|mia|ik|mijn)\b",
    ignore_case=True,
)
# what is asked about "this", or asked for "this": what follows is it
_ABOUT_IT = Pattern(
    r"\b(?:sum (?:this|it|that|these) up|tl;?dr|(?:summari[sz]e|translate|proofread|rewrite|explain|review|check)"
    r" (?:this|it|these|that)"
    r"|what (?:do|would) you (?:think|make|say) (?:of|about|to) (?:it|this|that|these)"
    r"|look at (?:this|it|these)|what does (?:it|this) (?:say|mean)"
    r"|(?:is|are) (?:this|it|these) (?:true|real|right|ok|okay|legit|spam|genuine)"
    r"|(?:fass|fasse|übersetz\w*|prüf\w*|lies) (?:das|dies|es|mir das)"
    r"|was (?:hältst du|halten sie) (?:davon|von)|résume[zr]? (?:ça|ceci)"
    r"|traduis (?:ça|ceci)|qu'en (?:penses|pensez)|resume esto|traduce esto|qué (?:opinas|piensas))\b",
    ignore_case=True,
)
_LOG = Pattern(
    r"[ \t]*(?:\[?\d{4}-\d\d-\d\d[T ,]?|\[?\d\d:\d\d:\d\d\b|at [\w.$]+\("
    r"|(?:error|warn(?:ing)?|info|debug|fatal|traceback)\b[ \]:(])",
    ignore_case=True,
)
_HEAD = r"(?:from|to|subject|sent|cc|von|an|betreff|de|objet|asunto)[ \t]*:[ \t]*\S"
_HEADS = Pattern(rf"[ \t]*{_HEAD}", ignore_case=True)
_ADDRESSED = Pattern(rf"[ \t]*{_HEAD}[^\n]*@", ignore_case=True)
_BEGINS = Pattern(
    r"[ \t]*(?:-{3,}.*\b(?:forwarded|original|begin|weitergeleitet)\b|on .{5,80} wrote:"
    r"|<(?:!|html|body|div|p|span|script|table|h[1-6])\b|<\|\w+\|>|\[/?INST\]|<</?SYS>>"
    r"|(?:#+[ \t]*)?(?:system|assistant|human|developer)[ \t]*:|=+ ?begin|</?[a-z_]{3,30}>)",
    ignore_case=True,
)
_MARKUP = Pattern(r"<(?:!--|html|body|div|p|span|script|table|h[1-6]|a|img|meta|iframe)\b[^>\n]*>", ignore_case=True)
_TURN = Pattern(r"[ \t]*(?:#+[ \t]*)?(?:user|human|assistant|system)[ \t]*:", ignore_case=True)
_QUOTED = Pattern(r"[\"“„«]([^\"”“»\n]{25,})[\"”»]")
_MEANT = Pattern(
    r"\b(?:(?:please |so |just )(?:do|follow|keep|heed) (?:that|this|it|so)|do (?:that|this|so)[.!]?$"
    r"|bitte mach\w* das|fais-le|hazlo)",
    ignore_case=True,
)


def parted(text: str) -> tuple[list[str], list[str]]:
    """The lines of a user's message: his own, and those that he hands on.

    What stands behind "this text:", below a question about "this", in quotation marks or a fence, behind the head of a mail or a
    turn of a template, in a log; what nobody types, as look-alike letters within words, and what comes after 500 lines; and in a
    long message orders to a model.
    """
    own, pasted, fenced, rest = list[str](), list[str](), False, False
    lines, long = text.split("\n"), len(text) > _LONG
    last_turn = next((at for at in range(len(lines) - 1, -1, -1) if ":" in lines[at] and _TURN.match(lines[at])), -1)
    for at, line in enumerate(lines):
        if not line.strip():
            continue
        fence = line.lstrip().startswith(_FENCE)
        fenced ^= fence
        rest = rest or at >= _TYPED or _begins(lines, at, last_turn)
        if rest or fenced or fence or line.lstrip().startswith((">", "|")) or _handed_on(line, long=long):
            pasted.append(line)
            continue
        said, after, rest = _introduced(line)
        quotes = [] if _MEANT.search(_QUOTED.sub(" ", said)) else [found[1] for found in _QUOTED.finditer(said)]
        own.append(_QUOTED.sub(" ", said) if quotes else said)
        pasted += [*quotes, *([after] if after.strip() else ())]
    return [line for line in own if line.strip()], [line for line in pasted if line.strip()]


def _begins(lines: list[str], at: int, last_turn: int) -> bool:
    """Whether something that somebody else wrote begins with a line, and goes on to the end."""
    line, following = lines[at], lines[at + 1] if at + 1 < len(lines) else ""
    if _BEGINS.match(line) or _ADDRESSED.match(line):
        return True
    if _HEADS.match(line) and _HEADS.match(following):
        return True
    return at < last_turn and _TURN.match(line) is not None


def _introduced(line: str) -> tuple[str, str, bool]:
    """What a line says itself, what it hands on, and whether it hands on the lines below as well."""
    if shown := _MARKUP.search(line):
        return line[: shown.start()], line[shown.start() :], False
    found = _INTRO.search(line)
    if found is None:
        about = _ABOUT_IT.search(line)
        return line, "", about is not None
    said, after = line[: found.end()], line[found.end() :]
    if after.strip() and _speaks_himself(said, after):
        return line, "", False
    return said, after, True


def _speaks_himself(intro: str, after: str) -> bool:
    """Whether behind a colon goes on who spoke before it: he asks to be heard, or tells of himself and orders nothing."""
    if _HANDLES.search(intro) or look_of(after) is Look.ORDERS:
        return False
    return bool(_HEED.search(intro) or ((_MINE.search(after) or _MINE.search(intro)) and not look_of(after)))


def _handed_on(line: str, *, long: bool) -> bool:
    return (
        is_hidden(line)
        or _LOG.match(line) is not None
        or (long and not _MINE.search(line) and look_of(line) is Look.ORDERS)
    )
