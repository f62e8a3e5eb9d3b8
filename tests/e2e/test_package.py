"""The Debian packages, installed into a copy of this machine: its files lie under an overlay that vanishes with the test."""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys

import programs
import pytest

ROOT = programs.ROOT
CONFIGURATION = "/etc/sluice/sluice.yaml"
# Mounts the copy at $1, what is written to it at $2, and stays until its standard input ends.
HOLD = """set -e
mount -t tmpfs tmpfs "$2"
mkdir "$2/upper" "$2/work"
mount -t overlay overlay -o "lowerdir=/,upperdir=$2/upper,workdir=$2/work" "$1"
mount -t tmpfs tmpfs "$1/run"
mount -t tmpfs tmpfs "$1/tmp"
mount --bind /dev "$1/dev"
mount -t proc proc "$1/proc"
echo ready
read -r _
"""


class System:
    """A copy of this machine that may be changed."""

    def __init__(self, folder):
        self.root, writable = folder / "root", folder / "writable"
        self.root.mkdir()
        writable.mkdir()
        self._holder = subprocess.Popen(["unshare", "--mount", "sh", "-c", HOLD, "sh", self.root, writable],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self._holder.stdout.readline() != "ready\n":
            why = self._holder.communicate()[1].strip()
            pytest.skip(f"no copy of this machine can be mounted: {why}")

    def close(self):
        self._holder.communicate("\n")

    def command(self, *words):
        """The words of a command of this machine that runs these in the copy."""
        return ["nsenter", f"--mount=/proc/{self._holder.pid}/ns/mnt", "chroot", self.root, *map(str, words)]

    def outside(self, *words):
        """… and of one that runs them where the copy is mounted, at `root`, and not in it."""
        return ["nsenter", f"--mount=/proc/{self._holder.pid}/ns/mnt", *map(str, words)]

    def run(self, *words, check=True):
        run = subprocess.run(self.command(*words), capture_output=True, text=True, timeout=120, check=False,
                             env={**os.environ, "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"})
        assert not check or run.returncode == 0, f"{words} ended with {run.returncode}\n{run.stdout}{run.stderr}"
        return run

    def has(self, path):
        return self.run("test", "-e", path, check=False).returncode == 0

    def read(self, path):
        return self.run("cat", path).stdout

    def write(self, path, text):
        subprocess.run(self.command("tee", path), input=text, text=True, stdout=subprocess.DEVNULL, check=True)

    def install(self, *packages):
        """Packages of this machine."""
        for package in packages:
            with open(package, "rb") as file:
                subprocess.run(self.command("tee", f"/tmp/{package.name}"), stdin=file, stdout=subprocess.DEVNULL, check=True)
        return self.run("dpkg", "--install", "--force-confdef", "--force-confold",
                        *(f"/tmp/{package.name}" for package in packages))


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """By name."""
    if programs.sanitizers():
        pytest.skip("a program with a sanitizer in it is not for packages")
    for tool in ("dh", "systemd-analyze", "unshare", "nsenter"):
        if not shutil.which(tool):
            pytest.skip(f"needs the program {tool}")
    # Workers side by side share them: the folder of a run lies above theirs.
    own = tmp_path_factory.getbasetemp()
    out = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "packages"
    with open(f"{out}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not out.exists():
            build_packages(out)
    return {file.name.partition("_")[0]: file for file in out.glob("*.deb")}


def build_packages(out):
    """The folder is there when all of them are in it."""
    unfinished = out.with_suffix(".unfinished")
    unfinished.mkdir(exist_ok=True)
    run = subprocess.run([sys.executable, ROOT / ".packaging/build.py", programs.BUILD, unfinished], timeout=140, check=False,
                         capture_output=True, text=True, env={**os.environ, "DPKG_DEB_COMPRESSOR_TYPE": "none"})
    assert run.returncode == 0, run.stderr
    unfinished.rename(out)


@pytest.fixture
def system(tmp_path):
    with contextlib.closing(System(tmp_path)) as made:
        made.run("rm", "-f", "/var/lib/man-db/auto-update")  # the index of all pages takes longer than the rest
        yield made


def field(package, name):
    return subprocess.run(["dpkg-deb", "-f", package, name], capture_output=True, text=True, check=True).stdout.strip()


def test_what_the_programs_link_is_what_the_packages_depend_on(packages):
    assert set(packages) == {"sluice", "sluice-emulator", "sluice-dbgsym", "sluice-emulator-dbgsym"}
    for name in ("sluice", "sluice-emulator"):
        depends = field(packages[name], "Depends")
        for library in ("libc6 (>= ", "librte-eal23 (>= ", "libyaml-cpp0.7 (>= ", "librte-net-af-packet23"):
            assert library in depends, depends
        assert "-dev" not in depends
        assert field(packages[f"{name}-dbgsym"], "Depends").startswith(f"{name} (= ")


def newer(package, folder, change):
    """The package as its next version, with its conffile changed."""
    tree = folder / "newer"
    subprocess.run(["dpkg-deb", "-R", package, tree], check=True)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"(?m)^(Version: .*)$", r"\1+1", control.read_text(encoding="utf-8")), encoding="utf-8")
    file = tree / CONFIGURATION.lstrip("/")
    file.write_text(file.read_text(encoding="utf-8") + change, encoding="utf-8")
    made = folder / "newer.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "-b", tree, made], check=True, stdout=subprocess.DEVNULL)
    return made


