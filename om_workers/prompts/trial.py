"""What a model is asked to see whether it answers: the same few words for everybody, and one word is wanted."""

from importlib import resources

from om_workers.llm.base import Request


def trial_request(*, temperature: float, timeout: float) -> Request:
    """Ask any model for a word; one that does not read finds as a line what the others are asked."""
    text = resources.files(__package__).joinpath("trial.md").read_text("utf-8").strip()
    system, _, prompt = text.partition("\n\n")
    return Request(
        purpose="try",
        system=system,
        prompt=prompt,
        observations=(f"* {prompt}",),
        temperature=temperature,
        timeout=timeout,
    )
