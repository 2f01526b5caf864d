"""An archive that is looked at: what it holds, or why it does not answer; nobody's password."""

from om_api import load_settings
from om_api.archive.opening import open_archive
from om_api.ops.archive_state import look
from om_api.store.archiving.archivable import ArchiveBacklog

NOTHING = ArchiveBacklog(0, 0, None)


def looked(url=None, **environ):
    named = {"OM_ARCHIVE__URL": url} if url else {}
    return look(load_settings(environ={**named, **environ}), lambda: NOTHING, timeout_s=0.5)


def test_an_archive_that_answers_tells_its_figures(tmp_path):
    assert looked() is None
    url = f"sqlite:///{tmp_path}/past.db"
    open_archive(url).prepare()
    state = looked(url)

    assert (state.where, state.refusal, state.backlog) == (url, "", NOTHING)
    assert state.figures[:3] == (0, 0, 0)
    assert state.told.startswith("0 entries, 0 messages of 0 resources, ")


def test_one_that_does_not_answer_says_why_and_shows_no_password():
    state = looked("postgresql://om:hunter2@127.0.0.1:1/archive")
    assert state.figures is None
    assert state.refusal == state.told != ""
    assert "hunter2" not in repr(state)

    keyless = looked("postgresql://om@127.0.0.1:1/archive", OM_ARCHIVE__PASSWORD_ENV="NOBODY_SET_THIS")
    assert "NOBODY_SET_THIS" in keyless.refusal
