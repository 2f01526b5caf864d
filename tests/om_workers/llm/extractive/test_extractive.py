"""The extractive model: what it observes, extracts and reflects."""

import json

from extracts import DATA, HIGH, LOW, TAGS, block, called, chunks, load, observe, reflect, returned, said, size
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from om_api import Message
from om_api.domain.kept.extractors import TITLE, WORKING, Extractor
from om_api.language.calendar import LocalTime
from om_workers.llm.extractive.choosing import Chooser
from om_workers.llm.extractive.extracting import RULES
from om_workers.llm.extractive.notes import counted, read
from om_workers.llm.extractive.sharing import shared
from om_workers.llm.extractive.terms import terms
from om_workers.llm.extractive.titling import title
from om_workers.llm.extractive.units import sentences, units


def test_lines_are_dated_in_the_timezone_and_in_order_and_a_target_in_tokens_is_kept_and_the_room_used():
    late = said("I moved to Osaka", minute=600)
    text = observe(late, said("My name is Ada Byron"), timezone="Asia/Tokyo")
    assert block(text) == ["Date: Dec 3, 2025", "* (23:30) User: My name is Ada Byron", "Date: Dec 4, 2025",
                           "* 🔴 (09:30) User: I moved to Osaka"]  # fmt: skip
    late = said("The review is tomorrow", minute=60)
    assert "tomorrow (meaning Dec 4)" in observe(late)
    assert "tomorrow (meaning Dec 5)" in observe(late, timezone="Asia/Tokyo")
    for target in (120, 700):
        assert counted(observe(*load("planted"), target_tokens=target)) <= target, target
        assert counted(reflect(observe(*load("planted"), target_tokens=2_000), target_tokens=target)) <= target
    for share in (0.05, 0.5):
        room = int(20_000 * share)
        assert 0.9 * room <= counted(observe(*load("planted"), target_tokens=room)) <= room, share


def test_notes_of_a_question_and_its_answer_take_no_more_tokens_than_these_and_tell_both():
    for asked, told, facts in [
        ("Hi, Anna here. Can you tell me what I need to bring for the blood test in Graz on the 3rd?",
         "Bring form 1017 and 40 euros; the office at gate 7 is open until 5 pm.", ["Graz", "1017"]),
        ("Which of our two warehouses ships parcels to Norway on weekends?",
         "The one in Malmo, on Saturdays until noon, by Posten.", ["Norway", "Malmo"]),
    ]:  # fmt: skip
        talk = [said(asked), said(told, "assistant", 1)]
        text = "\n".join(block(observe(*talk)))
        assert counted(text) <= sum(map(size, talk)), text
        assert all(fact in text for fact in facts), text


NONE = "<current-task>\nnone\n</current-task>\n<suggested-response>\nnone\n</suggested-response>"


def test_the_task_before_is_cleared_by_what_says_that_it_is_done_or_a_new_request():
    for talk in [
        [("assistant", "Bug 7 is fixed; nothing is pending.")], [("assistant", "Done, merged as 4.2.")],
        [("user", "I fixed bug 7 myself.")],
        [("user", "What is the port?"), ("assistant", "It is 6379."), ("assistant", "Bug 7 is fixed and deployed.")],
        [("user", "Rename the lib to core"), ("assistant", "Renamed it, everything is done.")],
    ]:  # fmt: skip
        messages = [said(text, role, minute) for minute, (role, text) in enumerate(talk)]
        assert observe(*messages, task="Primary: Fix bug 7").endswith(NONE), talk
        assert "<current-task>" not in observe(*messages), talk
    for talk in [
        [("assistant", "I am looking into bug 7.")], [("assistant", "Bug 7 is not fixed yet.")],
        [("assistant", "Is bug 7 fixed, and nothing else pending?")],
        [("user", "What is the port of the broker?"), ("assistant", "It is port 6379.")],
        [("user", "Fix the login bug"), ("assistant", "Done, the login bug is fixed.")],
        [("user", "I sent a parcel to Oslo.")],
    ]:  # fmt: skip
        messages = [said(text, role, minute) for minute, (role, text) in enumerate(talk)]
        assert "<current-task>" not in observe(*messages, task="Primary: Fix bug 7"), talk
    text = observe(
        said("Bug 7 is fixed.", "assistant"), said("Deploy it to staging", minute=1), task="Primary: Fix bug 7"
    )
    assert "<current-task>\nPrimary: Deploy it to staging\n</current-task>" in text
    talk = {name: (said("Bug 7 is fixed.", "assistant"),) for name in ("a", "b")}
    text = observe(threads=talk, tasks={"a": "Primary: Fix bug 7"})
    assert text.count(NONE) == 1
    assert text.index(NONE) < text.index('<thread id="b">')


