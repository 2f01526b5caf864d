"""Reads the transcripts of coding agents: the JSON lines of Claude Code and Codex."""

from typing import Any

ITEMS = ("_call", "_output", "_response", "_request", "_tools", "reasoning")  # ends of the types of OpenAI's items
_Fields = dict[str, Any]
# what Codex puts before a conversation in the user's name
_SETUP = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions")


class Transcripts:
    """Turns lines of transcripts into messages; `skipped` counts the lines that are no part of a conversation.

    Those are summaries, titles, snapshots, token counts and text that the program wrote in the user's name. `thread` is the
    thread of all messages, None: the session of the line. A subagent's messages go to the thread `<thread>.<agent>`.
    """

    def __init__(self, thread: str | None = None) -> None:
        self.skipped = 0
        self._thread, self._session = thread, ""

    def message(self, document: Any) -> Any:
        """The message of a transcript's line, None for a line to skip; any other document unchanged."""
        if not isinstance(document, dict):
            return document
        kind = document.get("type")
        if document.get("role"):
            return self._placed(document) if self._session and "thread_id" not in document else document
        if isinstance(document.get("payload"), dict) and isinstance(kind, str):
            found = self._of_codex(kind, document)
        elif isinstance(kind, str) and ({"sessionId", "uuid", "leafUuid", "snapshot"} & document.keys()):
            found = self._of_claude(document)
        elif "record_type" in document or (kind is None and {"id", "timestamp", "instructions"} <= document.keys()):
            self._session = str(document.get("id") or self._session)
            found = None  # state or head of an older Codex
        elif self._session and isinstance(kind, str):
            found = self._placed(document)  # an item of an older Codex
        else:
            return document
        self.skipped += found is None
        return found

    def _of_claude(self, line: _Fields) -> _Fields | None:
        message = line.get("message")
        by_program = line.get("isMeta") or line.get("isCompactSummary") or line.get("isApiErrorMessage")
        if by_program or not isinstance(message, dict) or not message.get("role"):
            return None
        self._session = str(line.get("sessionId") or self._session)
        fields = {"role": message["role"], "content": message.get("content"), "timestamp": line.get("timestamp")}
        named = {**fields, "id": line["uuid"]} if line.get("uuid") else fields
        agent = str(line.get("agentId") or "subagent") if line.get("isSidechain") else ""
        return self._placed(named, agent)

    def _of_codex(self, kind: str, line: _Fields) -> _Fields | None:
        payload = line["payload"]
        if kind == "session_meta":
            self._session = str(payload.get("id") or "")
        is_item = payload.get("role") in {"user", "assistant"} or str(payload.get("type")).endswith(ITEMS)
        if kind != "response_item" or not is_item or _is_setup(payload):
            return None
        return self._placed({"timestamp": line.get("timestamp"), **payload})

    def _placed(self, fields: _Fields, agent: str = "") -> _Fields:
        thread = self._thread or self._session
        return {**fields, "thread_id": f"{thread}.{agent}" if agent else thread}


def _is_setup(payload: _Fields) -> bool:
    content = payload.get("content")
    first = content[0] if isinstance(content, list) and content else None
    text = first.get("text") if isinstance(first, dict) else content
    return payload.get("role") == "user" and isinstance(text, str) and text.lstrip().startswith(_SETUP)
