"""The container image, made of the package, run by a user without rights, between two processes that share memory with it."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import lab as lab_module
import programs
import pytest
import traffic
import yaml
from test_package import packages  # noqa: F401 (fixture)

MEGA = 1_000_000
NOBODY = 65534
# podman as nobody, who has user ids of its own to give (newuidmap(1)), with the one kind of control groups that crun knows.
ROOTLESS = """set -e
mount --bind "$1/ids" /etc/subuid
mount --bind "$1/ids" /etc/subgid
mount -t cgroup2 cgroup2 /sys/fs/cgroup
cd "$1"
folder=$1
shift
export HOME="$folder" XDG_RUNTIME_DIR="$folder/run"
exec setpriv --reuid=65534 --regid=65534 --clear-groups podman --log-level=error --cgroup-manager=cgroupfs --storage-driver=vfs "$@"
"""


class Podman:
    """Without root, in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        for parent in folder.parents:
            if parent.stat().st_uid == os.geteuid() and parent != Path("/"):
                parent.chmod(parent.stat().st_mode | 0o011)
        (folder / "ids").write_text("nobody:100000:65536\n", encoding="utf-8")
        (folder / "run").mkdir()
        for path in (folder, folder / "run"):
            os.chown(path, NOBODY, NOBODY)

    def command(self, *words):
        return ["unshare", "--mount", "sh", "-c", ROOTLESS, "sh", self.folder, *map(str, words)]

    def run(self, *words):
        run = subprocess.run(self.command(*words), capture_output=True, text=True, timeout=120, check=False)
        assert run.returncode == 0, f"podman {words} ended with {run.returncode}\n{run.stdout}{run.stderr}"
        return run.stdout

    def close(self):
        """Takes away its storage, which belongs to ids that only it can use, and ends the process that keeps them."""
        self.run("system", "reset", "--force")
        left = self.folder / "run/libpod/tmp/pause.pid"
        if left.exists():
            os.kill(int(left.read_text(encoding="utf-8")), 15)


