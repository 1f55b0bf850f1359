"""The words of each command for authors: its usual output, its refusals, its output with -q and the keys of its --json."""

from __future__ import annotations

import gzip
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from broken_bots import BROKEN, GOOD
from golden import transcript

if TYPE_CHECKING:
    from commands import Commands
    from syrupy.assertion import SnapshotAssertion

REPLAYS = Path(__file__).parents[1] / "data" / "replays"
HUNTER = "from sdk import HunterBot\nclass Mine(HunterBot):\n    def hunt(self, state):\n        {}\nMine.main()\n"
FILES: dict[str, str | bytes] = {
    "broken.py": BROKEN["no-limits"].source,
    "dict.py": "input()\nprint({'type': 'ready', 'name': None}, flush=True)\ninput()\n",
    "ends.py": "raise SystemExit(3)\n",
    "good.py": GOOD,
    "greedy.py": HUNTER.format("return self.build('vertical')"),
    "hunts.py": HUNTER.format("return None"),
    "memory.py": HUNTER.format("raise MemoryError"),
    "prints.py": "input()\nprint('hello {}', flush=True)\ninput()\n",
    "quiet.py": "from sdk import RectangleBot\nclass Quiet(RectangleBot):\n    def orders(self, state):\n        return ''\nQuiet.main()\n",
    "raises.py": HUNTER.format("raise ValueError(7)"),
    "rules.py": HUNTER.format("return None").replace("    def", "    rules = ('classic',)\n    def"),
    "a.duel.json": '{"winner": "a"}',
    "double/hunter.py": "",
    "double/hunter.sh": "",
    "double/prey.py": "",
    "empty/notes.txt": "",
    "later.gz": gzip.compress(b'{"type":"head","format":2}\n'),
    "maze.txt": "....\n....\n....\n...E\n",
    "mine/bot.toml": 'rules = ["classic"]\n',
    "mine/main.py": HUNTER.format("return None"),
    "nothing.gz": b"",
    "odd": "#!/no/such/interpreter\n",
    "page.gz": "<!doctype html><p>hi",
    "text.gz": gzip.compress(b"text\n"),
    "ada.zip": b"",
}
BOXER = "evasion-classic-boxer-runner"

