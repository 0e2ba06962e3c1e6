"""Bots by name: plugins that are broken, files, modules and folders, in this process and in workers."""

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from okey_agents.cli import main
from okey_agents.evaluate.arena import evaluate
from okey_env import OkeyVectorEnv, Round, as_encoder, make_bot
from okey_env.bots import bot_names, broken_bots, files_of, read_name
from okey_env.encoders import installed_encoder

FIRST = "class First:\n    def act(self, observation):\n        return observation.legal_actions[0]\n"
LAST = FIRST.replace("First", "Last").replace("[0]", "[-1]")


def install(site: Path, name: str, entries: str, code: str) -> None:
    """Install a package as pip would, with entry points."""
    (site / f"{name}.py").write_text(code, encoding="utf-8")
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(entries, encoding="utf-8")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


PLUGIN = """
import sys
class Exits:
    def __init__(self, seed=0): raise SystemExit("bye")
class Fails:
    def __init__(self, seed=0): raise SystemError
class Unspeakable:
    class Error(Exception):
        def __str__(self): raise ValueError
    def __init__(self): raise self.Error
class Needs:
    def __init__(self, size): self.size = size
    def act(self, observation): return 0
class NoAct: pass
class ActsOnNothing:
    def act(self): return 0
class BadReset:
    def act(self, observation): return 0
    def reset(self): pass
class Good:
    "Plays the first legal action."
    def act(self, observation): return observation.legal_actions[0]
number = 3
"""


