"""Messages: one line that any terminal and any log can show."""

import pickle

import pytest

from driftmdp import errors


@pytest.mark.parametrize("kind", [errors.DriftmdpError, errors.InvalidInputError, errors.StorageError])
def test_a_message_is_one_short_harmless_line(kind):
    error = kind(f"a\nb\x1b[31m\x9b\u202e\ud800 {'x' * 50_000} What to do.")
    for message in (str(error), str(pickle.loads(pickle.dumps(error)))):
        assert message.isprintable()
        assert len(message) <= errors.MESSAGE_CHARACTERS
        assert message.startswith("a\\nb\\x1b[31m\\x9b\\u202e\\ud800 xxx")
        assert message.endswith("xxx What to do.")


def test_what_can_be_shown_is_shown_as_it_is():
    assert str(errors.InvalidInputError("Käse 🥖 must be bread; got 'x'.")) == "Käse 🥖 must be bread; got 'x'."
