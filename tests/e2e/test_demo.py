"""./run demo, stopped in the middle, and asked for what cannot be."""

import os
import signal
import subprocess
import sys
import time

import lab as lab_module
import pytest
from outcomes import PATIENCE
from programs import ROOT

DEMO = ROOT / "tests" / "lab" / "demo.py"


@pytest.mark.parametrize("words, under_way", [(["--virtual"], "10 %"), ([], "starting")])
def test_ctrl_c_ends_it_in_one_line_and_leaves_nothing(tmp_path, words, under_way):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with open(tmp_path / "demo.log", "w", encoding="utf-8") as log:
        popen = subprocess.Popen(["env", f"TMPDIR={temporary}", sys.executable, DEMO, *words, "--out", tmp_path / "out"], stdout=log,
                                 stderr=subprocess.STDOUT, process_group=0)
    demo = lab_module.Process("demo", popen, tmp_path / "demo.log")
    try:
        demo.wait_for(under_way, PATIENCE)
        for _ in range(2):  # an impatient one
            os.killpg(popen.pid, signal.SIGINT)  # as a terminal does
            time.sleep(0.002)
        assert demo.wait(PATIENCE) == 130, demo.output()
    finally:
        demo.stop(PATIENCE)
    assert "stopped before its end" in demo.output() and "Traceback" not in demo.output()
    assert not list(lab_module.NETNS_DIR.glob(f"{lab_module.PREFIX}-{popen.pid}-*")), "namespaces that it made"
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("words, what", [
    (["--virtual", "--seconds", "10"], "--seconds is for runs in real time"),
    (["--seconds", "nan"], "--seconds: more than"),
    (["--virtual", "--out", DEMO], "demo.py: File exists"),
])
def test_what_cannot_be_is_said_in_one_line(words, what):
    run = subprocess.run([sys.executable, DEMO, *words], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert run.returncode == 2
    assert what in run.stderr and "Traceback" not in run.stderr
