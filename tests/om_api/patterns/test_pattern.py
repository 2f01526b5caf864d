import random
import re

import pytest

from om_api.patterns.pattern import Pattern

SIGNS = "aAbnNsSiIkK01 _.,!?\n\t'’ÀÞ×éüßſKİıя我・²٣\x01\u0301\ud800\U000e0041\u00a0=+/-x"
SAME = [r"\b(?:no|si|üb\w*)\b", r"[^\W\d_][\w'’-]*", r"[^.!?\n]{2,5}\b(?:a|é)", r"(?:\w+[.!?,_-]+\s*){2,}\w+", r"\d+",
        r".\b.", r"[^_]_?", r"[A-ZÀ-Þ]\w", r"\Dx?", r"[^\S\n]a?", r"[\S_]é|(?P<k>k)|\u0301", r"(a)|(\W)", r"x*"]  # fmt: skip
AROUND = [
    (r"(?<![\w+/=])[a-z+]{2,4}(?![\w+/=])", r"[a-z+]{2,4}", r"^|[^\w+/=]", r"[^\w+/=]|$"),
    (r"(?<!\w)\w(?!\w)", r"\w", r"^|\W", r"\W|$"),
    (r"(?<=[.!?])\s+", r"\s+", "[.!?]", ""),
    (r"[a-z]+(?=[.!?])", "[a-z]+", "", "[.!?]"),
]


def test_pattern_finds_what_re_finds():
    drawn = random.Random(7)
    texts = ["".join(drawn.choices(SIGNS, k=length)) for length in (0, 1, 2, 3, 5, 8, 12, 20) for _ in range(60)]
    same = [
        (re.compile(each, flag), Pattern(each, ignore_case=bool(flag))) for each in SAME for flag in (0, re.IGNORECASE)
    ]
    around = [(re.compile(ours), Pattern(core, behind=behind, ahead=ahead)) for ours, core, behind, ahead in AROUND]
    for theirs, ours in (*same, *around):
        for text in texts:
            found = [(each.span(), each.groups(), each.groupdict(), each.lastgroup) for each in theirs.finditer(text)]
            made = [(each.span(), each.groups(), each.groupdict(), each.lastgroup) for each in ours.finditer(text)]
            assert made == found, (theirs.pattern, text)
            assert ours.findall(text) == theirs.findall(text), (theirs.pattern, text)
            assert ours.sub("-", text, 2) == theirs.sub("-", text, 2), (theirs.pattern, text)
    for theirs, ours in same:
        for text in texts:
            for how in ("match", "fullmatch", "search"):
                found, made = getattr(theirs, how)(text), getattr(ours, how)(text)
                assert (made and made.span()) == (found and found.span()), (how, theirs.pattern, text)


def test_pattern_refuses_what_re2_cannot_do():
    for pattern in ("a(?=b)", "(?<!a)b", "(?P<x>a)(?P=x)", r"[\D1]"):
        with pytest.raises(ValueError, match="in a pattern"):
            Pattern(pattern).search("a")
