import hypothesis.strategies as st
import pytest
from hypothesis import given

from driftmdp.experiments.journal import MAGIC, Journal, _record, read_records

rows = st.lists(st.binary(max_size=40), max_size=6)


@given(rows, st.data())
def test_whatever_is_cut_off_the_whole_records_before_it_are_kept(written, data):
    content = MAGIC + b"".join(map(_record, written))
    cut = data.draw(st.integers(0, len(content)))
    found, torn = read_records(content[:cut])
    assert found == written[: len(found)]
    ends = [len(MAGIC) + sum(len(_record(row)) for row in written[:k]) for k in range(len(written) + 1)]
    assert len(found) == max((k for k, end in enumerate(ends) if end <= cut), default=0)
    assert torn == (cut - ends[len(found)] if cut >= len(MAGIC) else cut)


@given(st.lists(st.binary(min_size=1, max_size=40), min_size=1, max_size=6), st.data())
def test_a_changed_byte_is_never_taken_for_a_row(written, data):
    content = bytearray(MAGIC + b"".join(map(_record, written)))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    found, torn = read_records(bytes(content))
    assert found == written[: len(found)]
    assert len(found) < len(written)
    assert torn > 0


def test_appending_and_replacing(tmp_path):
    journal = Journal(tmp_path / "journal")
    journal.append(b"one")
    journal.append(b"two")
    assert read_records(journal.path.read_bytes()) == ([b"one", b"two"], 0)
    journal.replace([b"two"])
    journal.append(b"three")
    journal.close()
    assert read_records(journal.path.read_bytes()) == ([b"two", b"three"], 0)
    journal.replace([])
    assert not journal.path.exists()


def test_a_file_that_is_no_journal_has_no_rows():
    assert read_records(b"something else") == ([], 14)


@pytest.mark.parametrize("length", [0, 3])
def test_a_torn_beginning_has_no_rows(length):
    assert read_records(MAGIC[:length]) == ([], length)
