"""Make the blocking face of the library of its asyncio face: `faces.py --write`, or without it say whether it is stale."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CLIENT = "om_api/client"
FACES = {f"{CLIENT}/async_memory.py": f"{CLIENT}/memory.py"}
RULES = (
    (r"\bawait |\basync (?=def |with |for )", ""),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\b__a(enter|exit|iter|next)__", r"__\1__"),
    (r"\bopen_async_client\b", "open_client"),
    (r"\bom_api\.store\.driver\.async_connection\b", "om_api.store.driver.connection"),
    (r"Safe for the tasks of one event loop", "Thread-safe"),
    (r"(\w+)\.py is made of this file by `make faces`\.", r"Made of async_\1.py by `make faces`: change that file."),
)


def without_waiting(source: str) -> str:
    """The same text in the words of the blocking face."""
    for pattern, word in RULES:
        source = re.sub(pattern, word, source)
    return source


def formatted(source: str) -> str:
    """The same code as all of ours is formatted."""
    return _ruff(_ruff(source, "check", "--quiet", "--select", "I", "--fix-only"), "format", "--quiet")


def _ruff(source: str, *command: str) -> str:
    ruff = Path(sys.executable).with_name("ruff")
    words = [str(ruff), *command, "--stdin-filename", str(ROOT / CLIENT / "memory.py"), "-"]
    return subprocess.run(words, input=source, capture_output=True, text=True, check=True, cwd=ROOT).stdout  # noqa: S603  ours


def stale() -> dict[Path, str]:
    """Every generated file that is not what its source makes, with what it should be."""
    made = {
        ROOT / target: formatted(without_waiting((ROOT / source).read_text("utf-8")))
        for source, target in FACES.items()
    }
    return {path: text for path, text in made.items() if path.read_text("utf-8") != text}


def main() -> None:
    """Write what is stale, or name it and fail."""
    found = stale()
    for path, text in found.items():
        if "--write" in sys.argv:
            path.write_text(text, "utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)} {'written' if '--write' in sys.argv else 'is stale: make faces'}\n")
    sys.exit(bool(found) and "--write" not in sys.argv)


if __name__ == "__main__":
    main()
