#!/usr/bin/python3
"""Puts the programs that were built into Debian packages, or into RPMs: build.py BUILD OUT [--rpm]."""

import argparse
import email.utils
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def released_at():
    """When the source was committed, so that the same source gives the same package; now where nobody knows."""
    run = subprocess.run(["git", "-C", HERE, "log", "-1", "--format=%ct"], capture_output=True, text=True, check=False)
    return int(run.stdout) if run.stdout.strip() else int(time.time())


def version_of(build):
    return subprocess.run([build / "bin" / "sluice", "--version"], capture_output=True, text=True, check=True).stdout.strip()


def make_rpm(build, out):
    """Returns the RPMs. They have the files of the Debian packages, by the same install rules."""
    tree = out / "rpm"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    spec = (HERE / "sluice.spec.in").read_text(encoding="utf-8")
    (tree / "sluice.spec").write_text(spec.replace("@VERSION@", version_of(build)).replace("@BUILD@", str(build.resolve())), encoding="utf-8")
    log = tree / "log"
    with open(log, "wb") as file:
        code = subprocess.run(["rpmbuild", "-bb", "--define", f"_topdir {tree.resolve()}", tree / "sluice.spec"], stdout=file, stderr=file,
                              env={**os.environ, "SOURCE_DATE_EPOCH": str(released_at())}, check=False).returncode
    if code:
        sys.exit(log.read_text(encoding="utf-8", errors="replace")[-3000:] + f"\nno RPMs were made; the log is {log}")
    for package in tree.glob("RPMS/*/*.rpm"):
        shutil.move(package, out / package.name)
    return sorted(out.glob("*.rpm"))


def make(build, out):
    """Returns the packages."""
    version = version_of(build)
    tree = out / "tree"
    shutil.rmtree(out, ignore_errors=True)
    tree.mkdir(parents=True)
    shutil.copytree(HERE / "debian", tree / "debian")
    changelog = (HERE / "debian" / "changelog.in").read_text(encoding="utf-8")
    date = email.utils.formatdate(released_at(), localtime=True)
    (tree / "debian" / "changelog").write_text(changelog.replace("@VERSION@", version).replace("@DATE@", date), encoding="utf-8")
    (tree / "debian" / "changelog.in").unlink()
    log = out / "log"
    with open(log, "wb") as file:
        code = subprocess.run(["dpkg-buildpackage", "--build=binary", "--no-sign"], cwd=tree, stdout=file, stderr=file,
                              env={**os.environ, "SLUICE_BUILD": str(build.resolve())}, check=False).returncode
    if code:
        sys.exit(log.read_text(encoding="utf-8", errors="replace")[-3000:] + f"\nno packages were made; the log is {log}")
    return sorted(out.glob("*.deb"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rpm", action="store_true", help="make RPMs instead; other files in OUT stay")
    arguments = parser.parse_args()
    for package in (make_rpm if arguments.rpm else make)(arguments.build, arguments.out):
        print(package)


if __name__ == "__main__":
    main()
