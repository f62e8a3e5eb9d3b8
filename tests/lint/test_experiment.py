"""`./run experiment` takes paths as the caller gave them, and a sweep works with every version of Dask, or names the versions
that do not go together. Stand-ins take the place of the builds and of `distributed`."""

import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / ".tools"))
import sweep  # noqa: E402

ADDRESS = "tcp://host:8786"


@pytest.fixture(name="checkout")
def checkout_without_a_build(tmp_path):
    """A folder with `run` in which nothing is built, and whose sweep.py prints what it was called with."""
    folder = tmp_path / "checkout"
    for name in (".tools", "configs/scenarios", "build/release/bin", "commands"):
        (folder / name).mkdir(parents=True)
    shutil.copy(ROOT / "run", folder / "run")
    (folder / ".tools" / "sweep.py").write_text("import sys\nprint(*sys.argv[2:], sep='\\n')\n", encoding="utf-8")
    (folder / "configs" / "scenarios" / "known.yaml").write_text("", encoding="utf-8")
    for name, words in (("cmake", ""), ("ninja", ""), ("dpkg-query", "echo install ok installed")):
        (folder / "commands" / name).write_text(f"#!/bin/sh\n{words}\n", encoding="utf-8")
        (folder / "commands" / name).chmod(0o755)
    shutil.copy(folder / "commands" / "ninja", folder / "build" / "release" / "bin" / "nodeb")
    (tmp_path / "elsewhere").mkdir()
    return folder


def experiment(checkout, *words, traces=None):
    environment = {name: value for name, value in os.environ.items() if name != "SLUICE_TRACES"}
    environment["PATH"] = f"{checkout / 'commands'}:{environment['PATH']}"
    if traces is not None:
        environment["SLUICE_TRACES"] = traces
    return subprocess.run([checkout / "run", "experiment", *words], cwd=checkout.parent / "elsewhere", env=environment,
                          capture_output=True, text=True, timeout=60, check=False)


def test_paths_are_those_of_the_folder_it_is_called_from(checkout):
    here = checkout.parent / "elsewhere"
    (here / "mine.yaml").write_text("", encoding="utf-8")
    run = experiment(checkout, "mine.yaml", "--out", "results", "--keep", "kept", "--traces", "links", "--workers", "1")
    assert run.returncode == 0, run.stderr
    words = run.stdout.splitlines()
    assert words[-9:] == [str(here / "mine.yaml"), "--out", str(here / "results"), "--traces", str(here / "links"),
                          "--keep", str(here / "kept"), "--workers", "1"]


def test_absolute_paths_names_and_files_of_the_checkout_stay_as_they_are(checkout):
    mine = checkout.parent / "mine.yaml"
    mine.write_text("", encoding="utf-8")
    for word, file in ((str(mine), str(mine)), ("known", "configs/scenarios/known.yaml"),
                       ("configs/scenarios/known.yaml", "configs/scenarios/known.yaml")):
        run = experiment(checkout, word, "--workers", "1", traces="/links")
        assert run.returncode == 0, run.stderr
        assert run.stdout.splitlines()[-5:] == [file, "--traces", "/links", "--workers", "1"]
    assert "no experiment other.yaml" in experiment(checkout, "other.yaml", "--workers", "1").stderr


def test_the_list_has_the_title_of_each_experiment(checkout):
    (checkout / "configs" / "scenarios" / "known.yaml").write_text("title: What is known\n", encoding="utf-8")
    run = experiment(checkout)
    assert run.stdout.split(maxsplit=1) == ["known", "What is known\n"]


def test_recorded_links_that_are_missing_are_named_before_anything_runs(checkout, tmp_path):
    (checkout / "configs" / "scenarios" / "known.yaml").write_text(
        "# Other.down\nchannel: {type: trace, file: One.down}\nrows: [One.down, Two.up]\n", encoding="utf-8")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "Two.up").write_text("1\n", encoding="utf-8")
    run = experiment(checkout, "known", "--workers", "1", traces=str(tmp_path / "links"))
    assert "runs over One.down are skipped" in run.stderr and "Mahimahi" in run.stderr
    (tmp_path / "links" / "One.down").write_text("1\n", encoding="utf-8")
    assert "skipped" not in experiment(checkout, "known", "--workers", "1", traces=str(tmp_path / "links")).stderr


