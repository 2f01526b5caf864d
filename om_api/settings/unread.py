"""What lies in a folder of the configuration and is read by nobody: names that are nearly right."""

from collections.abc import Iterator
from pathlib import Path

from om_api.settings.catalogue import BASE_FILE
from om_api.settings.files import AGENT_FILE, is_agent
from om_api.settings.folder import Folder
from om_api.settings.loaded import FileProblem, problem_of

_SUFFIXES = {".yaml", ".yml", ".json", ".toml"}
_AGENT = "no agent has such a name; permitted: A-Z a-z 0-9 . _ : @ + - and globs of them"


def unread(folder: Folder) -> list[FileProblem]:
    """Every file that looks as if it were to be read, and every folder that no agent can be called; none is opened."""
    stem = Path(BASE_FILE).stem
    found = [_nobody(file, BASE_FILE) for file in _files(folder.path) if file.stem == stem and file.name != BASE_FILE]
    own, *beside = folder.places()
    found += [problem for each in _entries(own) for problem in _of_agent(each, every=True)]
    return found + [problem for place in beside for each in _entries(place) for problem in _of_agent(each, every=False)]


def _of_agent(own: Path, *, every: bool) -> Iterator[FileProblem]:
    """What is wrong in one agent's folder; unless `every` file is to be ours, a program's own files are left alone."""
    if not own.is_dir():
        if every and own.suffix in _SUFFIXES:
            yield _nobody(own, f"{own.stem}/{AGENT_FILE}")
        return
    files = [file for file in _files(own) if every or file.stem == Path(AGENT_FILE).stem]
    if not is_agent(own.name) and (every or files) and not (own / AGENT_FILE).exists():  # else that was told
        yield problem_of(own, _AGENT)
    yield from (_nobody(file, AGENT_FILE) for file in files if file.name != AGENT_FILE)


def _nobody(file: Path, permitted: str) -> FileProblem:
    return problem_of(file, f"nobody reads this file; permitted: {permitted}")


def _files(place: Path) -> list[Path]:
    return [each for each in _entries(place) if each.suffix in _SUFFIXES]


def _entries(place: Path) -> list[Path]:
    """What a folder holds, by name, hidden ones left out; nothing where it may not be listed: that was told already."""
    try:
        return sorted(each for each in place.iterdir() if not each.name.startswith("."))
    except OSError:
        return []
