"""Each recipe of .github/RECIPES.md is followed: its example applies, touches the files that the recipe names and no more
of them than it promises, and compiles."""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("SLUICE_BUILD", ROOT / "build" / "release"))
# What recipes promise at most, and what is compiled of an example: a source, and one whose compiler options it has.
PROMISED = {"law": 4, "congestion": 3, "scheduler": 3, "counter": 1, "port": 1, "key": 1}
COMPILED = {"law": [("control/window_laws/fixed_window.cpp", "control/window_laws/flow_laws.cpp"), ("proxy/config/laws.cpp", "proxy/config/laws.cpp"),
                    ("control/decision_log/replay.cpp", "control/decision_log/replay.cpp")],
            "congestion": [("dataplane/tcp/scalable.cpp", "dataplane/tcp/newreno.cpp"),
                           ("dataplane/tcp/congestion.cpp", "dataplane/tcp/congestion.cpp")],
            "scheduler": [("emulator/scheduler/scheduler.cpp", "emulator/scheduler/scheduler.cpp")],
            "counter": [("proxy/engine/shard/describe.cpp", "proxy/engine/shard/describe.cpp")],
            "port": [("dataplane/dpdk/device_arguments.cpp", "dataplane/dpdk/device_arguments.cpp")],
            "key": [("proxy/config/laws.cpp", "proxy/config/laws.cpp")]}


def recipes():
    """{name of the patch: (files that the recipe names, how many it promises at most)}"""
    found = {}
    for section in re.split(r"^## ", (ROOT / ".github/RECIPES.md").read_text(encoding="utf-8"), flags=re.M)[1:]:
        name = re.search(r"\(\.\./tests/recipes/(\w+)\.patch\)", section)[1]
        files = re.findall(r"^\| `([^`]+)` \|", section, re.M)
        found[name] = files, int(re.search(r"At\s+most\s+(\d+)\s+file", section)[1])
    return found


def patch_of(name):
    return ROOT / "tests" / "recipes" / f"{name}.patch"


def touched(name):
    return re.findall(r"^diff --git a/\S+ b/(\S+)$", patch_of(name).read_text(encoding="utf-8"), re.M)


@pytest.fixture
def patched(tmp_path):
    """patched(name): a folder with the files of an example as they are with it."""
    def apply(name):
        for file in touched(name):
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / file).exists():
                shutil.copy(ROOT / file, tmp_path / file)
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
        # What stands beside a change may differ from the example's; what is changed may not.
        for check in (["--check"], []):
            run = subprocess.run(["git", "apply", "-C0", *check, patch_of(name)], cwd=tmp_path, env=environment, capture_output=True,
                                 text=True, check=False)
            assert run.returncode == 0, f"{name}.patch does not apply any more:\n{run.stderr}"
        return tmp_path
    return apply


def compiles(file, source):
    """Whether a file given to the compiler is this source, or one of those that CMake writes to include several."""
    together = "/Unity/unity_" in str(file) and file.exists()
    return file == source or (together and f'#include "{source}"' in file.read_text(encoding="utf-8"))


def options_of(source):
    """How a source is compiled, without itself and without what it is compiled into: (folder, arguments)."""
    for entry in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8")):
        if not compiles(Path(entry["directory"], entry["file"]).resolve(), ROOT / source):
            continue
        arguments = shlex.split(entry["command"])
        compiler = next(i for i, word in enumerate(arguments) if re.search(r"(c\+\+|g\+\+|clang\+\+)(-\d+)?$", word))
        arguments = arguments[compiler:]
        for option in ("-o", "-c"):
            at = arguments.index(option)
            del arguments[at:at + 2]
        return entry["directory"], arguments
    raise AssertionError(f"{source} is not compiled")


def test_every_recipe_has_its_example_and_promise():
    assert {name: most for name, (_, most) in recipes().items()} == PROMISED
    assert {file.stem for file in (ROOT / "tests/recipes").glob("*.patch")} == set(PROMISED)


@pytest.mark.parametrize("name", PROMISED)
def test_an_example_touches_the_files_that_its_recipe_names(name):
    files, most = recipes()[name]
    assert sorted(touched(name)) == sorted(files)
    assert len(files) <= most


@pytest.mark.parametrize("name", PROMISED)
def test_an_example_applies_and_compiles(name, patched):
    folder = patched(name)
    for source, like in COMPILED[name]:
        where, command = options_of(like)
        file = folder / source if (folder / source).exists() else ROOT / source
        compiler, *options = command
        run = subprocess.run([compiler, "-fsyntax-only", f"-I{folder}", *options, file], cwd=where, capture_output=True, text=True,
                             check=False)
        assert run.returncode == 0, f"{source} with {name}.patch:\n{run.stderr[-3000:]}"