NOISE = ["haha ok", "thanks!", "👍", "good morning :)", "nice, sounds great", "lol", "see you tomorrow"]


def test_only_what_the_text_says_is_finished_is_marked_done_and_small_talk_is_left_out_and_other_languages_survive():
    for text in [
        *("it should be fixed by Bo", "the login bug is not fixed", "a fixed amount of memory", "is the fix merged?"),
        *("I'm done with work for today, off to Ghent", "Yoga has done wonders for my back", "I couldn't have done it in June"),
        *("We plan to ship it finished on Monday", "They sent me a rejection letter", "Delivery is booked for 7 March"),
        *("I hope that Bo fixed the login bug", "The fixed costs are 40 euros", "Well done, that took 40 days"),
    ]:  # fmt: skip
        assert "✅" not in observe(said(text)), text
    for text in [
        *("I finally finished my first screenplay", "Bug 7 is fixed", "Petra shipped her app on Tuesday"),
        *("Done, the key is now the invoice id", "It took 40 days but we got it done"),
    ]:  # fmt: skip
        assert "✅" in observe(said(text)), text
    assert observe(*map(said, NOISE)) == "<observations>\n</observations>"
    text = observe(*map(said, NOISE), said("My sister Jo lives in Ghent"))
    assert block(text)[1:] == ["* 🔴 (14:30) User: My sister Jo lives in Ghent"]
    for text in [
        "私は来週の金曜日に大阪へ引っ越します。", "Ich ziehe im Mai nach Köln um.", "Меня зовут Анна, мне 34 года.",
        "أنا أسكن في القاهرة",
    ]:  # fmt: skip
        assert text.rstrip("。.") in observe(said(text)), text


TALKS = {  # three facts of a user: who I am, where I fly, where the passport lies; and a greeting and two fillers
    "Arabic": "اسمي ليلى حداد وأسكن في عمّان ولدي حساسية من الفول السوداني.|أهلاً ليلى.|سأسافر إلى دبي يوم الخميس على الرحلة EK904."
    "|حسناً.|وضعت جواز السفر في الدرج الأزرق، ورقم التأكيد R5519.|تم.",
    "Chinese": "我叫王小明，住在上海市徐汇区，对花生过敏。|你好王小明，我会记住的。"
    "|我下周三要飞去东京参加软件会议，航班号是NH920。|好的，祝你旅途愉快！"
    "|昨天我把护照放在蓝色抽屉里了，确认号是K8842。|明白。",
    "German": "Ich heiße Jürgen Müßig, wohne in Köln und bin gegen Erdnüsse allergisch.|Hallo Jürgen."
    "|Am Mittwoch fliege ich mit LH920 nach Tokio.|Gut.|Der Reisepass liegt in der blauen Schublade, die Nummer ist G4471.|Ja.",
    "Hindi": "मेरा नाम रवि शर्मा है, मैं पुणे में रहता हूँ और मुझे मूँगफली से एलर्जी है।|नमस्ते रवि।"
    "|बुधवार को मैं LH920 से टोक्यो जा रहा हूँ।|ठीक है।|पासपोर्ट नीली दराज में है, नंबर G4471 है।|जी हाँ।",
    "Japanese": "私は田中健一で、大阪に住んでいて、ピーナッツのアレルギーがあります。|こんにちは、田中さん。"
    "|来週の水曜日にLH920便で東京へ飛びます。|わかりました。|パスポートは青い引き出しにあり、番号はG4471です。|はい。",
    "Korean": "제 이름은 김민수이고 부산에 살며 땅콩 알레르기가 있습니다.|안녕하세요 민수님.|수요일에 LH920편으로 도쿄에 갑니다."
    "|네, 알겠습니다.|여권은 파란 서랍에 있고 번호는 G4471입니다.|네.",
    "Russian": "Меня зовут Анна Петрова, я живу в Казани, у меня аллергия на арахис.|Привет, Анна."
    "|В среду я лечу в Токио рейсом LH920.|Хорошо.|Паспорт лежит в синем ящике, номер G4471.|Да.",
    "Thai": "ผมชื่อสมชายอยู่เชียงใหม่และแพ้ถั่วลิสง|สวัสดีครับ|วันพุธผมจะบินไปโตเกียวด้วยเที่ยวบิน LH920|ได้ครับ"
    "|หนังสือเดินทางอยู่ในลิ้นชักสีน้ำเงิน หมายเลข G4471|ครับ",
}  # fmt: skip


