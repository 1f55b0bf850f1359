"""``referee check`` on the command line."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from broken_bots import BROKEN, GOOD, C
from sandboxes import need

from example_bots import BOTS
from referee.author.check.run import CHECKS

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from example_bots import Example

    Cli = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).parents[2]
KEYS = {"bot", "game", "rules", "ok", "isolation", "counts", "seats", "not_checked", "notes", "refused", "text"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a good bot and a broken one."""
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "broken.py").write_text(BROKEN["no-limits"].source)
    return tmp_path


@pytest.mark.parametrize("columns", [40, 60, 160])
def test_no_line_is_wider_than_the_terminal(columns: int, referee: Cli, folder: Path) -> None:
    done = referee("check", "broken.py", "--only", "ready,start-messages", "--isolation", "none", env={"COLUMNS": str(columns)})
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= columns
    # At each of two seats, and again at the end.
    assert sum("FAILED" in line for line in lines) == 4
    listed = referee("check", "--list", env={"COLUMNS": str(columns)}).stdout.splitlines()
    assert max(map(len, listed)) <= columns


@pytest.mark.parametrize("line", ["from sdk import NoSuchBot", "import nothing_of_this_name", "def hunt(self, state)"])
@pytest.mark.parametrize(("columns", "level"), [(60, "auto"), (160, "none")])
def test_an_error_of_the_program_is_said_once_with_its_line(line: str, columns: int, level: str, referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(f"{line}\nprint('never')\n")
    done = referee("check", "mine.py", "--isolation", level, env={"COLUMNS": str(columns)})
    assert done.returncode == 1
    lines = (done.stdout + done.stderr).splitlines()
    assert len(lines) <= 30, done.stdout
    assert len(re.findall(r"\w+Error:", done.stdout)) == 1
    assert "do    mend mine.py:1, then check again\n" in done.stdout
    assert any(f"{len(CHECKS) - 1} checks not tried" in one for one in lines)
    assert lines[-1].startswith(f"{len(CHECKS)} checks: 0 ok"), "nothing new to propose"


@pytest.mark.parametrize(
    ("source", "only", "cause", "status"),
    [
        (f"#!{sys.executable}\nraise SystemExit(3)\n", "memory", "starts", 1),
        (f"#!{sys.executable}\nprint('hello', flush=True)\ninput()\ninput()\n", "memory,same-seed", "ready", 1),
        (f'#!{sys.executable}\ninput()\nprint(\'{{"type":"ready","protocol":1}}\', flush=True)\ninput()\n', "same-seed", "answers", 1),
        ("#!/no/such/interpreter\n", "memory", "starts", 3),
    ],
    ids=["ends at once", "no answer", "one at a time", "no interpreter"],
)
def test_a_bot_that_fails_before_the_checks_that_were_asked_for_does_not_pass(
    source: str, only: str, cause: str, status: int, referee: Cli, tmp_path: Path
) -> None:
    (tmp_path / "mine").write_text(source)
    (tmp_path / "mine").chmod(0o755)
    words = ("check", "./mine", "--only", only, "--seat", "hunter", "--isolation", "none")
    done = referee(*words)
    assert done.returncode == status, done.stdout
    failed = done.stdout.partition("./mine fails as hunter:\n")[2]
    assert failed.startswith(f"  FAILED   {cause}  ")
    told = json.loads(referee(*words, "--json").stdout)
    assert [(one["name"], one["status"]) for one in told["seats"]["hunter"]] == [
        (cause, "failed"),
        *((name, "skipped") for name in only.split(",")),
    ]
    quiet = referee(*words, "--quiet")
    assert quiet.returncode == status
    assert f"FAILED   {cause}" in quiet.stdout


def test_json_has_the_keys_that_the_page_describes(referee: Cli, folder: Path) -> None:
    done = referee("check", "broken.py", "--json", "--only", "ready,start-messages", "--seat", "hunter")
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert told.keys() == KEYS
    assert (told["bot"], told["game"], told["rules"], told["ok"]) == ("broken.py", "evasion", "classic", False)
    assert told["counts"] == {"ok": 1, "warning": 0, "failed": 1, "skipped": 0}
    ready, messages = told["seats"]["hunter"]
    assert ready["status"] == "ok"
    assert messages.keys() == {"name", "group", "about", "status", "text", "sent", "came", "remedy"}
    assert messages["status"] == "failed"
    page = (ROOT / "docs/check.md").read_text()
    assert all(f"`{key}`" in page for key in (*KEYS, *messages))


def test_the_list_has_every_check_and_what_it_tests(referee: Cli) -> None:
    """For people and for programs; the page leads to it."""
    assert "`referee check --list`" in (ROOT / "docs/check.md").read_text()
    shown = " ".join(referee("check", "--list").stdout.split())
    assert len(CHECKS) >= 20
    for one in CHECKS:
        assert re.search(rf"\b{one.name} +{re.escape(one.about)}", shown), one.name
    listed = json.loads(referee("check", "--list", "--json").stdout)["checks"]
    assert [(one["name"], one["group"], one["about"]) for one in listed] == [(one.name, one.group, one.about) for one in CHECKS]


def test_a_bot_of_one_seat_is_not_failed_for_the_other(referee: Cli, tmp_path: Path) -> None:
    shutil.copy(next(bot.path for bot in BOTS if bot.name == "boxer"), tmp_path / "mine.py")
    done = referee("check", "mine.py", "--only", "ready", "--json", "--isolation", "none")
    assert done.returncode == 0
    told = json.loads(done.stdout)
    assert list(told["seats"]) == ["hunter"]
    assert "Boxer plays hunter, but was asked to play prey" in told["not_checked"]["prey"]
    assert referee("check", "mine.py", "--only", "ready", "--seat", "prey", "--isolation", "none").returncode == 1
    assert list(json.loads(referee("check", "runner", "--only", "ready", "--json", "--isolation", "none").stdout)["seats"]) == ["prey"]


@pytest.mark.parametrize(("role", "file"), [("thief", "mine.py"), ("painter", "mine.py"), ("policeman", "mine.js")])
def test_a_bot_of_another_game_is_checked_for_its_game(role: str, file: str, referee: Cli) -> None:
    need(file.endswith(".py") or shutil.which("node") is not None, "node is missing")
    written = json.loads(referee("new", role, file, "--json").stdout)
    seat = "" if role == "painter" else f" --seat {role}"
    assert written["check"].endswith(f"check --game {written['game']} {file}{seat}")
    done = referee("check", file, "--only", "ready", "--json", "--isolation", "none")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["game"] == written["game"]
    assert (role if seat else "a") in told["seats"]
    assert f"it is checked for {written['game']}." in done.stderr
    assert referee("check", file, "--game", "evasion", "--only", "ready", "--isolation", "none").returncode == 1


#: A hunter of the tutorial's kind: it builds walls as the rules classic and diagonal have them.
TUTORIAL = """from sdk import HunterBot


class Mine(HunterBot):
    {}

    def hunt(self, state):
        return self.build("vertical")


if __name__ == "__main__":
    Mine.main()
"""


def _checked(referee: Cli, bot: str, *more: str) -> tuple[dict[str, dict[str, str]], str]:
    """Return the results of a check by name, and the rule set."""
    done = referee("check", bot, "--only", "ready,rule-sets", "--json", "--isolation", "none", *more)
    told = json.loads(done.stdout)
    return {one["name"]: one for one in told["seats"]["hunter"]}, told["rules"]


def test_a_bot_without_its_rule_sets_is_told_what_to_add(referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(TUTORIAL.format("name = 'Mine'"))
    found, rules = _checked(referee, "mine.py")
    assert rules == "classic"
    assert found["rule-sets"]["status"] == "warning"
    assert (
        'add rules = ("classic", "diagonal") to its class, or rules = ["classic", "diagonal"] to its bot.toml.'
        in found["rule-sets"]["remedy"]
    )
    # The sentence isn't cut inside a word.
    assert found["rule-sets"]["text"].endswith((" [...].", ")."))
    assert "None, self.add(...) or self.remove(one id)" in found["rule-sets"]["text"]


@pytest.mark.parametrize("rules", ['("classic", "diagonal")', '["classic"]', '"classic"'])
def test_a_class_may_name_its_rule_sets(rules: str, referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(TUTORIAL.format(f"rules = {rules}"))
    found, _ = _checked(referee, "mine.py")
    assert found["rule-sets"]["status"] == ("ok" if "diagonal" in rules else "skipped")
    played = referee("play", "mine.py", "still", "--rules", "gameserver", "--isolation", "none", "--json")
    assert played.returncode == 3
    assert "Mine plays the rules classic" in json.loads(played.stdout)["players"]["hunter"]["fault"]["text"]
    assert "but was asked to play gameserver" in json.loads(played.stdout)["players"]["hunter"]["fault"]["text"]
    refused, _ = _checked(referee, "mine.py", "--rules", "gameserver")
    assert refused["ready"]["text"].endswith("but was asked to play gameserver.")


@pytest.mark.parametrize("file", ["class", "bot.toml"])
def test_a_rule_set_that_is_misspelt_is_named_with_the_one_that_is_meant(file: str, referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/main.py").write_text(TUTORIAL.format('rules = ("clasic",)' if file == "class" else "name = 'Mine'"))
    if file == "bot.toml":
        (tmp_path / "mine/bot.toml").write_text('rules = ["clasic"]\n')
    checked = referee("check", "mine", "--isolation", "none", env={"COLUMNS": "400"})
    played = referee("play", "mine", "still", "--isolation", "none")
    for done in (checked, played):
        assert "rule set 'clasic'" in done.stdout + done.stderr
        assert "did you mean 'classic'?" in done.stdout + done.stderr
    assert (checked.returncode, played.returncode) == ((1, 3) if file == "class" else (2, 2))
    if file == "class":
        for done in (checked, played):
            assert "status 1: Evasion has no rule set 'clasic'" in done.stdout + done.stderr
        # The line of the class, and no seat is blamed for it twice.
        assert "do    mend mine/main.py:4, then check again\n" in checked.stdout
        assert checked.stdout.count("clasic'") == 1


@pytest.mark.parametrize("more", [(), ("--seat", "hunter"), ("--game", "evasion")])
def test_a_bot_of_other_rules_is_checked_by_them(more: tuple[str, ...], referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(TUTORIAL.format('rules = ("diagonal",)'))
    found, rules = _checked(referee, "mine.py", *more)
    assert (rules, found["ready"]["status"], found["rule-sets"]["status"]) == ("diagonal", "ok", "skipped")
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot/main.py").write_text(TUTORIAL.format("name = 'Mine'"))
    (tmp_path / "bot/bot.toml").write_text('rules = ["diagonal"]\n')
    found, rules = _checked(referee, "bot", *more)
    assert (rules, found["ready"]["status"], found["rule-sets"]["status"]) == ("diagonal", "ok", "skipped")


def test_a_seat_of_another_game_names_the_game(referee: Cli) -> None:
    referee("new", "thief", "mine.py")
    done = referee("check", "mine.py", "--seat", "thief", "--only", "ready", "--json")
    assert (done.returncode, json.loads(done.stdout)["game"]) == (0, "maze")
    assert json.loads(referee("check", "easy", "--only", "ready", "--json").stdout)["game"] == "maze"


#: Exits in its third question, and in every start after that.
ONE_MATCH = """
import json, os, sys
if os.path.exists("played"):
    sys.exit(3)
for line in sys.stdin:
    message = json.loads(line)
    if message.get("turn") == 2:
        open("played", "w").close()
        sys.exit(3)
    answer = {"type": "ready", "protocol": 1} if message["type"] == "start" else {"type": "move", "turn": message["turn"], "move": {}}
    print(json.dumps(answer), flush=True)
"""


@pytest.mark.usefixtures("same_user")
def test_an_end_that_the_first_match_showed_is_told_of_by_one_check(referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(ONE_MATCH)
    done = referee("check", "bot.py", "--seat", "hunter", "--isolation", "none", "--only", "wire-forms", "--json")
    assert json.loads(done.stdout)["counts"] == {"ok": 1, "warning": 0, "failed": 0, "skipped": 0}


#: Checks of what the SDK does alike for all its bots: how a bot starts, reads and ends.
FRAME = [check.name for check in CHECKS if check.group in ("start", "reading", "end")]


@pytest.mark.soak
@pytest.mark.parametrize("bot", BOTS, ids=[f"{bot.game}-{bot.name}-{bot.file}" for bot in BOTS])
def test_every_example_bot_passes(bot: Example, referee: Cli) -> None:
    """All checks of what a bot's own code decides, and a third of the others: any three bots in a row are tried with all."""
    left_out = {name for index, name in enumerate(FRAME) if (index + BOTS.index(bot)) % 3}
    only = [check.name for check in CHECKS if check.name not in left_out]
    done = referee("check", bot.name, "--game", bot.game, "--only", ",".join(only), "--json", timeout=300)
    told = json.loads(done.stdout)
    failed = [(seat, one) for seat, results in told["seats"].items() for one in results if one["status"] == "failed"]
    assert not failed
    assert done.returncode == 0
    assert told["seats"]
    assert set(told["seats"]) == set(bot.seats or told["seats"])
    for results in told["seats"].values():
        assert [one["name"] for one in results] == only


def test_a_folder_is_built_once_and_the_errors_of_its_build_are_shown(referee: Cli, tmp_path: Path) -> None:
    need(shutil.which("gcc") is not None, "gcc is missing")
    (tmp_path / "cbot").mkdir()
    (tmp_path / "cbot/bot.toml").write_text('build = "gcc -o bot bot.c"\nrun = "./bot"\n')
    (tmp_path / "cbot/bot.c").write_text(f"// {tmp_path}: never built before\n#include <stdlib.h>\n{C}")
    done = referee("check", "cbot", "--only", "ready,answers,same-seed", "--isolation", "none")
    assert done.returncode == 0, done.stdout
    assert done.stderr.count("Building cbot") == 1
    (tmp_path / "cbot/bot.c").write_text("int main(")
    done = referee("check", "cbot", "--only", "starts,ready", "--isolation", "none")
    assert done.returncode == 3
    assert "can't be built: 'gcc -o bot bot.c' ended with exit status 1" in done.stdout
    assert re.search(r"^ +bot.c:1:", done.stdout, re.MULTILINE)
    assert "do    Run the build of its bot.toml by hand" in done.stdout


def test_a_bot_that_fails_late_under_other_rules_is_warned(referee: Cli, folder: Path) -> None:
    """Five questions don't show it: a match does."""
    (folder / "late.py").write_text(
        "from sdk import HunterBot\nclass Late(HunterBot):\n    def hunt(self, state):\n"
        "        assert state.settings.rules != 'gameserver' or state.step < 40\n        return None\nLate.main()\n"
    )
    done = referee("check", "late.py", "--seat", "hunter", "--only", "rule-sets", "--isolation", "none")
    assert done.returncode == 0, done.stderr
    assert re.search(r"warning  rule-sets  Under the rules gameserver it fails after \d+ steps: The hunter \(late.py\) exited", done.stdout)
    assert 'add rules = ("classic", "diagonal") to its class' in " ".join(done.stdout.split())