PLAY = """
0 play boxer runner --seed 4 --isolation none --cores 0 --out boxer.replay.jsonl.gz
0 play boxer runner --seed 4 --isolation none --cores 0 --json --out boxer.replay.jsonl.gz
0 play boxer runner --seed 4 --isolation none --cores 0 -q --out boxer.replay.jsonl.gz
0 play greedy.py still --max-steps 30 -N 4 --seed 1 --isolation none --cores 0 --out x.gz
0 play straight still --max-steps 1 --seed 1 --isolation none --cores 0 --pace 8 --out x.gz
0 play straight still --max-steps 1 --seed 1 --isolation none --cores 0 --games 1 --slots 1 --out .
0 play straight still --max-steps 3 --seed 1 --isolation none --cores 0 --games 2 --slots 1 -q --out .
0 play raises.py still --seed 1 --isolation none --cores 0 --out x.gz
0 play memory.py still --seed 1 --isolation none --cores 0 --out x.gz
0 play raises.py still --seed 1 --isolation none --cores 0 --json --out x.gz
3 play ends.py still --seed 1 --isolation none --cores 0 --out y.gz
3 play ends.py still --seed 1 --isolation none --cores 0 --json --out y.gz
3 play dict.py still --seed 1 --isolation none --cores 0 --seed 1 --out y.gz
3 play prints.py still --seed 1 --isolation none --cores 0 --seed 1 --out y.gz
3 play rules.py still --rules gameserver --isolation none --cores 0 --seed 1 --out y.gz
3 play straight rules.py --isolation none --cores 0 --seed 1 --out y.gz
3 play odd still --isolation none --cores 0 --out z.gz
3 play ./odd still --isolation none --cores 0 --json --out z.gz
0 play memory.py still --seed 1 --isolation limits --cores 0 --out x.gz
3 play --game rectangle ends.py random --cap 5 --seed 1 --isolation none --cores 0 --out r.gz
0 play --game rectangle quiet.py quiet.py --cap 5 --seed 1 --isolation none --cores 0 --out r.gz
0 play --game rectangle random random --cap 5 --seed 1 --isolation none --cores 0 --out r.gz
0 play --game maze dasher hard --seed 1 --isolation none --cores 0 --out m.gz
0 duel random random --seed 1 --max-steps 5 --isolation none --cores 0 --out duel
0 duel random random --seed 1 --max-steps 5 --isolation none --cores 0 -q --out duel
0 duel random random --seed 1 --max-steps 5 --isolation none --cores 0 --json -q --out duel
"""
PLAY_REFUSALS = """
2 play
2 play boxer
2 play boxer --rules gameserver
2 play evader
2 play dasher
2 play "my bot.py"
2 play --game maze dasher
2 play boxer runner still
2 play a b c
2 play help runner
2 play ~nosuch/bot.py runner
2 play boxer missing.py
2 play boxxer runner
2 play boxer.py still
2 play hunt.py still
2 play quite/else.py still
2 play mine still --rules gameserver
2 play boxer runner --size big
2 play boxer runner --size 0x0
2 play boxer runner --size ٣x٣
2 play boxer runner --size 1x1 --prey 0,0
2 play boxer runner --size 100 --prey 230,200
2 play boxer runner --hunter 0,0,1,0
2 play boxer runner --hunter 0,0
2 play boxer runner -N -1
2 play boxer runner -M -1
2 play boxer runner --max-steps 0
2 play boxer runner --rules cubic
2 play boxer runner --game chess
2 play boxer runner --robots 3
2 play boxer runner --move-time soon
2 play boxer runner --move-time 0
2 play boxer runner --move-time nan
2 play boxer runner --idle both
2 play boxer runner --on-malformed cry
2 play boxer runner --set speed
2 play boxer runner --set speed=3
2 play boxer runner --set "prey=50;60"
2 play boxer runner --set max_steps=many
2 play boxer runner --match none.toml
2 play boxer runner --out /proc/nowhere/x.gz
2 play boxer runner --limit build_seconds=9999
2 play boxer runner --live --pace wait
2 play boxer runner --live --games 2
2 play human still --pace 9
2 play human still --human-clock --clock cpu
2 play straight still --live --host no.such.name.invalid
2 play --nope --json
2 duel human runner
2 duel empty random
2 duel double random
2 duel nowhere.py random
2 duel random random --out ends.py
2 compare boxer straight --out ends.py
2 compare "" boxer
2 nosuch --json
"""
REPLAY = f"""
0 verify {BOXER}.gz
0 verify {BOXER}.gz --json
1 verify {BOXER}.gz wrong.gz missing.gz
1 verify cut.gz
0 show {BOXER}.gz
0 show {BOXER}.gz --json
0 show {BOXER}.gz --step 11
0 show {BOXER}.gz --step 11 --json
1 show cut.gz --events 2
1 show wrong.gz
0 show evasion-classic-hunter-fault.gz --events 0
0 show evasion-classic-hunter-fault.gz --step -1
0 show rectangle-small-goes-on-after-a-fault.gz --events 0
0 analyze evasion-diagonal-random-random.gz
0 analyze maze-patient-expert.gz
0 analyze maze-patient-expert.gz --json
0 analyze maze-move-limit.gz
0 analyze rectangle-small-goes-on-after-a-fault.gz
0 rerun {BOXER}.gz boxer --seat hunter --isolation none
0 rerun {BOXER}.gz boxer --seat hunter --isolation none --json
1 rerun {BOXER}.gz still --seat prey --isolation none --differences 2
1 rerun {BOXER}.gz ends.py --seat prey --isolation none
0 debug {BOXER}.gz still --seat prey --turn 11 --isolation none
0 debug {BOXER}.gz still --seat prey --turn 11 --isolation none --json
0 debug {BOXER}.gz greedy.py --seat hunter --turn 5 --isolation none
3 debug {BOXER}.gz ends.py --seat prey --isolation none
0 export {BOXER}.gz --html --out page.html
0 export {BOXER}.gz --html --out page.html --json
0 watch {BOXER}.gz --export page.html
"""
REPLAY_REFUSALS = (
    "".join(
        f"2 {command.replace('REPLAY', name)}\n"
        for command in ("verify REPLAY", "watch REPLAY", "export --png REPLAY")
        for name in ("missing.gz", "nothing.gz", "page.gz", "later.gz", "a.duel.json")
    )
    + """
2 verify text.gz
2 analyze none.gz
2 analyze a.duel.json
2 show a.duel.json
2 rerun a.duel.json
2 debug a.duel.json
2 analyze none.gz --json
2 show evasion-classic-boxer-runer.gz
2 show BOXER --step 999
2 show cut.gz --step 999
2 rerun BOXER
2 rerun BOXER runner --seat c
2 rerun BOXER nobody.py --seat prey
2 rerun BOXER ada.zip --seat prey
2 rerun BOXER human --seat prey
2 rerun BOXER runner --seat prey --isolation much
2 rerun BOXER nobody.py
3 rerun BOXER ./odd --seat prey --isolation none
2 debug --json
2 debug no.gz --seat hunter --json
2 debug BOXER
2 debug BOXER runner --seat c
2 debug BOXER human --seat prey
2 debug BOXER still --seat prey --turn 10
2 debug BOXER still --seat prey --turn 999
2 debug BOXER still --seat prey --as-test test.txt
2 debug BOXER still --seat prey --as-test no/test_a.py
2 debug BOXER boxer --as-test .
2 debug text.gz runner --seat prey
1 debug wrong.gz runner --seat prey
2 export BOXER
2 export BOXER --html --png
2 export BOXER --png --step 9999
2 export BOXER --gif --from 20 --to 10
2 export BOXER --gif --to 999
2 export BOXER --png --from 3
2 export BOXER --html --step 3
2 export BOXER --gif --every 1 --size 4096
2 export BOXER --png --out /proc/x/y.png
2 export BOXER --out x.webm
2 export BOXER --png --out e.gif
2 export BOXER --html --out empty
2 watch BOXER --step 2 --export a.html
2 watch BOXER --step 9999 --no-browser
2 play boxer runner --from BOXER@999
""".replace("BOXER", f"{BOXER}.gz")
)
CHECK = """
0 check good.py --only ready,answers --isolation none
0 check good.py --only ready --isolation none -q
0 check good.py --only ready,answers --isolation none --json
1 check broken.py --only ready,start-messages --isolation none
1 check broken.py --only ready,start-messages --isolation none -q
1 check broken.py --seat prey --only start-messages --isolation none
1 check hunts.py --seat prey --isolation none
0 check hunts.py --only ready,rule-sets --isolation none
0 check rules.py --only ready --isolation none
1 check ends.py --isolation none
1 check ends.py --only flushes,memory --seat hunter --isolation none
3 check ./odd --isolation none
3 check ./odd --isolation none --json
0 check --list
0 check --list --json
2 check
2 check nobody.py
2 check boxr
2 check human
2 check good.py --seat huntr
2 check boxer --seat prey
2 check good.py --game chess
2 check good.py --rules clasic
2 check good.py --rules cubic
2 check good.py --only flush
2 check good.py --isolation much
2 check "architect: good.py {port}"
2 check --list --game nope
"""
OTHERS = """
0 games
0 games --json
0 games evasion
0 games maze --json
2 games chess
0 bots
0 bots maze
0 bots --json
2 bots --game mase
0 explain late
0 explain late --json
2 explain nothing
0 new hunter my_bot.py
0 new thief my_thief.py --json
0 new team my_team
0 new hunter my_folder --folder
2 new hunter my_bot.py
2 new king king.py
2 new hunter x/
2 maze --as exit
2 maze --difficulty medium
2 maze --layout none.txt
2 maze --layout maze.txt --apart 16
2 maze --apart 99
1 compare boxer straight --isolation none --max-steps 9 --duels 1 --seed 1 --slots 1
1 compare boxer straight --isolation none --max-steps 9 --duels 1 --seed 1 --slots 1 --json
1 compare boxer straight --isolation none --max-steps 9 --duels 1 --seed 1 --slots 1 -q
2 compare boxer nobody.py
2 arena new /dev/null
"""
#: Match files that are refused.
MATCH_FILES = (
    "rulez = 'classic'",
    "[settings]\ncooldwon = 3",
    "[settings]\nN = 3",
    "cores = 2",
    "move_time = 2",
    "size = '3x3'",
    "hunter = [1, 2]",
    "robots = 3",
    "cooldown = 3",
    "[time]\nmoove = 3.0",
    "[time]\nmove = 'soon'",
    "[run]\nidle = 'both'",
    "[run]\ncores = -1",
    "seed = true",
    "this is not toml",
    "seed = " + "9" * 5000,
    "seed = 0x" + "f" * 4000,
    "[settings]\nmax_steps = 0x" + "f" * 4000,
    "x = " + "[" * 3000,
    'out = "\\u0000"',
    'players = ["python a\\u0000b", "still"]',
)
SCENES = {
    "play": PLAY,
    "play-refusals": PLAY_REFUSALS,
    "replay": REPLAY,
    "replay-refusals": REPLAY_REFUSALS,
    "check": CHECK,
    "others": OTHERS,
}