def test_install_upgrade_remove_purge(packages, system, tmp_path):
    before = set(system.run("find", "/etc", "/usr", "/lib", "/var/lib/systemd").stdout.splitlines())
    system.install(packages["sluice"], packages["sluice-emulator"])
    assert system.run("/usr/sbin/sluice", "--check", CONFIGURATION).stdout.endswith("OK\n")
    assert system.run("stat", "-c", "%U %G %a", CONFIGURATION).stdout == "root sluice 640\n"
    assert system.run("stat", "-c", "%U %G %a", "/etc/sluice/keys").stdout == "root sluice 750\n"
    assert "\nfail_open: bridge\n" in system.read(CONFIGURATION), "a service as installed does not cut the wire"
    assert "nologin" in system.run("getent", "passwd", "sluice").stdout
    installed = system.run("dpkg", "-L", "sluice").stdout.splitlines()
    for file in ("man/man5/sluice.yaml.5.gz", "man/man7/sluice-words.7.gz", "bash-completion/completions/sluicectl",
                 "zsh/vendor-completions/_sluicectl", "fish/vendor_completions.d/sluicectl.fish", "sluice/sluicectl.schema.json",
                 "sluice/drop-ins/veth.conf", "sluice/drop-ins/xdp.conf", "sluice/drop-ins/nic.conf", "sluice/drop-ins/nic.rules",
                 "sluice/monitoring/prometheus.yaml", "sluice/monitoring/alerts.yaml", "sluice/monitoring/grafana.json"):
        assert f"/usr/share/{file}" in installed
    assert system.run("nodeb", "--check", "/usr/share/doc/sluice-emulator/examples/scenarios/handover.yaml").returncode == 0
    assert system.run("systemd-analyze", "verify", "sluice.service").stderr == ""
    exposure = system.run("systemd-analyze", "security", "--offline=true", "--no-pager", "sluice.service").stdout
    assert float(re.search(r"Overall exposure level for sluice.service: ([\d.]+)", exposure)[1]) <= 2.5, exposure
    assert not system.has("/etc/systemd/system/multi-user.target.wants/sluice.service"), "nobody has named the wire yet"

    system.write(CONFIGURATION, system.read(CONFIGURATION) + "# mine\n")
    system.install(newer(packages["sluice"], tmp_path, "# theirs\n"))
    assert system.run("dpkg-query", "-W", "-f=${Version}", "sluice").stdout.endswith("+1")
    assert system.read(CONFIGURATION).endswith("# mine\n")
    assert system.run("stat", "-c", "%U %G %a", CONFIGURATION).stdout == "root sluice 640\n"

    system.run("dpkg", "--remove", "sluice", "sluice-emulator")
    assert not system.has("/usr/sbin/sluice")
    assert system.read(CONFIGURATION).endswith("# mine\n")
    system.run("dpkg", "--purge", "sluice", "sluice-emulator")
    after = set(system.run("find", "/etc", "/usr", "/lib", "/var/lib/systemd").stdout.splitlines())
    # A user is never removed: files of theirs may be left anywhere.
    assert {path for path in after - before if not re.match(r"/etc/(passwd|group|g?shadow|\.pwd)", path)} == set()