@pytest.fixture(scope="module")
def image(packages, tmp_path_factory):  # noqa: F811
    for tool in ("mmdebstrap", "podman", "crun", "newuidmap", "setpriv"):
        if not shutil.which(tool):
            pytest.skip(f"needs the program {tool}")
    made = tmp_path_factory.mktemp("image") / "sluice.oci.tar"
    run = subprocess.run([sys.executable, programs.ROOT / ".packaging/image.py", packages["sluice"], made], timeout=140,
                         check=False, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return made


@pytest.fixture
def podman(image, tmp_path):
    tmp_path.chmod(0o755)
    folder = tmp_path / "podman"
    folder.mkdir()
    made = Podman(folder)
    own = folder / "image"
    shutil.copy(image, own)
    os.chown(own, NOBODY, NOBODY)
    try:
        made.run("load", "--quiet", "--input", own)
        yield made
    finally:
        made.close()


def name_of(podman):
    return json.loads(podman.run("images", "--format", "json"))[0]["Names"][0]


class Manifest:
    """What one of those for Kubernetes says of the program."""

    def __init__(self, name):
        file = programs.ROOT / "configs/kubernetes" / name
        documents = list(yaml.safe_load_all(file.read_text(encoding="utf-8")))
        (self.configuration,) = [one["data"]["sluice.yaml"] for one in documents if one["kind"] == "ConfigMap"]
        (pod,) = [one["spec"]["template"]["spec"] for one in documents if one["kind"] == "StatefulSet"]
        (self.container,) = pod["containers"]
        empty = {volume["name"] for volume in pod["volumes"] if "emptyDir" in volume}
        self.writable = [mount["mountPath"] for mount in self.container["volumeMounts"] if mount["name"] in empty]


def test_what_the_pod_of_two_functions_runs(tmp_path):
    """The addresses come from the device plugin, by the environment."""
    manifest = Manifest("sriov.yaml")
    (tmp_path / "sluice.yaml").write_text(manifest.configuration, encoding="utf-8")
    (script,) = manifest.container["args"]
    for there, here in (("/etc/sluice/", f"{tmp_path}/"), ("/run/sluice/", f"{tmp_path}/run-"),
                        ("/usr/sbin/sluice", f"{programs.program('sluice')} --check")):
        assert there in script
        script = script.replace(there, here)
    run = subprocess.run([*manifest.container["command"], script], capture_output=True, text=True, check=False, env={
        **os.environ, "PCIDEVICE_INTEL_COM_SLUICE_RADIO": "0000:03:02.0", "PCIDEVICE_INTEL_COM_SLUICE_CORE": "0000:03:0a.1"})
    assert run.returncode == 0 and run.stdout.endswith("OK\n"), run.stdout + run.stderr
    written = yaml.safe_load((tmp_path / "run-sluice.yaml").read_text(encoding="utf-8"))
    assert [written["ports"][side]["device"] for side in ("radio", "core")] == ["0000:03:02.0", "0000:03:0a.1"]


@pytest.mark.heavy
def test_a_container_without_root_carries_transfers(podman, tmp_path):
    image = name_of(podman)
    settings = json.loads(podman.run("image", "inspect", image))[0]["Config"]
    assert settings["User"] == "sluice" and settings["Entrypoint"] == ["/usr/sbin/sluice"]
    shared = tmp_path / "shared"  # what the processes share their memory through
    shared.mkdir()
    shared.chmod(0o777)
    file = shared / "sluice.yaml"
    manifest = Manifest("kernel-ports.yaml")
    configuration = yaml.safe_load(manifest.configuration)
    for number, side in enumerate(("radio", "core")):
        configuration["ports"][side] = {"device": f"net_memif{number},role=server,id=0,socket=/shared/{side}.memif"}
    file.write_text(yaml.safe_dump(configuration), encoding="utf-8")
    with lab_module.Lab("image", tmp_path) as lab:
        wire = lab.bump()
        lab.know_each_other(wire)
        container = lab.start(wire.box, "container", *podman.command(
            "run", "--rm", "--name=sluice", "--network=none", "--cgroups=disabled", "--cap-drop=all", "--read-only",
            f"--volume={shared}:/shared", f"--env=SLUICE_SOCKET={configuration['admin']['socket']}",
            *(f"--tmpfs={path}:rw,mode=0777" for path in manifest.writable),  # as Kubernetes makes its empty folders
            image, "/shared/sluice.yaml"))
        container.wait_for("running", 30)

        def end(name, listen, radio, core):
            """One of the two that bring the wires' packets into shared memory."""
            return programs.Sluice(lab, wire.box, name=name, mode="bypass", pool={"buffers": 8192},
                                   feedback={"listen": f"127.0.0.1:{listen}"},
                                   ports={"radio": {"device": radio}, "core": {"device": core}})

        def memory(side):
            return f"net_memif0,role=client,id=0,socket={shared}/{side}.memif"

        ends = [end("radio-end", 39001, programs.af_packet(0, "radio"), memory("radio")),
                end("core-end", 39002, memory("core"), programs.af_packet(0, "core"))]
        with traffic.Server(wire.server.socket) as server:
            client = traffic.Client(wire.server_address, wire.ue.socket, server.port)
            client.download(30 * MEGA, seed=1)
            client.upload(10 * MEGA, seed=2)
        assert podman.run("exec", "sluice", "sluice", "--check", "/etc/sluice/sluice.yaml").endswith("OK\n")
        counters = json.loads(podman.run("exec", "sluice", "sluicectl", "--json", "counters"))
        assert counters["proxy.flows_split"] == 2
        podman.run("stop", "--time=20", "sluice")
        assert container.wait(30) == 0
        for one in ends:
            one.stop_and_check()
        deadline = time.monotonic() + 10
        while "sluice" in podman.run("ps", "--all", "--format", "{{.Names}}"):
            assert time.monotonic() < deadline, "the container is still there"


ROOT_PODMAN = """set -e
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount --bind "$1" /mnt  # its paths have 50 characters at most
cd /mnt
shift
exec podman --log-level=error --cgroup-manager=cgroupfs --storage-driver=vfs --root /mnt/store --runroot /mnt/run --tmpdir /mnt/tmp "$@"
"""


@pytest.fixture
def node(image, tmp_path):
    """podman as root, as on a node of Kubernetes: runs the image, and removes all of it afterwards."""
    folder = tmp_path / "node"
    folder.mkdir()

    def command(*words):
        return ["unshare", "--mount", "sh", "-c", ROOT_PODMAN, "sh", folder, *map(str, words)]

    def run(*words):
        done = subprocess.run(command(*words), capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, f"podman {words} ended with {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    run("load", "--quiet", "--input", image)
    run.command = command
    yield run
    run("system", "reset", "--force")


@pytest.mark.heavy
def test_on_the_network_of_its_node_the_kernel_carries_on_when_the_container_is_killed(node, tmp_path):
    """As the chart's values-host.yaml has it: the capabilities of the manifest, a read-only root, ports of the node, and a program that
    is not process 1."""
    manifest = Manifest("kernel-ports.yaml")
    configuration = yaml.safe_load(manifest.configuration) | {"fail_open": "bridge"}
    configuration["ports"] = {side: {"device": f"net_af_packet{number},iface={side}", "fix_offloads": True}
                              for number, side in enumerate(("radio", "core"))}
    (tmp_path / "sluice.yaml").write_text(yaml.safe_dump(configuration), encoding="utf-8")
    rights = manifest.container["securityContext"]
    assert rights["capabilities"]["drop"] == ["ALL"] and rights["readOnlyRootFilesystem"]
    image = json.loads(node("images", "--format", "json"))[0]["Names"][0]
    with lab_module.Lab("node", tmp_path) as lab:
        wire = lab.bump()
        lab.know_each_other(wire)
        container = lab.start(wire.box, "container", *node.command(
            "run", "--rm", "--name=sluice", f"--network=ns:/run/netns/{wire.box.name}", "--cgroups=disabled",
            "--ulimit=nofile=1024:1024", "--ulimit=nproc=512:512",  # podman's own are beyond those of some machines of tests
            f"--user={rights['runAsUser']}", "--cap-drop=all", *(f"--cap-add={name}" for name in rights["capabilities"]["add"]),
            "--read-only", "--security-opt=no-new-privileges", f"--volume={tmp_path}/sluice.yaml:/etc/sluice/sluice.yaml:ro",
            f"--env=SLUICE_SOCKET={configuration['admin']['socket']}",
            *(f"--tmpfs={path}:rw,mode=0777" for path in manifest.writable), "--entrypoint=/bin/sh", image,
            "-c", "/usr/sbin/sluice /etc/sluice/sluice.yaml & wait"))
        container.wait_for("running", 30)
        with traffic.Server(wire.server.socket) as server:
            client = traffic.Client(wire.server_address, wire.ue.socket, server.port)
            client.download(MEGA)
            asked = json.loads(node("exec", "sluice", "sluicectl", "--json", "status"))
            assert asked["fail_open"]["ready"] is True
            assert json.loads(node("exec", "sluice", "sluicectl", "--json", "counters", "flows_split")) > 0
            node("kill", "--signal=KILL", "sluice")
            container.wait(30)
            client.download(MEGA)