@pytest.fixture
def folder(scene_folder: Path) -> Path:
    """A folder with replays, bots and files that are something else."""
    for name, content in FILES.items():
        path = scene_folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    (scene_folder / "odd").chmod(0o755)
    for path in REPLAYS.glob("*.gz"):
        shutil.copy(path, scene_folder / path.name.replace(".replay.jsonl", ""))
    whole = gzip.decompress((scene_folder / f"{BOXER}.gz").read_bytes())
    (scene_folder / "cut.gz").write_bytes(gzip.compress(b"".join(whole.splitlines(keepends=True)[:20])))
    first, *steps = whole.splitlines(keepends=True)
    steps[4] = re.sub(rb'"hunter":\[\d+', b'"hunter":[0', steps[4])
    (scene_folder / "wrong.gz").write_bytes(gzip.compress(b"".join([first, *steps])))
    return scene_folder


@pytest.mark.parametrize("scene", SCENES)
def test_the_words_of_a_scene(scene: str, folder: Path, commands: Commands, golden: SnapshotAssertion) -> None:
    assert transcript(SCENES[scene], commands.run, folder) == golden


def test_match_files(folder: Path, commands: Commands, golden: SnapshotAssertion) -> None:
    scenes = []
    for text in MATCH_FILES:
        (folder / "m.toml").write_text(text)
        players = "" if "players" in text else "boxer runner "
        scenes.append(f"{text[:60]}\n{transcript(f'2 play {players}--match m.toml', commands.run, folder)}")
    assert "\n".join(scenes) == golden