@pytest.fixture(scope="module")
def rpms(packages, tmp_path_factory):  # pylint: disable=unused-argument
    """By name, made from the same build as the Debian packages."""
    if not shutil.which("rpmbuild"):
        pytest.skip("needs rpmbuild (rpm)")
    out = tmp_path_factory.mktemp("rpms")
    run = subprocess.run([sys.executable, ROOT / ".packaging/build.py", "--rpm", programs.BUILD, out], timeout=140, check=False,
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return {file.name.rpartition("-0.")[0]: file for file in out.glob("*.rpm")}


def rpm(*words):
    return subprocess.run(["rpm", *map(str, words)], capture_output=True, text=True, check=True).stdout


def files_of_deb(package):
    """Without folders; where /lib is /usr/lib, and without what each packaging adds below /usr/share/doc and /usr/share/lintian."""
    lines = subprocess.run(["dpkg-deb", "-c", package], capture_output=True, text=True, check=True).stdout.splitlines()
    return {re.sub("^/lib/", "/usr/lib/", path) for path in (line.split()[5][1:] for line in lines) if not path.endswith("/")}


def test_the_rpms_have_the_files_of_the_debian_packages(packages, rpms):
    assert set(rpms) == {"sluice", "sluice-emulator"}

    def own(paths):
        return {path.removesuffix(".gz") for path in paths if not re.match("/usr/share/(doc/[^/]+/[^/]+$|lintian)", path)}

    for name, file in rpms.items():
        listed = set(rpm("-qpl", "--nosignature", file).splitlines()) - {"/etc/sluice/keys"}
        assert own(listed) == own(files_of_deb(packages[name]))
        assert "librte_eal.so.23()(64bit)" in rpm("-qp", "--requires", "--nosignature", file)
    attributes = rpm("-qp", "--nosignature", "--qf", "[%{FILENAMES} %{FILEMODES:perms} %{FILEUSERNAME} %{FILEGROUPNAME}\n]", rpms["sluice"])
    assert f"{CONFIGURATION} -rw-r----- root sluice\n" in attributes
    assert "/etc/sluice/keys drwxr-x--- root sluice\n" in attributes
    assert rpm("-qpc", "--nosignature", rpms["sluice"]).split() == [CONFIGURATION], "what an operator has changed stays"


def test_an_rpm_is_installed_and_removed(rpms, system):
    with open(rpms["sluice"], "rb") as file:
        subprocess.run(system.command("tee", "/tmp/sluice.rpm"), stdin=file, stdout=subprocess.DEVNULL, check=True)
    system.run("rpm", "--install", "--nodeps", "/tmp/sluice.rpm")  # the libraries are those of Debian's packages
    assert system.run("/usr/sbin/sluice", "--check", CONFIGURATION).stdout.endswith("OK\n")
    assert system.run("stat", "-c", "%U %G %a", CONFIGURATION, "/etc/sluice/keys").stdout == "root sluice 640\nroot sluice 750\n"
    assert "nologin" in system.run("getent", "passwd", "sluice").stdout
    assert system.run("systemd-analyze", "verify", "sluice.service").stderr == ""
    system.write(CONFIGURATION, system.read(CONFIGURATION) + "# mine\n")
    system.run("rpm", "--erase", "sluice")
    assert not system.has("/usr/sbin/sluice")
    assert system.read(f"{CONFIGURATION}.rpmsave").endswith("# mine\n")


@pytest.mark.parametrize("name, grants", [
    ("veth", {"AmbientCapabilities": "CAP_BPF", "CapabilityBoundingSet": "CAP_BPF", "SystemCallFilter": "bpf"}),
    ("xdp", {"AmbientCapabilities": "cap_sys_admin", "CapabilityBoundingSet": "cap_sys_admin", "RestrictAddressFamilies": "AF_XDP",
             "SystemCallFilter": "bpf"}),
    ("nic", {"PrivateDevices": "no", "DevicePolicy": "closed", "DeviceAllow": "char-vfio rw"})])
def test_a_drop_in_grants_what_its_ports_need_and_no_more(packages, system, name, grants):
    system.install(packages["sluice"])
    places = [f"/usr/share/sluice/drop-ins/{name}.conf", f"/etc/systemd/system/sluice.service.d/{name}.conf"]
    # The command in the head of the file.
    command = re.search(r"(?m)^#   sudo (install -D -m 644 \S+ \S+)$", system.read(places[0]))[1]
    assert command.split()[-2:] == places
    system.run(*command.split())
    assert system.run("systemd-analyze", "verify", "sluice.service").stderr == ""
    merged = system.read("/lib/systemd/system/sluice.service") + system.read(places[1])
    for key, word in grants.items():
        assert re.search(rf"(?mi)^{key}=(.* )?{re.escape(word)}( .*)?$", merged), (key, word)
    exposure = system.run("systemd-analyze", "security", "--offline=true", "--no-pager", "sluice.service").stdout
    assert float(re.search(r"Overall exposure level for sluice.service: ([\d.]+)", exposure)[1]) <= 2.9, exposure


def options_of(name, *words):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", subprocess.run(
        [programs.program(name), *words, "--help"], capture_output=True, text=True, check=True).stdout))


