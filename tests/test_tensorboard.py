"""The TensorBoard logger of the documents writes what it says."""

import re
import struct
from pathlib import Path

import numpy as np
from tensorboardX.proto.event_pb2 import Event

from driftmdp.gymnasium import ProblemEnv, learn

PAGE = Path(__file__).parent.parent / "docs" / "callbacks.md"


def scalars(path):
    """Return (tag, step, value) of every scalar; a record is its length, a checksum, the event, a checksum."""
    content, found = path.read_bytes(), []
    while content:
        (length,) = struct.unpack("<Q", content[:8])
        event = Event.FromString(content[12 : 12 + length])
        found += [(value.tag, event.step, value.simple_value) for value in event.summary.value]
        content = content[16 + length :]
    return found


def test_the_scalars_are_in_the_event_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text().partition("## A regret curve")[0]
    names = {}
    exec("\n".join(re.findall(r"^```python\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)), names)
    (file,) = tmp_path.glob("runs/UCRL2-7/*tfevents*")
    tags, steps, values = zip(*scalars(file), strict=True)
    assert set(tags) == {"reward_a_step"}
    assert list(steps) == list(range(100, 5001, 100))
    np.testing.assert_allclose(values, names["run"].rewards.reshape(50, 100).mean(axis=1), rtol=1e-5)
    learn(
        ProblemEnv(names["problem"]),
        names["agent"],
        300,
        progress=False,
        seed=8,
        callbacks=[names["TensorBoard"]()],
    )
    (file,) = tmp_path.glob("runs/UCRL2-8/*tfevents*")
    assert [step for _, step, _ in scalars(file)] == [100, 200, 300]