@pytest.mark.parametrize("verb", ["build", "test", "experiment", "bench", "package", "clean"])
def test_help_of_a_verb_builds_and_removes_nothing(checkout, verb):
    for name in ("cmake", "ninja", "dpkg-query", "rm", "apt-get"):
        (checkout / "commands" / name).write_text("#!/bin/sh\necho it was called >&2\nexit 1\n", encoding="utf-8")
        (checkout / "commands" / name).chmod(0o755)
    for words in (["--help"], ["-h"], ["something", "--help"]):
        run = subprocess.run([checkout / "run", verb, *words], capture_output=True, text=True, timeout=60, check=False,
                             env={**os.environ, "PATH": f"{checkout / 'commands'}:{os.environ['PATH']}"})
        assert (run.returncode, run.stderr) == (0, "")
        assert run.stdout.startswith(f"usage:\n  ./run {verb}"), run.stdout


def test_the_lab_installs_what_it_suggests(checkout):
    """It prints commands with curl, iperf3 and ping, so a machine without one of them gets it."""
    (checkout / "commands" / "dpkg-query").write_text(
        '#!/bin/sh\ncase "$*" in *curl | *iperf3 | *iputils-ping) echo absent ;; *) echo install ok installed ;; esac\n', encoding="utf-8")
    (checkout / "commands" / "apt-get").write_text("#!/bin/sh\n", encoding="utf-8")
    for name in ("sudo", "apt-get"):
        (checkout / "commands" / name).touch()
        (checkout / "commands" / name).chmod(0o755)
    run = subprocess.run([checkout / "run", "lab"], capture_output=True, text=True, timeout=60, check=False,
                         env={**os.environ, "PATH": f"{checkout / 'commands'}:{os.environ['PATH']}"})
    assert run.stderr.startswith("installing curl iperf3 iputils-ping"), run.stderr


@pytest.mark.parametrize("verb", ["demo", "lab"])
def test_help_of_a_verb_that_a_script_knows_builds_nothing(tmp_path, verb):
    for name in ("cmake", "ninja", "dpkg-query", "apt-get"):
        (tmp_path / name).write_text("#!/bin/sh\necho it was called >&2\nexit 1\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    run = subprocess.run([ROOT / "run", verb, "--help"], capture_output=True, text=True, timeout=60, check=False,
                         env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith(f"usage:\n  ./run {verb}") and "--help" in run.stdout, run.stdout


class Client:
    """What a sweep uses of distributed's client."""

    def __init__(self, scheduler, **workers):
        self.versions = {"scheduler": answer(scheduler), "workers": {name: answer(version) for name, version in workers.items()}}

    def get_versions(self):
        return self.versions


def answer(version):
    return {"packages": {"distributed": version}} if version else None


@pytest.fixture(name="ours")
def a_version_of_distributed(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", types.SimpleNamespace(__version__="2026.8.0"))


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("client, what", [
    (Client("2022.12.1", west="2026.8.0"), f"the scheduler at {ADDRESS} has distributed 2022.12.1, and this client has 2026.8.0"),
    (Client("2026.8.0", west="2026.8.0", east="2022.12.1"), "worker east has distributed 2022.12.1, and this client has 2026.8.0"),
    (Client(None), f"the scheduler at {ADDRESS} has distributed of an unknown version"),
    (Client("2026.8.0", west=None), "worker west has distributed of an unknown version"),
])
def test_another_version_of_dask_is_refused_by_name(client, what):
    with pytest.raises(sweep.SweepError) as refused:
        sweep.require_one_version(client, ADDRESS)
    assert what in str(refused.value) and str(refused.value).endswith("install one version everywhere")


@pytest.mark.usefixtures("ours")
def test_one_version_of_dask_is_taken():
    sweep.require_one_version(Client("2026.8.0", west="2026.8.0"), ADDRESS)
    sweep.require_one_version(Client("2026.8.0"), ADDRESS)


@pytest.mark.parametrize("name", ["register_plugin", "register_worker_plugin"])
def test_a_plugin_is_registered_by_the_function_that_the_version_has(name):
    registered = []
    client = types.SimpleNamespace(**{name: lambda plugin, name: registered.append((plugin, name))})
    sweep.register(client, "files", "sluice")
    assert registered == [("files", "sluice")]


def test_a_scheduler_that_is_not_understood_is_refused_and_one_that_is_away_is_waited_for():
    def client_that_raises(problem):
        def client(_address, timeout):
            assert timeout > 0
            raise problem
        return client

    with pytest.raises(sweep.SweepError, match="has it another version of distributed.*n_workers"):
        sweep.connected(client_that_raises(TypeError("unexpected keyword argument 'n_workers'")), ADDRESS, (OSError,))
    with pytest.raises(OSError):
        sweep.connected(client_that_raises(OSError("nothing answers")), ADDRESS, (OSError,))
