"""Each recipe of .github/RECIPES.md is followed: its example applies, touches the files that the recipe names and no more
of them than it promises, and compiles. An example that has a test passes it."""

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
PROMISED = {"law": 4, "congestion": 3, "scheduler": 3, "counter": 1, "port": 1, "key": 1, "encapsulation": 3, "tunnel": 3,
            "report_source": 3}
COMPILED = {"law": [("control/window_laws/fixed_window.cpp", "control/window_laws/flow_controller_types.cpp"), ("proxy/config/laws.cpp", "proxy/config/laws.cpp"),
                    ("control/decision_log/replay.cpp", "control/decision_log/replay.cpp")],
            "congestion": [("dataplane/tcp/scalable.cpp", "dataplane/tcp/newreno.cpp"),
                           ("dataplane/tcp/congestion.cpp", "dataplane/tcp/congestion.cpp")],
            "scheduler": [("emulator/scheduler/scheduler.cpp", "emulator/scheduler/scheduler.cpp")],
            "counter": [("proxy/engine/shard/describe.cpp", "proxy/engine/shard/describe.cpp")],
            "port": [("dataplane/dpdk/device_arguments.cpp", "dataplane/dpdk/device_arguments.cpp")],
            "key": [("proxy/config/laws.cpp", "proxy/config/laws.cpp")],
            "encapsulation": [("dataplane/packet/encapsulation.cpp", "dataplane/packet/build.cpp"),
                              ("dataplane/packet/parse.cpp", "dataplane/packet/parse.cpp"),
                              ("dataplane/packet/build.cpp", "dataplane/packet/build.cpp")],
            "tunnel": [("dataplane/packet/encapsulation.cpp", "dataplane/packet/build.cpp"),
                       ("dataplane/packet/parse.cpp", "dataplane/packet/parse.cpp"),
                       ("proxy/engine/flow_table/flow_journal.cpp", "proxy/engine/flow_table/flow_journal.cpp"),
                       ("proxy/engine/split/split_flows.cpp", "proxy/engine/split/split_flows.cpp")],
            "report_source": [("control/feedback/tlv_source.cpp", "control/feedback/udp_endpoint.cpp"),
                              ("control/feedback/report_sources.cpp", "control/feedback/udp_endpoint.cpp"),
                              ("proxy/config/feedback.cpp", "proxy/config/feedback.cpp")]}
# Tests of examples: the test of an example, a program whose tests are like it, one of that program's sources, and the library
# that the example changes.
TESTED = {"encapsulation": ("tests/unit/proxy/shard_pppoe_test.cpp", "proxy_test", "tests/unit/proxy/shard_test.cpp",
                            "dataplane/packet/libsluice_packet.a"),
          "tunnel": ("tests/unit/packet/gtpu_test.cpp", "packet_test", "tests/unit/packet/encapsulation_test.cpp",
                     "dataplane/packet/libsluice_packet.a"),
          "report_source": ("tests/unit/feedback/tlv_source_test.cpp", "feedback_test", "tests/unit/feedback/session_test.cpp",
                            "control/feedback/libsluice_feedback.a")}


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
    for entry in compiled():
        if compiles(Path(entry["directory"], entry["file"]).resolve(), ROOT / source):
            return entry["directory"], arguments_of(entry)
    raise AssertionError(f"{source} is not compiled")


def compiled():
    return json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))


def arguments_of(entry):
    arguments = shlex.split(entry["command"])
    compiler = next(i for i, word in enumerate(arguments) if re.search(r"(c\+\+|g\+\+|clang\+\+)(-\d+)?$", word))
    arguments = arguments[compiler:]
    for option in ("-o", "-c"):
        at = arguments.index(option)
        del arguments[at:at + 2]
    return arguments


def compile_patched(folder, source, where, command, out):
    """Compiles a source against the example's headers, which come before those of the repository."""
    compiler, *options = command
    run = subprocess.run([compiler, f"-I{folder}", *options, "-w", "-fno-lto", "-O1", "-c", source, "-o", out], cwd=where,
                         capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"{source}:\n{run.stderr[-3000:]}"


def library_objects(folder, library):
    """The objects of a library whose sources and headers are the example's."""
    def patched_path(match):
        return str(folder / match[1]) if (folder / match[1]).exists() else match[0]

    sources = []
    for entry in compiled():
        file = Path(entry["directory"], entry["file"]).resolve()
        # Sources that CMake compiles together are in its own folder of the library.
        if f"/{Path(library).stem.removeprefix('lib')}.dir/" not in entry["command"] or file.suffix not in (".cpp", ".cxx"):
            continue
        if "_headers.dir/" in entry["command"]:
            continue
        if "/Unity/unity_" in str(file):
            text = re.sub(re.escape(str(ROOT)) + r"/([\w/.]+)", patched_path, file.read_text(encoding="utf-8"))
            (folder / file.name).write_text(text, encoding="utf-8")
            sources.append((folder / file.name, entry))
        else:
            own = folder / file.relative_to(ROOT)
            sources.append((own if own.exists() else file, entry))
    assert sources, f"{library} has no sources"
    added = [file for file in sorted((folder / library).parent.glob("*.cpp")) if not (ROOT / file.relative_to(folder)).exists()]
    sources += [(file, sources[0][1]) for file in added]
    objects = []
    for i, (source, entry) in enumerate(sources):
        objects.append(folder / f"{i}.o")
        compile_patched(folder, source, entry["directory"], arguments_of(entry), objects[-1])
    return objects


def linked_like(program):
    """How a test program is linked: its arguments."""
    run = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", f"tests/{program}"], capture_output=True, text=True, check=True)
    for command in reversed(run.stdout.splitlines()):
        for part in command.split(" && "):
            if f"-o tests/{program} " in part:
                return shlex.split(part)
    raise AssertionError(f"{program} is not linked")


def test_every_recipe_has_its_example_and_promise():
    assert {name: most for name, (_, most) in recipes().items()} == PROMISED
    assert {file.stem for file in (ROOT / "tests/recipes").glob("*.patch")} == set(PROMISED)


@pytest.mark.parametrize("name", PROMISED)
def test_an_example_touches_the_files_that_its_recipe_names(name):
    files, most = recipes()[name]
    product = [file for file in touched(name) if not file.startswith("tests/")]
    assert sorted(product) == sorted(files)
    assert len(files) <= most
    assert sorted(set(touched(name)) - set(product)) == ([TESTED[name][0]] if name in TESTED else [])


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


@pytest.mark.parametrize("name", TESTED)
def test_the_test_of_an_example_passes(name, patched):
    folder = patched(name)
    test, program, like, library = TESTED[name]
    where, command = options_of(like)
    objects = library_objects(folder, library)
    compile_patched(folder, folder / test, where, command, folder / "test.o")
    arguments = [word for word in linked_like(program) if not word.endswith(".cpp.o") and word != library]
    at = arguments.index("-o") + 1
    arguments[at:at + 1] = [str(folder / "program"), str(folder / "test.o"), *map(str, objects)]
    run = subprocess.run(arguments, cwd=BUILD, capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"{name}.patch:\n{run.stderr[-3000:]}"
    run = subprocess.run([folder / "program"], cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0 and "[  PASSED  ]" in run.stdout, run.stdout[-3000:] + run.stderr[-3000:]
