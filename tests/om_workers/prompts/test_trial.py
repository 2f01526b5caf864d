"""What a test call asks is short, the same for everybody, and can be answered by models that do not read."""

from om_workers.llm.extractive import Extractive
from om_workers.llm.scripted import Scripted
from om_workers.prompts.trial import trial_request

REQUEST = trial_request(temperature=0.3, timeout=5)


def test_one_word_is_asked_for_in_few_words():
    assert len(f"{REQUEST.system} {REQUEST.prompt}".split()) < 40
    assert "one word" in REQUEST.system
    assert (REQUEST.temperature, REQUEST.timeout) == (0.3, 5)


def test_a_model_that_does_not_read_answers_too():
    for model in (Extractive(), Scripted.echo()):
        assert "ready" in model.complete(REQUEST).text
