#!/usr/bin/python3
"""Puts the package of the proxy into a container image: image.py SLUICE.deb OUT.oci.tar.

The image is Debian's essential packages and what ours depends on, made by mmdebstrap from the sources of packages that this
machine uses; no registry is asked. podman gives it its entry point and writes it down. Needs root or user namespaces."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HOOKS = Path("/usr/share/mmdebstrap/hooks")
# The one user of the package, the one folder that it writes to, and what an orchestrator shows of it.
SETTINGS = ('ENTRYPOINT ["/usr/sbin/sluice"]', 'CMD ["/etc/sluice/sluice.yaml"]', "USER sluice", "WORKDIR /run/sluice",
            "STOPSIGNAL SIGTERM", "LABEL org.opencontainers.image.title=sluice",
            "LABEL org.opencontainers.image.licenses=Apache-2.0",
            "LABEL org.opencontainers.image.description=TCP performance-enhancing proxy for mobile networks")


def field(package, name):
    return subprocess.run(["dpkg-deb", "-f", package, name], capture_output=True, text=True, check=True).stdout.strip()


def run(*words):
    """Says nothing but what went wrong."""
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})
    if done.returncode:
        sys.exit(f"{words[0]} ended with {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def make_root(package, archive):
    """Everything that is in the image, as a tar archive."""
    run("mmdebstrap", "--quiet", "--variant=essential", f"--hook-dir={HOOKS}/merged-usr", f"--hook-dir={HOOKS}/file-mirror-automount",
        "--aptopt=Apt::Install-Recommends false", "--dpkgopt=path-exclude=/usr/share/man/*", "--dpkgopt=path-exclude=/usr/share/locale/*",
        "--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-include=/usr/share/doc/*/copyright",
        f"--include=systemd-standalone-sysusers,{package}", "--customize-hook=chroot \"$1\" install -d -o sluice -g sluice -m 0700 /run/sluice",
        "bookworm", archive)


def make(package, image):
    version = field(package, "Version")
    with tempfile.TemporaryDirectory(prefix="sluice-image-") as folder:
        work = Path(folder)
        make_root(package, work / "root.tar")
        podman = ["podman", "--root", work / "store", "--runroot", work / "run", "--storage-driver", "vfs"]
        settings = [word for setting in (*SETTINGS, f"LABEL org.opencontainers.image.version={version}")
                    for word in ("--change", setting)]
        run(*podman, "import", "--quiet", *settings, work / "root.tar", f"sluice:{version}")
        image.unlink(missing_ok=True)
        run(*podman, "save", "--quiet", "--format", "oci-archive", "--output", image, f"sluice:{version}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path)
    parser.add_argument("image", type=Path)
    arguments = parser.parse_args()
    make(arguments.package.resolve(), arguments.image)
    print(arguments.image)


if __name__ == "__main__":
    main()