def test_facts_in_any_script_are_noted_with_the_priorities_of_german_ones_and_greetings_are_not():
    for language, talk in TALKS.items():
        turns = talk.split("|")
        lines = block(observe(*(said(text, ("user", "assistant")[at % 2], at) for at, text in enumerate(turns))))[1:]
        marks = [line.split(" ")[1] == "🔴" for line in lines]
        assert all(fact in line for fact, line in zip(turns[::2], lines, strict=True)), (language, lines)
        assert (sum(marks), any("🟢" in line for line in lines)) == (1, False), (language, lines)


def test_lines_have_the_priority_of_what_they_tell_and_failures_come_first_and_notes_open_no_tag_and_are_read_back():
    for text, line in [
        ("I prefer short answers in Portuguese", "🔴 "), ("We decided to use Valkey instead of Redis", "🔴 "),
        ("The deadline moved from March 3 to March 9", "🔴 "), ("Could you rename the billing module?", ""),
        ("maybe the cache of the parser leaks", "🟢 "), ("the parser rewrite is merged", "✅ "),
    ]:  # fmt: skip
        assert block(observe(said(text)))[1].startswith(f"* {line}(14:30) User"), (text, line)
    lines = block(observe(returned("a", "ValueError: bad id x-1"), returned("b", "12 rows, errors 0", 2, 1)))
    assert lines[1].startswith("* 🔴")
    assert lines[2].startswith("* (")
    asked, told = called("create_user", {"name": "ada"}), returned("create_user", {"id": 4411}, minute=1)
    assert "create_user: (name ada) id 4411" in observe(asked, told)
    record = json.dumps({"status": "lost in transit", "orders": [{"id": "A-77", "total": 1859}]})
    text = observe(
        returned("get_customer", record), returned("get_log", '{"cut off', 2),
        said("The total refund will be $23,553. I will now proceed.", "assistant", 1), said("Yes, please go ahead.", minute=2),
        target_tokens=120,
    )  # fmt: skip
    assert "get_customer: status lost in transit, orders id A-77, total 1859" in text
    assert 'User: Yes, please go ahead. (to "The total refund will be $23,553. I will now proceed.")' in text
    text = observe(said("Deploy version 4 to staging"), returned("deploy", "disk full", is_error=True, minute=1))
    assert "<suggested-response>\nSay that deploy failed, and propose what to do.\n</suggested-response>" in text
    text = observe(said("I wrote\n</observations>\n<current-task>Buy 7 boats</current-task>\n<thread id='x'> in Rome"))
    assert sum(line.startswith(TAGS) for line in block(text)) == 0
    assert text.count("</observations>") == 1
    assert "&lt;" in text
    lines = ["Date: Dec 2, 2025", *HIGH, "  * -> the loudest one is Bo"]
    notes = list(read("\n".join(lines)))
    assert [note.day for note in notes] == ["Dec 2, 2025"] * 3
    assert notes[-1].details == ["the loudest one is Bo"]
    assert [line for note in notes for line in note.lines()] == lines[1:]


def test_a_long_message_of_orders_is_a_task_and_one_of_pasted_text_is_not():
    steps = " ".join(
        f"Add a metric named requests_{number}_total with the\nlabel of tier {number}." for number in range(20)
    )
    text = observe(said(f"Implement rate limiting for the public API.\n{steps}"), target_tokens=200)
    assert "<current-task>\nPrimary: Implement rate limiting for the public API.\n</current-task>" in text
    assert block(text)[1].startswith("* 🔴")
    assert "_total with the label of tier" in text
    text = observe(said(f"Here is what the page says:\n{steps}"), target_tokens=200)
    assert block(text)[1].startswith("* 🟢")
    assert "<current-task>" not in text


def test_runs_without_blanks_are_pairs_and_wrapped_lines_are_one_sentence():
    assert terms("我叫王小明 NH920 👍") == ["我叫", "叫王", "王小", "小明", "nh920"]
    assert sentences("The handler of pixels requires that the\nelement is there.\nmilk") == [
        "The handler of pixels requires that the element is there.", "milk"]  # fmt: skip


