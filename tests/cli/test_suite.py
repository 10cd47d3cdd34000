"""``driftmdp suite``."""


def test_some_of_the_suite_and_then_no_more(call):
    words = ("suite", "--quick", "--only", "bandit-*")
    code, printed, _ = call(*words)
    assert code == 0
    assert "Hindsight" in printed
    assert "out/suite-quick/index.html" in printed
    assert call(*words)[:2] == (0, printed)


def test_a_pattern_that_fits_nothing_is_refused(call):
    code, _, said = call("suite", "--only", "nothing*")
    assert code == 2
    assert "--only must fit a problem" in said