def page(name, option="--manual"):
    """A manual page as plain text."""
    roff = subprocess.run([programs.program(name), option], capture_output=True, text=True, check=True).stdout
    run = subprocess.run(["man", "--warnings=all", "-l", "-Tutf8", "-"], input=roff, capture_output=True, text=True, check=True,
                         env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "200", "GROFF_NO_SGR": "1"})
    assert run.stderr == ""
    return re.sub(".\x08", "", run.stdout)  # bold is written twice


@pytest.mark.parametrize("name", ["sluice", "sluicectl", "nodeb"])
def test_a_manual_page_has_every_option_that_help_has(name):
    if not shutil.which("man"):
        pytest.skip("needs man")
    assert options_of(name) <= set(re.findall(r"--[a-z][a-z-]+", page(name)))


def test_the_manual_page_of_the_file_has_every_key():
    if not shutil.which("man"):
        pytest.skip("needs man")
    words = subprocess.run([programs.program("sluice"), "--help-words"], capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"(?m)^\| `(\S+)` ", words)) <= set(page("sluice", "--manual-words").split())
    assert all("sluice-words(7)" in page(*of) for of in (("sluice",), ("sluicectl",), ("sluice", "--manual-config")))
    reference = subprocess.run([programs.program("sluice"), "--help-config"], capture_output=True, text=True, check=True).stdout
    keys = set(re.findall(r"(?m)^\| `(\w+)` ", reference))
    assert len(keys) > 100
    assert keys <= set(re.findall(r"(?m)^ +(\w+) \(", page("sluice", "--manual-config")))


def completed(name, *words):
    """What bash offers for the last word."""
    script = f'source <({programs.program(name)} --completion); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _{name}; ' \
             'printf "%s\\n" "${COMPREPLY[@]}"'
    return subprocess.run(["bash", "-uc", script, "bash", name, *words], capture_output=True, text=True, check=True).stdout.split()


def test_bash_completes():
    assert completed("sluicectl", "dr") == ["drain"]
    assert completed("sluicectl", "--json", "drain", "") == ["off", "status"]
    assert completed("sluicectl", "mode", "by") == ["bypass"]
    assert {"smvs", "i-tcp", "observe", "split"} <= set(completed("sluicectl", "mode", ""))
    assert completed("sluicectl", "--so") == ["--socket"]
    assert completed("nodeb", "live", "--se") == ["--seconds"]
    assert completed("nodeb", "trace", "") == ["generate"]
    assert completed("sluice", "--check", "/etc/ho") == [], "files are left to bash"