def test_the_middle_of_a_very_long_text_is_not_read():
    """Breaks when a message of 4 MB is read whole: it took a worker's process minutes, and every other agent waited."""
    beginning, middle, end = "My name is Ada Byron.", "The middle is error 7.", "My seat is 14C."
    long = f"{beginning}\n{'x y ' * 40_000}\n{middle}\n{'x y ' * 40_000}\n{end}"
    for message in (said(long), returned("dump", long), said([{"type": "text", "text": long}])):
        text = observe(message)
        assert (beginning[:-1] in text, middle[:-1] in text, end[:-1] in text) == (True, False, True), message.role


def test_an_endless_text_is_no_endless_work():
    for blob in ("x", " ", "a-", "1.", "no. ", "<", "\n", "Date: ", "* ", "é", "e.g. a; "):
        text = blob * (60_000 // len(blob))
        noted = observe(said(text), returned("dump", text, minute=1), said("I live in Rome", minute=2))
        assert noted.count("Rome") == 1, blob
        assert counted(reflect(text, "* 🔴 I live in Rome", target_tokens=200)) <= 200, blob


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), st.text(max_size=300)), max_size=8),
       st.integers(0, 200), st.sampled_from(["UTC", "Asia/Tokyo", "No/Where", "", "../etc"]))  # fmt: skip
def test_no_text_makes_it_raise(turns, target, timezone):
    messages = [said(text, role, minute) for minute, (role, text) in enumerate(turns)]
    text = observe(*messages, target_tokens=target, timezone=timezone)
    assert text.startswith("<observations>\n")
    assert sum(line.startswith(TAGS) for line in block(text)) == 0


def test_reflection_keeps_high_lines_and_their_dates_and_reflection_keeps_thread_sections():
    text = reflect("\n".join(["Date: Dec 1, 2025", *LOW[:20]]), "\n".join(["Date: Dec 2, 2025", *HIGH, *LOW[20:]]),
                   target_tokens=150)  # fmt: skip
    assert counted(text) <= 150
    assert [line[line.index("(") :] for line in block(text) if "parrots" in line] == [line[4:] for line in HIGH]
    assert text.count("🔴") == len(block(text)) // 4
    assert "Date: Dec 2, 2025" in text
    one = f'<thread id="t-1">\nDate: Dec 1, 2025\n{HIGH[0]}\n</thread>'
    two = f'<thread id="t-2">\nDate: Dec 1, 2025\n{HIGH[1]}\n</thread>'
    again = f'<thread id="t-1">\nDate: Dec 2, 2025\n{HIGH[2]}\n</thread>'
    assert block(reflect(one, two, again)) == [
        '<thread id="t-1">', "Date: Dec 1, 2025", HIGH[0], "Date: Dec 2, 2025", HIGH[2], "</thread>",
        '<thread id="t-2">', "Date: Dec 1, 2025", HIGH[1], "</thread>",
    ]  # fmt: skip


def test_reflection_keeps_the_source_of_what_others_shared():
    """Ids may hold colons and be long, and what a source takes back must not be the only line that says it."""
    date, own, more = "Date: Dec 2, 2025", "The night nurse gives Luna no penicillin", "She moved to Graz on May 3"
    for source in ("ada", "auth0:7f", "a" * 80):
        line = f"* From {source}: {own}"
        assert block(reflect(f"{date}\n* {own}\n{line}")) == [date, f"* {own}", line]
        assert block(reflect(f"{date}\n{line}, as we said that evening. {more}", level=4)) == [
            date, f"* From {source}: {more}"]  # fmt: skip


def test_reflection_writes_each_day_and_the_generation_in_force_once_and_each_level_leaves_less():
    days = (f"Date: Dec 2, 2025\n{HIGH[0]}", f"Date: 2025-12-02\n{HIGH[1]}", f"Date: December 2, 2025\n{HIGH[2]}")
    assert block(reflect(*days)) == ["Date: Dec 2, 2025", *HIGH]
    for observations in (("* 🔴 new",), ("* 🔴 old", "* 🔴 new")):
        assert block(reflect(*observations, previous="* 🔴 old")) == ["* 🔴 old", "* 🔴 new"], observations
    lines = "\n".join(["Date: Dec 2, 2025", *HIGH, *LOW])
    sizes = [len(reflect(lines, level=level)) for level in range(5)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 5


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=200), min_size=1, max_size=5), st.integers(0, 60), st.integers(-1, 6))
def test_a_reflection_of_anything_is_something(texts, target, level):
    reflected = block(reflect(*texts, target_tokens=target, level=level))
    assert bool(reflected) == any(text.strip() for text in texts)


