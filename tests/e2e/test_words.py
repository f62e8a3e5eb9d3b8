"""The words of answers: their types, their explanations, and their completion in shells."""

import json
import re
import shutil
import subprocess
import tempfile
import time
from urllib.parse import quote

import programs
import pytest
import traffic
from outcomes import PATIENCE, wire  # noqa: F401 (a fixture)

# They answer with a stream of frames or of lines, or read a file.
STREAMS = {"capture", "trace", "replay", "watch"}


@pytest.fixture
def download(client):
    """One that goes on while the test runs."""
    with client.connect({"do": "until"}) as connection:
        connection.recv(50_000)
        yield connection


def sluicectl(path, *words):
    return subprocess.run([programs.program("sluicectl"), "--socket", path.sluice.socket, *words], capture_output=True, text=True,
                          timeout=PATIENCE, check=False)


def printed(name, *words):
    return subprocess.run([programs.program(name), *words], capture_output=True, text=True, check=True).stdout


def checker():
    """A validator per command. A whole number with a decimal point is no integer here, other than in JSON schema itself."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(printed("sluicectl", "--schema"))
    base = jsonschema.Draft202012Validator
    base.check_schema(schema)
    integers = base.TYPE_CHECKER.redefine("integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool))
    strict = jsonschema.validators.extend(base, type_checker=integers)
    return schema["$defs"], lambda command: strict({**schema, "$ref": f"#/$defs/{quote(command)}"})


def form_of(words):
    """The name of the answer's schema: one option changes the form of the answer."""
    return "flows --passing" if words[:2] == ["flows", "--passing"] else words[0]


def answers_as_the_schema_says(sluice, validator, *commands):
    """The words of commands, each asked and held to the schema."""
    for words in commands:
        run = subprocess.run([programs.program("sluicectl"), "--socket", sluice.socket, "--json", *words], capture_output=True, text=True,
                             timeout=PATIENCE, check=False)
        assert run.returncode == 0, (words, run.stderr)
        form = form_of(words)
        problems = [f"{words}: {error.json_path}: {error.message}" for error in validator(form).iter_errors(json.loads(run.stdout))]
        assert problems == []


def test_every_answer_in_json_is_as_the_schema_says(wire):
    definitions, validator = checker()
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp")
    commands = {line["command"].split()[0] for line in sluice.ask("help")}
    assert set(definitions) == (commands | {"top", "flows --passing"}) - STREAMS
    running = [["status"], ["counters"], ["counters", "flows_split"], ["counters", "flows"], ["explain", "delay_ms"], ["bearers"],
               ["flows"], ["flows", "--passing"], ["traffic"], ["exposure"], ["ports"], ["shards"], ["config"], ["mode"], ["modes"],
               ["groups"], ["log-level"],
               ["version"], ["help"], ["top", "--interval", "0.3"], ["reload"], ["drain", "status"], ["release", wire.ue_address],
               ["split-again", "all"], ["drain"], ["drain", "off"], ["mode", "bypass"], ["mode", "i-tcp"], ["flows"], ["bearers"]]
    with traffic.Server(wire.server.socket) as server, \
            traffic.Client(wire.server_address, wire.ue.socket, server.port).connect({"do": "until"}) as connection:
        connection.recv(50_000)
        answers_as_the_schema_says(sluice, validator, *running)
    sluice.file.write_text(sluice.file.read_text(encoding="utf-8").replace("i-tcp", "bypass"), encoding="utf-8")
    trial = ["reload", "--confirm-within", "60s"]
    ends = [trial, ["confirm"], ["mode", "i-tcp"], trial, ["revert"], ["stop"]]
    answers_as_the_schema_says(sluice, validator, *ends)
    assert {form_of(words) for words in running + ends} == set(definitions), "each command was asked"
    assert sluice.process.wait(PATIENCE) == 0


def test_the_schema_refuses_a_count_with_a_decimal_point(path):
    _, validator = checker()
    status = json.loads(sluicectl(path, "--json", "status").stdout)
    assert not list(validator("status").iter_errors(status))
    assert list(validator("status").iter_errors({**status, "flows": 1.0}))
    assert list(validator("status").iter_errors({**status, "novelty": 1}))


def test_the_page_in_the_repository_is_up_to_date():
    page = programs.ROOT / "proxy/daemon/status/WORDS.md"
    assert page.read_text(encoding="utf-8") == printed("sluice", "--help-words"), f"write it anew: sluice --help-words > {page}"


def words_of_the_page():
    return set(re.findall(r"(?m)^\| `([^`]+)` \| \S", printed("sluice", "--help-words")))


