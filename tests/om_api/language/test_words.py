from om_api.language.likeness import Likeness
from om_api.language.telegraphic import clip, telegraphic, without_lead
from om_api.language.words import amount, bare_words, stem, stems, words


def test_words_are_what_belongs_together_and_case_tells_a_name():
    found = {
        "See src/app.py at 14:30, ada@example.org!": ["see", "src/app.py", "at", "14:30", "ada@example.org"],
        "it's 3.5% of ORD-4821": ["it's", "3.5%", "of", "ord-4821"],
        "In May it may rain": ["in", "May", "it", "may", "rain"],
        "May I go?": ["may", "i", "go"],
        "US tax for us": ["US", "tax", "for", "us"],
        "IT IS MINE": ["it", "is", "mine"],
        "I am up at 7 AM": ["i", "am", "up", "at", "7", "AM"],
    }
    assert {said: words(said) for said in found} == found
    bare = {
        "Okafor's sister, James’ car": ["okafor", "sister", "james", "car"],
        "I don't": ["i", "don't"],
        "3,120 or 3'120 or 12,34": ["3120", "or", "3120", "or", "12", "34"],
        "max_loss Anna-Lena": ["max", "loss", "anna", "lena"],
    }
    assert {said: bare_words(said) for said in bare} == bare
    assert [amount(n, "entry", "entries") for n in (0, 1, 1_204)] == ["0 entries", "1 entry", "1,204 entries"]
    assert amount(2, "message") == "2 messages"


def test_stems_are_shared_by_the_forms_of_a_word():
    shared = {
        "moving moved moves": "mov",
        "notes note noted": "not",
        "deployments deployment": "deploy",
        "organisation organise": "organi",
        "bus": "bus",
        "thirty": "30",
        "dozen twelve": "12",
    }
    assert {forms: {stem(form) for form in forms.split()} for forms in shared} == {k: {v} for k, v in shared.items()}
    assert stems("It is at a 5 of the os, and Ada's cats agree") == {"5", "ada", "cat", "agre"}


def test_a_lead_is_left_out_where_it_says_nothing():
    leads = {
        "Oh hey, I really need it by noon": "I really need it by noon",
        "Well, that was it": "that was it",
        "And we moved to the US": "we moved to the US",
        "- 8 PM: light the heater": "8 PM: light the heater",
    }
    same = ("So happy to see you", "Yes, I will", "No, not before May", "but I couldn't", "-5 degrees", "oh, ")
    leads |= {text: text for text in same}
    assert {text: without_lead(text) for text in leads} == leads


def test_in_telegraphic_style_only_words_that_carry_meaning_stay():
    """Breaks when a filler is looked for in lower case alone: a pattern that ignores case takes more letters for i and s."""
    short = {
        "I really want the red one instead of the blue one": "red one instead of blue one",
        "we moved it from March 3 to March 9": "moved from March 3 to March 9",
        "it rounds half up per line, not the contractors": "rounds half up per line not contractors",
        "the fee is 2 % for Graz before taxes": "fee 2 % Graz before taxes",
        "we deploy on Fridays at 10, never as maps": "deploy on Fridays at 10 never as maps",
        "I love it": "love",
        "it is what it is": "it is what it is",
        "we moved to the US in May and I work in IT": "moved US in May work IT",
        "it may be that he is here at 10 AM": "at 10 AM",
        'she said "the red one" to me': 'said " red one"',
        "run `the thing` now": "run `the thing` now",
    }
    fillers = ("i mean", "ı mean", "İ mean", "BASİCALLY", "pleaſe", "ReaLLy")
    short |= {f"blue car {filler} parked": "blue car parked" for filler in fillers}
    assert {text: telegraphic(text) for text in short} == short


def test_a_text_is_cut_where_a_clause_ends_or_between_words():
    assert clip("the red one", 20) == "the red one"
    assert clip("we sold the boat, but only after the long winter", 30) == "we sold the boat..."
    assert clip("we sold the boat only after the long winter", 30) == "we sold the boat only..."
    assert clip("x" * 40, 10) == "xxxxxxx..."


NOTES = [
    "* 🔴 (14:30) User's sister Mira moves to Graz in March",
    "* 🟡 (14:31) User asked for the weather in Graz",
    "* 🟢 (14:32) User thanked the assistant",
    "* 🟡 User prefers trains over planes, and the door code at work is 4711 since Monday",
]


def test_likeness_tells_which_lines_carry_what_was_said():
    carried = {
        "My sister Mira is moving to Graz in March!": [0],
        "What is the weather like in Graz?": [1],
        "Thank you": [2],
        "Hi. The door code is 4711. Bye.": [3],
        "Nothing of that kind was ever noted of penguins.": [],
        "": [],
    }
    assert {said: [*map(NOTES.index, filter(Likeness([said], NOTES).carries, NOTES))] for said in carried} == carried
    alone = Likeness(["Samarkand"], ["Samarkand", "a long line about Samarkand and other distant old cities"])
    assert alone.carries("We left for Samarkand")
    assert not Likeness(["weather forecast tomorrow morning"], NOTES).carries("* the morning train was late again")