def test_broken_plugins_are_named_and_hide_no_other_bot(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["Exits", "Fails", "Unspeakable", "Needs", "NoAct", "ActsOnNothing", "BadReset", "number", "Missing"]
    lines = [f"t{name.lower()} = plugin_t:{name}" for name in names]
    entries = "[okey_env.bots]\n" + "\n".join([*lines, "tgood = plugin_t:Good", "greedy = plugin_t:Good"])
    install(site, "plugin_t", entries, PLUGIN)
    install(site, "plugin_u", "[okey_env.bots]\ntsyntax = plugin_u:Bot\ntgood2 = plugin_u:A\n", "class (")
    install(site, "plugin_v", "[okey_env.bots]\ntgood2 = plugin_v:B\nthis is no entry\n", "")
    broken = broken_bots()
    expected = {
        "texits": "SystemExit: bye",
        "tfails": "cannot be loaded: SystemError",
        "tunspeakable": "Error: \\(its text raises",
        "tneeds": "size",
        "tnoact": "is not a bot",
        "tactsonnothing": "act\\(\\) cannot be called as act\\(observation\\)",
        "tbadreset": "cannot be called as reset\\(seed\\)",
        "tnumber": "3 is not a bot",
        "tmissing": "Missing",
        "tsyntax": "SyntaxError",
        "(plugin_v)": "entry points of plugin_v cannot be read",
        "greedy of plugin_t": "okey-env has a bot of that name",
    }
    for name, reason in expected.items():
        with pytest.raises(AssertionError, match=reason):
            raise AssertionError(broken[name])
        assert "\n" not in broken[name]
    assert set(broken) == {*expected, "tgood2"}  # tgood2 cannot be imported: its package has a syntax error
    for name in ("texits", "tsyntax", "tactsonnothing"):
        with pytest.raises(ValueError, match=rf"{name}.*cannot be loaded"):
            make_bot(name)
    assert make_bot("greedy").name == "greedy"  # no plugin takes a name of this package

    main(["bots"])
    printed = capsys.readouterr().out
    assert "expert" in printed
    assert "Plays the first legal action." in printed
    assert "broken:" in printed


def test_two_packages_with_one_name(site: Path) -> None:
    install(site, "plugin_a", "[okey_env.bots]\ntsame = plugin_a:First\n", FIRST)
    install(site, "plugin_b", "[okey_env.bots]\ntsame = plugin_b:Last\n", LAST)
    with pytest.raises(ValueError, match=r"'tsame' is claimed by plugin_[ab] \(.*\) and plugin_[ab].*module:Name"):
        make_bot("tsame")
    assert make_bot("plugin_a:First").name == "First"


def test_a_broken_loader_is_named(site: Path) -> None:
    assert bot_names()  # the group of loaders is not the group of bots
    install(site, "plugin_w", "[okey_env.bot_loaders]\nfolder = plugin_w:Broken\n", "1/0")
    (site / "exported").mkdir()
    (site / "exported" / "bot.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="does not say format"):  # ours reads it, not the plugin's
        make_bot(site / "exported")


def test_a_file_with_one_bot(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site)
    observation = (round := Round("gamelake", seed=3)).observe(round.turn)
    first, last = observation.legal_actions[0], observation.legal_actions[-1]
    Path("my_bot.py").write_text(FIRST, encoding="utf-8")
    assert (make_bot("my_bot.py", seed=1).name, make_bot(Path("my_bot.py")).act(observation)) == ("my_bot", first)
    assert make_bot(f"{site}/my_bot.py:First").name == "First"
    assert make_bot("my_bot:First").act(observation) == first
    Path("my_bot.py").write_text(LAST, encoding="utf-8")  # an edit of the same size
    assert make_bot("my_bot.py").act(observation) == last
    Path("by_function.py").write_text("def act(observation):\n    return observation.legal_actions[-1]\n", "utf-8")
    assert make_bot("by_function.py").act(observation) == last
    Path("named_bot.py").write_text(f"{FIRST}{LAST}bot = Last()\n", encoding="utf-8")
    assert make_bot("named_bot.py").act(observation) == last
    Path("code").mkdir()
    Path("code/bot.py").write_text("from helper_t import Helper\nclass Mine(Helper): pass\n", encoding="utf-8")
    Path("code/helper_t.py").write_text(LAST.replace("Last", "Helper"), encoding="utf-8")
    assert make_bot("code").act(observation) == make_bot("./code:Mine").act(observation) == last
    Path("more").mkdir()  # another folder whose helper has the same name
    Path("more/bot.py").write_text("from helper_t import Helper\nclass Mine(Helper): pass\n", encoding="utf-8")
    Path("more/helper_t.py").write_text(FIRST.replace("First", "Helper"), encoding="utf-8")
    assert make_bot("more").act(observation) == first
    assert make_bot("code").act(observation) == last


def test_an_installed_name_comes_first_and_a_path_names_the_file(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site)
    Path("greedy").mkdir()
    Path("greedy/bot.py").write_text(FIRST, encoding="utf-8")
    assert read_name("greedy").kind == "installed"
    assert read_name("./greedy").kind == read_name(Path("greedy")).kind == "folder"
    assert make_bot("greedy").name == "greedy"
    assert type(make_bot("./greedy")).__name__ != "GreedyBot"


def test_a_file_that_is_called_like_a_module_hides_nothing(site: Path) -> None:
    (site / "json.py").write_text(FIRST, encoding="utf-8")
    code = f"from okey_env import make_bot; make_bot({str(site / 'json.py')!r}); import json; json.dumps; import csv"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, cwd="/")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("class A(", r"SyntaxError.*line 1"),
        ("import no_such_module", r"ModuleNotFoundError: No module named 'no_such_module' \(bad\.py, line 1\)"),
        ("raise SystemExit(3)", r"SystemExit: 3"),
        ("x = 1", r"no bot in it: expected a class with act"),
        ("def player(o): return 0", r"bad\.py:player would name a function"),
        (FIRST + LAST, r"it has 2 bots: name one of bad\.py:First, bad\.py:Last"),
        ("class A:\n def __init__(self, n): ...\n def act(self, o): ...", r"A\(n\) cannot be made without arguments"),
        ("class A:\n def __init__(self):\n  1/0\n def act(self, o): ...", r"ZeroDivisionError.*\(bad\.py, line 3\)"),
        ("class A:\n def act(self, o, more): ...", r"act\(o, more\) cannot be called as act\(observation\)"),
        ("bot = 7", r"7 is not a bot"),
        ("def act(): return 0", r"its signature is \(\): expected a function that takes the observation"),
        ("async def act(o): return 0", r"it is asynchronous"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_sentence(tmp_path: Path, code: str, reason: str) -> None:
    (tmp_path / "bad.py").write_text(code, encoding="utf-8")
    with pytest.raises(ValueError, match=r"bad\.py' cannot be loaded: .*" + reason) as raised:
        make_bot(str(tmp_path / "bad.py"))
    assert "\n" not in str(raised.value)


def test_names_that_are_no_bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("program").write_bytes(b"#!/bin/sh\n")
    Path("near.py").write_text(FIRST, encoding="utf-8")
    for name, reason in [
        ("", "there is no bot ''"),
        ("program", r"neither Python .* a program is named cmd:\./program"),
        ("near", "did you mean the file 'near.py'"),
        ("math:Nothing", "there is no 'Nothing' in it"),
        ("no_such_module_t:Bot", "No module named 'no_such_module_t'"),
    ]:
        with pytest.raises(ValueError, match=reason):
            make_bot(name)


def test_bots_of_files_are_sent_to_other_processes(tmp_path: Path) -> None:
    """By name, by class and as an object; a worker finds the file by the name of its module."""
    (tmp_path / "sent.py").write_text(FIRST, encoding="utf-8")
    sent = pickle.dumps(make_bot(str(tmp_path / "sent.py")))
    code = "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read()).name)"
    said = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, check=True, timeout=120)
    assert said.stdout.decode().strip() == "sent"


@pytest.mark.heavy
def test_a_file_plays_in_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sent.py").write_text(FIRST, encoding="utf-8")
    alone, apart = (evaluate("sent.py", "random", deals=110, seed=1, workers=workers) for workers in (1, 2))
    assert alone.points == apart.points


def test_the_files_of_a_bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(FIRST, encoding="utf-8")
    assert files_of("a.py:First") == [Path("a.py")]
    assert files_of(f"cmd:{sys.executable} a.py --level 3") == sorted([Path(sys.executable), Path("a.py")])
    assert files_of("greedy") == []
    assert files_of("a:First") == [tmp_path / "a.py"]


def test_an_edited_file_is_another_bot_to_a_state_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for code in (FIRST, LAST):
        Path("edited.py").write_text(code.replace("Last", "First"), encoding="utf-8")
        kept = {"deals": 2, "seed": 1, "workers": 1, "state": Path("state.json")}
        if code == FIRST:
            evaluate("edited.py", "random", **kept)  # type: ignore[arg-type]
        else:
            with pytest.raises(ValueError, match="state"):
                evaluate("edited.py", "random", **kept)  # type: ignore[arg-type]


def test_a_new_bot_plays_and_nothing_is_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["new-bot", "my_bot.py"])
    assert evaluate("my_bot.py", "random", deals=10, seed=1, workers=1).points.low > 0
    assert make_bot("my_bot.py:MyBot").name == "MyBot"
    before = Path("my_bot.py").read_bytes()
    for file, reason in (("my_bot.py", "exists already"), ("my_bot.txt", "ends in .py")):
        with pytest.raises(SystemExit):
            main(["new-bot", file])
        assert reason in capsys.readouterr().err
    assert Path("my_bot.py").read_bytes() == before
    assert not Path("my_bot.txt").exists()