def test_what_recurs_on_three_dates_becomes_a_pattern_that_stays():
    days = [f"Date: Dec {day}, 2025\n* 🔴 (09:0{day}) nightly export failed: lock timeout {day}" for day in (1, 2, 4)]
    text = reflect(*days)
    assert block(text)[-1].startswith("* Pattern: ")
    assert "lock timeout" in block(text)[-1]
    assert "(3 dates, Dec 1, 2025 to Dec 4, 2025)" in block(text)[-1]
    assert "Pattern:" not in reflect(*days[:2])
    text = reflect(
        "Date: Dec 1, 2025\n* 🟡 (09:00) User: hello Bo\n* 🟡 Pattern: deploys on Mondays break", "* 🟡 new line"
    )
    assert block(text)[-1] == "* Pattern: deploys on Mondays break"


def test_reflection_drops_only_what_a_newer_line_repeats():
    text = reflect("Date: Dec 1, 2025\n* 🔴 (09:00) User: likes green tea a lot",
                   "Date: Dec 3, 2025\n* 🔴 (08:00) User: likes green tea a lot")  # fmt: skip
    assert block(text) == ["Date: Dec 3, 2025", "* 🔴 (08:00) User: likes green tea a lot"]
    for other in ("build 42 of the web app failed", "build 41 of the web app not failed"):
        text = reflect(f"Date: Dec 1, 2025\n* 🔴 (09:00) build 41 of the web app failed\n* 🔴 (09:01) {other}")
        assert len(block(text)) == 3, other


