"""`scripted`: a reader and a judge that are rules and no model, so that a run can be rehearsed without a key.

The reader repeats the line that shares most words with the question, the judge compares words. Neither understands anything:
their figures say that the way from a file to a report holds, and nothing of the memory.
"""

from om_bench.harness.stems import telling
from om_workers.llm.base import Reply, Request

NOTHING = "It was not said."
_ENOUGH, _LEAST = 0.6, 0.34  # of a question's words in a line: to be sure of it, and to repeat it at all
_RIGHT, _PART = 0.6, 0.3  # of the right words in an answer
_UNKNOWN = ("not said", "not known", "do not know", "never said")
_QUERY_WORDS = 6


def read(request: Request) -> Reply:
    """Answer with the best line of the context; look the question's words up once where none is good enough."""
    asked = telling(request.task)
    lines = [line.strip("*> ").strip() for text in request.observations for line in text.splitlines()]
    best = max(lines, key=lambda line: (_share(asked, line), -len(line)), default="")
    share = _share(asked, best)
    if share < _ENOUGH and len(request.observations) == 1 and asked:
        words = [word for word in request.task.split() if telling(word)]
        return _reply(f"RECALL: {' '.join(sorted(words, key=len, reverse=True)[:_QUERY_WORDS])}")
    return _reply(best if share >= _LEAST else NOTHING)


def judge(request: Request) -> Reply:
    """Say how many of the right words an answer holds: yes or no, or a mark where a rubric is asked for."""
    _, right, answer = request.observations
    if request.task == "declined":
        return _reply("yes" if any(each in answer.lower() for each in _UNKNOWN) else "no")
    share = _share(telling(right), answer)
    if not request.task:
        return _reply("1" if share >= _RIGHT else "0.5" if share >= _PART else "0")
    return _reply("yes" if share >= _RIGHT else "no")


def _share(wanted: frozenset[str], text: str) -> float:
    return len(wanted & telling(text)) / len(wanted) if wanted else 0.0


def _reply(text: str) -> Reply:
    return Reply(text=text, model="scripted", cost=0.0)