def test_the_page_of_words_has_every_word_of_a_running_program(path, download):
    words = words_of_the_page()
    counters = json.loads(sluicectl(path, "--json", "counters").stdout)
    assert set(counters) <= words
    for command in ("bearers", "flows"):
        (rows, *_) = [json.loads(sluicectl(path, "--json", command).stdout)]
        assert {f"{command}.{key}" for row in rows for key in row} <= words
        titles = sluicectl(path, command).stdout.splitlines()[0].split()
        assert {f"{command}.{title}" for title in titles if title != "state"} <= words
    assert {row["phase"] for row in json.loads(sluicectl(path, "--json", "flows").stdout)} <= words
    assert {mode["mode"] for mode in json.loads(sluicectl(path, "--json", "modes").stdout)} <= words
    top = sluicectl(path, "top", "--interval", "0.2").stdout.splitlines()
    known = {word.rpartition(".")[2] for word in words if word.startswith("top.")}
    assert {title for line in top if line.startswith("ue ") for title in line.split()} <= known


def test_the_page_of_words_has_every_metric(wire):
    listen = "127.0.0.1:9838"
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp", metrics={"listen": listen})
    page = wire.box.run("curl", "--silent", "--show-error", "--fail", f"http://{listen}/metrics").stdout
    served = dict(re.findall(r"(?m)^# HELP (\S+) (.*)$", page))
    described = dict(re.findall(r"(?m)^\| `((?:sluice|process)_[^`]+)` \| (.*) \|$", printed("sluice", "--help-words")))
    assert len(served) > 50
    assert {name: text for name, text in served.items() if described.get(name) != text} == {}
    sluice.stop_and_check()


def completed_by_bash(script, *words):
    code = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sluicectl; printf "%s\\n" "${COMPREPLY[@]}"'
    return run_shell(["bash", "-uc", code, script, *words])


def completed_by_zsh(script, *words):
    code = 'compadd() { shift; print -l -- ${(M)@:#$PREFIX*} }; _files() { print FILES }; file=$1; shift; ' \
           'words=("$@"); CURRENT=$#; PREFIX=$words[-1]; source $file'
    return run_shell(["zsh", "-fc", code, "zsh", script, *words])


def completed_by_fish(script, *words):
    return run_shell(["fish", "--no-config", "-c", 'source $argv[1]; complete -C (string join -- " " $argv[2..-1])', script, *words])


def run_shell(command):
    folder = programs.program("sluicectl").parent
    with tempfile.TemporaryDirectory() as home:  # fish makes folders there
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE,
                             env={"PATH": f"{folder}:/usr/bin:/bin", "HOME": home, "LC_ALL": "C.UTF-8"})
    assert (run.returncode, run.stderr) == (0, ""), run.stderr
    return set(run.stdout.split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_modes_and_ues(path, download, shell, tmp_path):
    if not shutil.which(shell):
        pytest.skip(f"needs {shell}")
    script = tmp_path / "sluicectl.completion"
    script.write_text(printed("sluicectl", f"--completion={shell}"), encoding="utf-8")
    completed = {"bash": completed_by_bash, "zsh": completed_by_zsh, "fish": completed_by_fish}[shell]
    socket = ["--socket", str(path.sluice.socket)]
    assert completed(script, "sluicectl", "dr") == {"drain"}
    assert completed(script, "sluicectl", "--json", "drain", "") == {"off", "status"}
    assert completed(script, "sluicectl", "mode", "byp") == {"bypass"}
    assert {"smvs", "i-tcp", "observe", "split"} <= completed(script, "sluicectl", "mode", "")
    assert completed(script, "sluicectl", "--so") == {"--socket"}
    assert completed(script, "sluicectl", "log-level", "de") == {"debug"}
    assert completed(script, "sluicectl", *socket, "release", "") == {"all", path.wire.ue_address}
    assert completed(script, "sluicectl", *socket, "capture", "--ue", "") == {path.wire.ue_address}
    begin = "proxy.flows_sp"
    assert completed(script, "sluicectl", *socket, "counters", begin) == {
        name for name in path.sluice.ask("counters") if name.startswith(begin)}


def test_the_log_level_changes_until_the_next_reload(path):
    def level():
        return json.loads(sluicectl(path, "--json", "log-level").stdout)

    assert level() == {"level": "info", "configured": "info"}
    sluicectl(path, "version")
    assert "admin: version" not in path.sluice.process.output()
    assert json.loads(sluicectl(path, "--json", "log-level", "debug").stdout) == {"level": "debug", "configured": "info"}
    sluicectl(path, "version")
    deadline = time.monotonic() + PATIENCE
    while "admin: version" not in path.sluice.process.output():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert sluicectl(path, "reload").returncode == 0
    assert level() == {"level": "info", "configured": "info"}
    wrong = sluicectl(path, "log-level", "loud")
    assert wrong.returncode == 1
    assert wrong.stderr == ("sluicectl: unknown log level 'loud', expected trace, debug, info, warning, error, critical or off\n")
