"""Every command of the tutorial runs as it is written there, and shows what the text says it shows."""

import re
import subprocess

import programs

TUTORIAL = programs.ROOT / "docs" / "pages" / "tutorial.md"
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", TUTORIAL.read_text(encoding="utf-8"), re.M | re.S)


def run(first_words):
    """Runs the only block that has these words; its standard output."""
    block, = (text for text in BLOCKS if first_words in text)
    (programs.ROOT / "out").mkdir(exist_ok=True)
    ended = subprocess.run(["bash", "-euc", block], cwd=programs.ROOT, capture_output=True, text=True, timeout=140, check=False)
    assert ended.returncode == 0, ended.stderr[-2000:]
    return ended.stdout


def test_every_block_is_run_here():
    assert len(BLOCKS) == 5


def test_the_build_has_nothing_left_to_do():
    run("./run build")


def test_the_demo_ends_with_a_table_and_a_report():
    shown = run("./run demo")
    assert "smvs" in shown and "no proxy" in shown
    assert (programs.ROOT / "out" / "tutorial-demo" / "report.html").is_file()


def test_small_answers_arrive_beside_a_download():
    assert len(re.findall(r"^\d+\.\d+ s for an answer", run("out/probe.sh"), re.M)) == 6


def test_the_running_program_answers():
    shown = run("out/ask.sh")
    assert "acknowledgements" in shown and "10.45.0.2" in shown and "split" in shown


def test_an_experiment_of_ones_own_prints_a_table():
    shown = run("out/mine.yaml")
    assert re.search(r"^smvs ", shown, re.M) and re.search(r"^i-tcp ", shown, re.M)
    assert (programs.ROOT / "out" / "mine" / "results.csv").is_file()
