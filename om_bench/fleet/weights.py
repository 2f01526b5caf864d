"""What things weigh in a store's memory, in bytes: the figures of docs/operations.md, which tests measure again."""

RAW, KNOWN, BEHIND = 510, 20, 550  # a message of 300 characters, its id, and the same behind an observation
AGENT, DUE = 1_400, 80
SHORT = 300  # characters of the message that these are said of
TOKEN = 4  # of notes
SEGMENT = 84  # recall's index, of a message: `om bench speed --only recall`


def memory_bytes(*, agents: float, raw: float, behind: float, note_tokens: float, length: float = SHORT) -> float:
    """What agents take with their messages, raw and behind observations, and with their notes; all numbers are totals."""
    longer = length - SHORT
    messages = raw * (RAW + KNOWN + longer) + behind * (BEHIND + KNOWN + SEGMENT + longer)
    return agents * (AGENT + DUE) + messages + note_tokens * TOKEN
