"""Words of English texts: as they are compared, by their stems too, those that carry nothing, nouns with their numbers."""

import re

_WORD = re.compile(r"\w+(?:[-./:@'’_,]\w+)*%?")
_BARE_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’](?:s|S)?$")
_GROUPING = re.compile(r"(?<=\d)[,'\u2009\u202f\u00a0](?=\d{3}(?!\d))")
_ENDING = re.compile(r"(?:ations?|ments?|ings?|ions?|edly|ies|ied|ers?|ed|es|ly|s|e|y)$")
# a month, a country, a field, a time of day: the case tells them from little words
_BY_CASE = re.compile(r"\b((?<!^)May|May(?!\s+(?:I|we|you|he|she|it|they|the)\b)|US|IT|AM)\b")
_STEM = 6  # characters: what follows is mostly grammar
_SHORTEST = 3


def word_list(text: str) -> list[str]:
    """The words of a text, parted by white space: how our word lists are written."""
    return text.split()


def word_set(text: str) -> frozenset[str]:
    """The same as a set."""
    return frozenset(word_list(text))


FUNCTION_WORDS = word_set(
    """a about also am an and any are as at be been being but by can could did do does doing each for had has have he her
    here him his how i if in into is it its may me might my of on or our out own she should so some such than that the
    their them then there these they this those to too up us very was we were what when where which while who why will
    with would you your"""
)
# what a sentence is not weighed by
STOP = FUNCTION_WORDS | word_set(
    """above after again all aren't around because before below between both can't come couldn't didn't doesn't don't
    down during even every few from get getting go going good got haven't hers i'd i'll i'm i've isn't it's itself know
    let let's like ll look made make many more most much must near no nor not now off one only other over please put re
    really right s said same say see seems still sure take that's there's thing things think though through under until
    use used using ve want wasn't way we'd we'll we're we've well what's without won't yes yet you'd you'll you're
    you've"""
)
# what no fact is known by
EMPTY = FUNCTION_WORDS | word_set(
    """above after again agent all asked asks assistant away back because before below between both done down during
    even every few from further get gets getting got having however itself just keep let like more most much must new no
    nor not now off once one only other over per please put rather re said same say says see since stated still tell
    through told under until upon use used user users want wants whether whom whose within without yet"""
)
CHATTER = word_set(
    """agreed ah aha alright amazing awesome back bet big bless brb brilliant bye bye-bye cheers ciao congrats
    congratulations cool cute danke day deal enjoy evening exactly excellent fair fantastic fine friday friend fun
    funny glad gladly goodbye gotcha gracias great guess haha hahaha happy heh hehe hello help hey hi hm hmm hmmm
    hooray hope huh later lol lovely luck lunch mate merci monday morning nah neat nice night noted oh ok okay ooh oops
    ouch perfect phew pleasure point points problem quick right safe saturday see sigh soon sounds sorry stuff sunday
    super sweet talk thank thanks thursday thx till time today tomorrow travels true tuesday ty ugh uh understandable
    understood wednesday weekend welcome welp wonderful work worries wow xd yay yeah yep yes yess yesss yikes yo yup"""
)
FIGURES = {
    word: str(number)
    for number, word in enumerate(
        word_list(
            """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
            seventeen eighteen nineteen twenty"""
        )
    )
}
NUMBERS = FIGURES | {"thirty": "30", "forty": "40", "fifty": "50", "hundred": "100", "thousand": "1000", "dozen": "12"}


def words(text: str) -> list[str]:
    """The words of a text in lower case, but for May, US, IT and AM; identifiers, paths, numbers and times stay whole."""
    if _BY_CASE.search(text) and not text.isupper():
        parts = _BY_CASE.split(text)
        text = "".join(part if place % 2 else part.lower() for place, part in enumerate(parts))
    else:
        text = text.lower()
    return _WORD.findall(text)


def told_by_case(text: str, start: int) -> bool:
    """Whether the word that begins at a place is no little word, as its case tells: May, US, IT, AM."""
    return _BY_CASE.match(text, start) is not None and not text.isupper()


def bare_words(text: str) -> list[str]:
    """The words of a text in lower case, possessives without their ending, numbers without separators."""
    return [_POSSESSIVE.sub("", word) for word in _BARE_WORD.findall(_GROUPING.sub("", text.lower()))]


def stem(word: str) -> str:
    """The part that inflected forms of a word share, as a rule: `moving`, `moved` and `moves` are `mov`."""
    if word in NUMBERS:
        return NUMBERS[word]
    short = _ENDING.sub("", word) if len(word) > _SHORTEST else word
    return (short if len(short) >= _SHORTEST else word)[:_STEM]


def stems(text: str) -> set[str]:
    """The stems of the words that carry something."""
    return {stem(word) for word in bare_words(text) if word not in EMPTY and (len(word) >= _SHORTEST or word.isdigit())}


def holds_word(text: str, word: str) -> bool:
    """Whether a text holds these very letters, not as a part of a longer word."""
    at = text.find(word)
    while at >= 0:
        around = text[max(0, at - 1) : at] + text[at + len(word) : at + len(word) + 1]
        if not any(each.isalnum() or each == "_" for each in around):
            return True
        at = text.find(word, at + 1)
    return False


def amount(number: int, one: str, more: str = "") -> str:
    """A number with its noun: `1 message`, `1,204 messages`; `more` is the plural where it is not `one` and an s."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"
