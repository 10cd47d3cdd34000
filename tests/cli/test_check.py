import importlib
import json
from types import SimpleNamespace

import pytest

from driftmdp import planning
from driftmdp.statements import statements


def test_a_table_and_why(call, tmp_path):
    code, out, err = call("check", "theorem-1-tuned", "remark-3")
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split() == ["statement", "in", "the", "paper", "tried", "margin", "verdict"]
    assert lines[1].startswith("remark-3         Remark 3")
    assert lines[2].startswith("theorem-1-tuned  thm:main1")
    assert lines[2].endswith("holds as corrected")
    case = "S = 2, A = 1, T = 1e+03, B_r = 5e-10, B_p = 5e-10"
    assert f"counterexample: {case}: the terms at W* over the order: 22.7525 > 8" in " ".join(out.split())
    assert "Why" in lines
    assert not (tmp_path / "out").exists()  # some statements only: no page, unless asked for
    assert err == ""


def test_a_page_where_asked_for(call, tmp_path):
    code, _, err = call("check", "remark-7", "--page", "deep/down/page.md")
    assert code == 0
    assert "The same as a page: deep/down/page.md" in err
    assert (tmp_path / "deep/down/page.md").read_text().startswith("# The paper, executable")


def test_all_of_it_writes_the_page(call, tmp_path, monkeypatch):
    module = importlib.import_module("driftmdp.cli.check")  # its package has the command under that name
    monkeypatch.setattr(module, "statements", lambda: [entry for entry in statements() if entry.name == "remark-3"])
    code, _, err = call("check")
    assert code == 0
    assert "The same as a page: out/check/statements.md" in err
    assert (tmp_path / "out/check/statements.md").is_file()


def test_json_is_all_of_the_output(call):
    code, out, _ = call("check", "--json", "theorem-2-grid", "remark-3")
    assert code == 0
    first, second = json.loads(out)
    assert (first["name"], first["verdict"], first["margin"]) == ("remark-3", "not testable", None)
    assert second["verdict"] == "holds as corrected"
    assert second["counterexample"]


def test_the_list(call):
    code, out, _ = call("check", "--list")
    assert code == 0
    assert len(out.splitlines()) == len(statements())
    assert out.splitlines()[0].startswith("remark-1")


def test_a_failure_is_exit_code_one(call, monkeypatch):
    monkeypatch.setattr(planning, "gain_by_linear_program", lambda mdp, form: 1 / 0)
    code, out, err = call("check", "linear-programs")
    assert code == 1
    assert "not carried out" in out
    assert "1 of 1 could not be carried out: linear-programs." in err
    monkeypatch.setattr(planning, "gain_by_linear_program", lambda mdp, form: SimpleNamespace(gain=0.0))
    code, out, err = call("check", "linear-programs")
    assert code == 1
    assert "fails as printed" in out
    assert "1 of 1 fail: linear-programs." in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["lema-2"],
            "There is no statement 'lema-2'. Did you mean 'lemma-2'? `driftmdp check --list` names them all.",
        ),
        (["lemma-2", "--workers", "0"], "workers must be at least 1; got 0."),
        (["lemma-2", "--page", "."], "--page must be a file; . is a folder. Try statements.md."),
        (["nope", "--page", "new/y.md"], "There is no statement 'nope'. `driftmdp check --list` names them all."),
    ],
)
def test_wrong_words_get_one_sentence(call, words, message):
    code, out, err = call("check", *words)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == f"error: {message}"


def test_figures(call, tmp_path):
    code, out, err = call("figures", "peril-instances", "--out", "pictures")
    assert code == 0
    assert out.splitlines() == ["pictures/peril-instances.png", "pictures/peril-instances.svg"]
    assert (tmp_path / "pictures/peril-instances.png").is_file()
    code, out, err = call("figures", "peril-instance")
    assert (code, out) == (2, "")
    assert "Did you mean 'peril-instances'" in err
    (tmp_path / "taken").write_text("")
    code, out, err = call("figures", "peril-instances", "--out", "taken")
    assert (code, out, err) == (2, "", "error: --out must be a folder; taken is a file.\n")
