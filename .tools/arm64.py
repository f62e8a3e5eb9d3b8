#!/usr/bin/python3
"""Cross-compiles for 64-bit ARM and runs the result under qemu-user: ./run arm64 [--jobs N] [--root DIR].

Unit tests of packets and flow keys run there. A scenario in virtual time, with hosts, radio, proxy and law, must give the same
bytes as on this machine.
Debian's arm64 packages are unpacked into a tree of their own (build/arm64/root), so nothing foreign is installed here. The
optimisation is low, because the compiler takes most of the time. It is no package for ARM."""

import argparse
import filecmp
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/arm64"
QEMU = "/usr/bin/qemu-aarch64-static"
# Of the packages that `run` names for a build, those whose headers or libraries a program for ARM needs.
PACKAGES = ("libdpdk-dev libboost-dev libspdlog-dev libyaml-cpp-dev libcli11-dev nlohmann-json3-dev libssl-dev libseccomp-dev libmnl-dev "
            "libnftables-dev libpcap-dev libgtest-dev libgmock-dev libc6-dev libstdc++-12-dev").split()
TESTS = ("packet_test", "flow_test")
# It ends in seconds: fading, hybrid ARQ, a law, and TCP.
SCENARIO = """
title: Bytes on two kinds of processors
seed: 1
duration: 4s
warmup: 1s
modes: [none, i-tcp, smvs]
server_proxy: {delay: 5ms}
proxy_nodeb: {delay: 10ms}
cell:
  tti: 2ms
  scheduler: pf
  harq: {processes: 6, transmissions: 3, stall_timer: 25ms, rlc: acknowledged}
  ues:
    - {address: 10.45.0.2, buffer: 500 frames, channel: {type: hsdpa, radio: {distance: 100m, speed: 3km/h}}}
    - {address: 10.45.0.3, buffer: 500 frames, channel: {type: hsdpa, radio: {distance: 500m, speed: 30km/h}}}
apps:
  - {type: bulk, ue: 0}
  - {type: bulk, ue: 1}
"""


def call(*words, **options):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"arm64: {words[0]} ended with {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def make_root(root):
    """Unpacks Debian's arm64 packages. No script of theirs runs."""
    if not root.exists():
        unfinished = root.with_suffix(".unfinished")
        call("rm", "-rf", unfinished)
        call("mmdebstrap", "--quiet", "--variant=extract", "--architectures=arm64", "--include=" + ",".join(PACKAGES), "bookworm", unfinished)
        unfinished.rename(root)


def build(root, jobs):
    call("cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/.cmake/arm64.cmake",
         f"-DSLUICE_ARM64_ROOT={root}", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1", "-DSLUICE_WERROR=OFF")
    call("ninja", "-C", BUILD, f"-j{jobs}", "nodeb", *TESTS)


def run_tests(emulated):
    passed = 0
    for test in TESTS:
        text = call(*emulated, BUILD / "tests" / test, "--gtest_brief=1")
        passed += int(text.split("[  PASSED  ] ")[1].split()[0])
    return passed


def compare(emulated):
    """Runs the scenario here and there. Returns the names of the files that are the same to the byte."""
    with tempfile.TemporaryDirectory(prefix="sluice-arm64-") as folder:
        file = Path(folder) / "scenario.yaml"
        file.write_text(SCENARIO, encoding="utf-8")
        for out, command in (("here", [ROOT / "build/release/bin/nodeb"]), ("there", [*emulated, BUILD / "bin/nodeb"])):
            call(*command, "run", file, "--workers", 1, "--out", Path(folder) / out)
        names = sorted(each.name for each in (Path(folder) / "here").glob("*.csv"))
        differing = [name for name in names if not filecmp.cmp(Path(folder) / "here" / name, Path(folder) / "there" / name, shallow=False)]
        if differing or not names:
            sys.exit(f"arm64: {', '.join(differing) or 'no file'} differs between the two kinds of processors")
        return names


def main():
    parser = argparse.ArgumentParser(prog="./run arm64", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2, help="compilers at a time (default 2)")
    parser.add_argument("--root", type=Path, default=BUILD / "root", help="tree of Debian's arm64 packages (default build/arm64/root)")
    arguments = parser.parse_args()
    begin = time.monotonic()
    BUILD.mkdir(parents=True, exist_ok=True)
    root = arguments.root.resolve()
    make_root(root)
    build(root, arguments.jobs)
    emulated = [QEMU, "-L", root]
    passed = run_tests(emulated)
    names = compare(emulated)
    print(f"arm64: {passed} tests passed, {' and '.join(names)} the same to the byte as on this machine ({time.monotonic() - begin:.0f} s)")


if __name__ == "__main__":
    main()
