"""Rows: an entry becomes one and comes back, and what cannot be archived is told by its name."""

import pytest
from archived import messages

from om_api.archive.rows import entry_of, is_same, row_of, slices
from om_api.archive.schema import ENTRIES
from om_api.domain.errors import ArchiveError


class Kept(dict):
    __getattr__ = dict.__getitem__


def test_a_row_has_every_column_and_the_words():
    assert row_of(messages(), 5).keys() == {*ENTRIES.c.keys(), "words"}


def test_an_entry_comes_back_from_its_row():
    entry = messages()._replace(revision=3)
    row = row_of(entry, 5)
    columns = ("resource", "name", "kind", "thread", "at", "expires_at", "body", "segment", "revision")

    assert entry_of([row[name] for name in columns]) == entry


@pytest.mark.parametrize("changed", [{"segment": b"x"}, {"members": ()}])
def test_content_is_what_it_holds_and_the_index_of_its_words(changed):
    entry = messages()

    assert is_same(row_of(entry, 5), Kept(row_of(entry._replace(expires_at=1), 6)))
    assert not is_same(row_of(entry._replace(**changed), 5), Kept(row_of(entry, 5)))


def test_what_cannot_be_archived_is_told_by_its_name():
    with pytest.raises(ArchiveError, match="harold: source:c1 cannot be archived"):
        row_of(messages()._replace(members=((b"1", float("nan")),)), 5)


def test_many_values_are_parted():
    assert [len(part) for part in slices(range(1_100))] == [500, 500, 100]
    assert list(slices([])) == []
