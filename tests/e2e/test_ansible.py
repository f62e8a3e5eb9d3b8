"""The Ansible role, run on this machine with its files elsewhere: what it writes, when it changes nothing, what it refuses."""

import os
import re
import shutil
import subprocess

import programs
import pytest
import yaml

ROLES = programs.ROOT / "configs/ansible/roles"
SITE = programs.ROOT / "configs/ansible/site.yaml"


@pytest.fixture
def play(tmp_path):
    """Runs the role with variables. Returns its exit code, how many tasks changed something, and what it printed."""
    if not shutil.which("ansible-playbook"):
        pytest.skip("needs ansible-playbook (ansible-core)")

    def run(*words, **variables):
        every = {"sluice_service": False, "sluice_program": str(programs.program("sluice")), "sluice_owner": "root",
                 "sluice_group": "root", "sluice_config_file": str(tmp_path / "sluice.yaml"),
                 "sluice_keys_folder": str(tmp_path), **variables}
        playbook = [{"name": "here", "hosts": "all", "gather_facts": False, "roles": [{"role": "sluice", "vars": every}]}]
        (tmp_path / "play.yaml").write_text(yaml.safe_dump(playbook), encoding="utf-8")
        done = ansible(tmp_path, "-i", "here,", "-c", "local", *words, tmp_path / "play.yaml")
        changed = re.search(r"(?m)^here +: ok=\d+ +changed=(\d+) ", done.stdout)
        return done.returncode, changed and int(changed[1]), done.stdout + done.stderr

    return run


def ansible(folder, *words):
    return subprocess.run(["ansible-playbook", *map(str, words)], capture_output=True, text=True, timeout=100, check=False, cwd=folder,
                          env={**os.environ, "ANSIBLE_ROLES_PATH": str(ROLES), "ANSIBLE_NOCOLOR": "1", "HOME": str(folder),
                               "ANSIBLE_LOCALHOST_WARNING": "false", "ANSIBLE_PYTHON_INTERPRETER": "/usr/bin/python3",
                               "LC_ALL": "C.UTF-8"})


def configuration():
    """The one of the example playbook."""
    (example,) = yaml.safe_load(SITE.read_text(encoding="utf-8"))
    return example["roles"][0]["vars"]["sluice_config"]


def test_the_example_playbook_is_correct(tmp_path):
    if not shutil.which("ansible-playbook"):
        pytest.skip("needs ansible-playbook (ansible-core)")
    checked = ansible(tmp_path, "-i", "here,", "--syntax-check", SITE)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_role_writes_what_the_program_accepts_and_then_changes_nothing(play, tmp_path):
    code, changed, text = play(sluice_config=configuration(), sluice_keys={"feedback.key": "00" * 32})
    assert (code, changed) == (0, 2), text
    file = tmp_path / "sluice.yaml"
    assert yaml.safe_load(file.read_text(encoding="utf-8")) == configuration()
    assert file.stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "feedback.key").stat().st_mode & 0o777 == 0o640
    assert subprocess.run([programs.program("sluice"), "--check", file], capture_output=True, check=False).returncode == 0
    assert "00" * 32 not in text, "a secret is not printed"
    code, changed, text = play(sluice_config=configuration(), sluice_keys={"feedback.key": "00" * 32})
    assert (code, changed) == (0, 0), text


def test_a_wrong_configuration_is_refused_and_the_old_file_stays(play, tmp_path):
    assert play(sluice_config=configuration())[0] == 0
    before = (tmp_path / "sluice.yaml").read_bytes()
    code, _, text = play(sluice_config={**configuration(), "mode": "smsv"})
    assert code != 0
    assert "mode, expected one of" in text
    code, _, text = play()
    assert code != 0
    assert "sluice_config is not set" in text
    assert (tmp_path / "sluice.yaml").read_bytes() == before


def test_check_mode_shows_the_difference_and_changes_nothing(play, tmp_path):
    code, changed, text = play("--check", "--diff", sluice_config=configuration())
    assert (code, changed) == (0, 1), text
    assert not (tmp_path / "sluice.yaml").exists()