ENCODER = """
from okey_env import Encoder
from okey_env.encoders import Piece
def fill(seen, out):
    out[:53] = seen["rack"][:53] / 2
RACK = Encoder("rack_t", 2, (Piece("rack", 53, "copies held of each kind, halved"),), fill)
wrong = 3
"""


def test_encoders_of_files_and_packages_have_names(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site)
    install(site, "plugin_e", "[okey_env.encoders]\nrack_t = plugin_e:RACK\nwrong_t = plugin_e:wrong\n", ENCODER)
    Path("mine.py").write_text(ENCODER, encoding="utf-8")
    seen = Round("gamelake", seed=3).observe(0)
    for name in ("mine.py:RACK", "mine:RACK", "rack_t"):
        encoder = as_encoder(name, version=2)
        assert (encoder.encode(seen) == seen.rack / 2).all()
        assert (pickle.loads(pickle.dumps(encoder)).encode(seen) == seen.rack / 2).all()
    assert OkeyVectorEnv(num_envs=2, encoder="mine.py:RACK").reset(seed=1)[0]["observation"].shape == (2, 53)
    for name, reason in [
        ("mine.py:wrong", "is 3: expected an Encoder"),
        ("wrong_t", "is 3: expected an Encoder"),
        ("mine.py:NONE", "there is no 'NONE' in it"),
        ("none.py:RACK", "there is no file"),
        ("raw", "'raw' is not an encoder: expected 'flat'"),
    ]:
        with pytest.raises(ValueError, match=reason):
            as_encoder(name)


def test_a_foreign_folder_runs_no_file_by_the_name_of_its_encoder(tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text("raise SystemExit", encoding="utf-8")
    with pytest.raises(ValueError, match=r"^encoder='.* is not an encoder: expected"):
        installed_encoder(f"{tmp_path}/evil.py:X", 1)
