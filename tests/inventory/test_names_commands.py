"""rename, discontinue and merge on the command line: what they say and refuse, and what other commands say then."""

import pytest

from driftmdp.inventory import Shop
from tests.inventory.shops import create, day, work

FOREIGN = "no item 'coffe'. Did you mean 'coffee'?"


@pytest.fixture
def made(call, path, file):
    with create(path) as shop:
        work(shop, 3, ("coffee", "tea"))

    def run(command, *words):
        code, out, err = call("inventory", command, path, *words)
        assert err.count("\n") <= 4, err
        with Shop(path) as shop:
            assert shop.verify()
        return code, out, err

    return run


def test_rename(made):
    said = "coffee is espresso now. Files that still say coffee are taken for it.\n"
    assert made("rename", "coffee", "espresso") == (0, "", said)
    assert made("rename", "coffee", "espresso") == (0, "", "coffee is espresso already.\n")


def test_merge(made):
    said = "coffee is part of tea now. Files that still say coffee are taken for it.\n"
    assert made("merge", "coffee", "tea") == (0, "", said)
    assert made("merge", "coffee", "tea") == (0, "", "coffee and tea are one item already.\n")
    assert made("merge", "tea", "coffee") == (0, "", "tea and coffee are one item already.\n")


def test_discontinue(made):
    words = "coffee", "--from", day(4)
    assert made("discontinue", *words) == (0, "", f"From {day(4)} not ordered any more: coffee.\n")
    assert made("discontinue", *words) == (0, "", f"Already not ordered any more from {day(4)} on.\n")
    assert made("discontinue", *words, "--undo") == (0, "", f"From {day(4)} ordered again: coffee.\n")
    assert made("discontinue", "tea", "coffee")[0] == 0


@pytest.mark.parametrize("change", [("rename", "coffee", "espresso"), ("merge", "coffee", "tea")])
def test_other_commands_take_the_old_name_and_say_so(made, file, change):
    assert made(*change)[0] == 0
    said = f"coffee is {change[2]} now.\n"
    for words in (
        ["explain", "coffee"],
        ["forecast", "--sku", "coffee"],
        ["history", "coffee"],
        ["set", "--sku", "coffee", "--capacity", "9"],
        ["withdraw", "--date", day(1), "--sku", "coffee"],
        ["discontinue", "coffee"],
    ):
        code, _, err = made(*words)
        assert (code, err[: len(said)]) == (0, said), words
    assert f"{change[0]}d " in made("history", "coffee")[1]
    said = f"Taken under their present names: coffee as {change[2]}.\n"
    code, out, err = made("decide", file("sku,stock\ncoffee,3\n"), "--date", day(3), "-o", "-")
    assert (code, said in err) == (0, True)
    assert f"{change[2]}," in out
    code, _, err = made("record", file(f"date,sku,units\n{day(3)},coffee,2\n"))
    assert (code, said in err) == (0, True)
    for words in ([], ["--sales"]):
        text = made("export", *words)[1]
        assert f"{day(3)},{change[2]}," in text
        assert f"{day(2)},{change[2]}," in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rename", "coffe", "espresso"], FOREIGN),
        (["rename", "coffee", "tea"], "merge SHOP 'coffee' 'tea'"),
        (["rename", "coffee", " espresso"], "without spaces around"),
        (["rename", "coffee", ""], "1 to 200 characters"),
        (["rename", "coffee"], "Missing argument"),
        (["merge", "coffe", "tea"], FOREIGN),
        (["merge", "tea", "coffe"], FOREIGN),
        (["merge", "coffee", "espresso"], "no item 'espresso'"),
        (["merge", "coffee"], "Missing argument"),
        (["merge", "coffee", "tea", "milk"], "unexpected extra argument"),
        (["discontinue", "coffe"], FOREIGN),
        (["discontinue", "coffee", "coffe"], FOREIGN),
        (["discontinue"], "Missing argument"),
        (["discontinue", "coffee", "--from", "tomorrow"], "--from must be year-month-day"),
        (["discontinue", "coffee", "--from", "18.11.2026"], "--from must be year-month-day"),
        (["withdraw"], "Missing option '--date'"),
        (["withdraw", "--date", "16/11/2026"], "--date must be year-month-day"),
        (["withdraw", "--date", day(9)], "The shop has no records of"),
        (["withdraw", "--date", day(1), "--sku", "coffe"], FOREIGN),
        (["withdraw", "--date", day(1), "--sku", "coffee,tea"], "no item 'coffee,tea'"),
        (["set"], "set must be told what to change"),
        (["set", "--sku", "coffe", "--capacity", "9"], FOREIGN),
        (["set", "--capacity", "1.000"], "--capacity must be a whole number without a point"),
        (["set", "--sku", "coffee", "--lead-time", "61"], "--lead-time must be at most 60"),
        (["set", "--sku", "coffee", "--from", "soon", "--pack", "2"], "--from must be year-month-day"),
    ],
)
def test_beginners_mistakes(call, path, made, words, said):
    code, out, err = call("inventory", words[0], path, *words[1:])
    assert (code, out) == (2, "")
    assert said in " ".join(err.replace("│", " ").split())
    with Shop(path) as shop:
        assert shop.skus == ("coffee", "tea")
        assert shop._log.number == 6
        assert shop.verify()


def test_beginners_mistakes_of_verify(call, path, made):
    assert call("inventory", "verify", path)[0] == 0
    for words in ([], ["no.db"], [path, "coffee"]):
        assert call("inventory", "verify", *words)[0] in (1, 2)
    path.with_name("text.db").write_text("sku,stock\n")
    assert call("inventory", "verify", path.with_name("text.db"))[0] == 1
    assert call("inventory", "verify", path.parent)[0] in (1, 2)