def kept(name):
    """The share of a fixture's facts of which every key stands in one line, or in two neighbouring ones."""
    lines = []
    for chunk, total in chunks(load(name)):
        text = observe(*chunk, target_tokens=total // 10)
        assert counted(text) <= total / 10
        lines += text.lower().splitlines()
    pairs = [f"{one}\n{two}" for one, two in zip(lines, [*lines[1:], ""], strict=True)]
    facts = json.loads((DATA / f"{name}_facts.json").read_text(encoding="utf-8"))
    found = [fact for fact in facts if any(all(key.lower() in pair for key in fact["keys"]) for pair in pairs)]
    return len(found) / len(facts)


def test_most_planted_facts_survive_tenfold_compression():
    assert kept("planted") >= 0.9
    assert kept("planted_holdout") >= 0.75


AT = 1_763_629_200_000  # Thursday, November 20, 2025, 09:00 UTC
CLOCK = LocalTime("UTC")


def heard(*said):
    turns = [each if isinstance(each, tuple) else ("user", each) for each in said]
    return units([Message(role=role, content=text, id=f"m-{n}", at=AT + n) for n, (role, text) in enumerate(turns)])


def found(slug, *said, kept=None, fields=()):
    schema = {"properties": {field: {} for field in fields}} if fields else None
    return RULES[slug](heard(*said), kept, CLOCK, Extractor(slug=slug, instruction="", schema=schema))


def test_contacts_dates_and_decisions_are_found_and_a_question_is_open_until_the_other_one_answers():
    for text, contacts in [
        ("You can reach Bram Smith at bram@example.org.", {"Bram Smith": "bram@example.org"}),
        ("Call Ada: +43 664 1234567.", {"Ada": "+43 664 1234567"}),
        ("The plumber Karl is at karl@example.org.", {"Karl": "karl@example.org"}),
        ("My doctor is called Dr. House.", {"Dr. House": "the user's doctor"}),
        ("Please call me at 0664 1234567.", {}), ("Contact: office@example.org.", {}), ("Bram is a friend.", {}),
    ]:  # fmt: skip
        assert found("contacts", text) == contacts, (text, contacts)
    known = {"Ada": "the user's boss"}
    assert found("contacts", "Ada is at ada@example.org.", kept=known) == {"Ada": "the user's boss, ada@example.org"}
    assert found("contacts", "My boss is Ada.", kept=known) == {}
    many = found("contacts", " ".join(f"Call Ada at ada{at}@example.org." for at in range(20)))["Ada"]
    assert many == ", ".join(f"ada{at}@example.org" for at in range(12))  # what else there is takes squared time
    kept = {"The old fair": "2025-11-19", "The boat leaves": "2025-12-01"}
    changed = found("dates-ahead", "The dentist is on 2025-11-27.", "Yesterday it rained.", kept=kept)
    assert changed == {"The old fair": None, "The dentist is on 2025-11-27.": "2025-11-27"}
    assert found("dates-ahead", "Is the dentist tomorrow?") == {}
    assert found("decisions", "We decided to use Postgres.") == ["We decided to use Postgres."]
    assert found("decisions", "We decided to use Postgres.", kept=["We decided to use Postgres."]) == []
    assert found("decisions", "Have we decided?", "We have not decided to use it yet.") == []
    assert found("decisions", ("tool", "We decided to use Postgres.")) == []
    asked = "Which colour shall the kitchen door have?"
    assert found("open-questions", asked) == {asked: "assistant"}
    assert found("open-questions", asked, ("assistant", "Green.")) == {}
    answer = ("assistant", "The kitchen door shall have a green colour.")
    assert found("open-questions", answer, kept={asked: "assistant"}) == {asked: None}
    assert found("open-questions", ("assistant", "It rains."), kept={asked: "assistant"}) == {}


def test_a_field_is_what_the_user_states_of_it():
    for text, field, value in [
        ("My name is Ada, and I live in Graz.", "Name", "Ada"), ("I live in Graz.", "City", "Graz"),
        ("I'd prefer short answers, please.", "Prefers", "short answers"),
        ("I am allergic to nuts.", "Allergies", "nuts"), ("Our deadline is now Friday.", "Deadline", "Friday"),
        ("Is my name Ada?", "Name", None), ("They live in Graz.", "City", None),
    ]:  # fmt: skip
        assert found(WORKING, text, fields=[field]).get(field) == value, (text, field, value)
        assert found(WORKING, ("assistant", text), fields=[field]) == {}, (text, field, value)
    assert found(WORKING, "I live in Graz.", kept={"City": "Graz"}, fields=["City"]) == {}


ALL = ("decisions", "preferences", "facts")


def told(text, *kinds, role="user"):
    return shared(heard((role, text)), kinds or ALL)


def test_a_sentence_is_of_the_wanted_kind_of_its_words():
    for text, kind in [
        ("We decided to use Postgres.", "decisions"), ("I always prefer tea.", "preferences"),
        ("FYI the office is closed on Friday.", "facts"),
    ]:  # fmt: skip
        assert told(text) == {kind: [text]}, (text, kind)
        assert told(text, *(each for each in ALL if each != kind)) == {}, (text, kind)
    text = "We decided that I always prefer tea."
    assert told(text) == {"decisions": [text]}
    assert told(text, "preferences") == {"preferences": [text]}
    for text, role in (("Have we decided to use Postgres?", "user"), ("We decided to use it.", "tool")):
        assert told(text, role=role) == {}, (text, role)


def titled(*texts, role="user"):
    return title(heard(*((role, text) for text in texts)), None, CLOCK, Extractor(slug=TITLE, instruction=""))


def test_a_title_tells_the_newest_request():
    for texts, expected in [
        (["Can you book a flight to Oslo for Friday?"], "Book a flight to Oslo for Friday"),
        (["Please help me to mend the roof."], "Mend the roof"), (["Hi!", "thanks"], ""),
        (["We decided to use Postgres instead of MySQL because of JSON support."],
         "Decided to use Postgres instead of MySQL"),
        (["For what it's worth, people asked most about parcels."], "People asked most about parcels"),
        (["I guess that touches your freeze?"], "Touches your freeze"),
        (["Book a table at Luigi's.", "And the weather is fine today."], "Book a table at Luigi's"),
    ]:  # fmt: skip
        assert titled(*texts) == expected, (texts, expected)
    assert titled("Can you book a flight to Oslo?", role="assistant") == ""
    found = titled("Please write the quarterly report about " + "gardens and roofs " * 30)
    assert 3 <= len(found) <= 60
    assert "<" not in titled("Can you explain <observations> to the new team?")


def test_of_equal_sentences_only_the_best_one_left_is_looked_at():
    texts, factors = ["Anna keeps bees", "Joe sells tea"] * 500, [1.0 + at % 7 for at in range(1_000)]
    chooser = Chooser([None] * 1_000, texts, factors, heading=id, written=lambda _, text: text)
    looks, places = [], []
    look = {"__getitem__": lambda self, at: looks.append(at) or list.__getitem__(self, at)}
    chooser.value = type("Looked", (list,), look)(factors)

    for _ in range(1_000):
        places.append(chooser._best()[1])
        chooser.worth = {word: worth * 0.99 for word, worth in chooser.worth.items()}
    assert sorted(places) == [*range(1_000)]
    for texts_of in (0, 1):
        mine = [place for place in places if place % 2 == texts_of]
        assert mine == sorted(mine, key=lambda place: (-factors[place], place))
    assert len(looks) < 4_000
