"""QUIC of a second implementation, quic-go: a server and clients inside namespaces. The program is built from quicgo/ on first use."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import lab as lab_module

PORT = 4434
SOURCE = Path(__file__).resolve().parent / "quicgo"
GO = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin:/usr/lib/go/bin")
BUILD_SECONDS = 300


def build(folder):
    """Builds the program and returns its path. Returns the reason in words if that is not possible."""
    if not GO:
        return None, "no Go compiler"
    program = folder / "quicgo"
    try:
        run = subprocess.run([GO, "build", "-o", program, "."], cwd=SOURCE, capture_output=True, text=True, check=False,
                             timeout=BUILD_SECONDS, env={**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false"})
    except subprocess.TimeoutExpired:
        return None, f"quic-go was not built within {BUILD_SECONDS} s"
    return (program, None) if run.returncode == 0 else (None, f"quic-go cannot be built: {run.stderr.strip().splitlines()[-1]}")


def digest(size):
    """SHA-256 of what the server sends for a request of `size` bytes."""
    block = bytes(i % 251 for i in range(251 * 1000))
    hashed, left = hashlib.sha256(), size
    while left > 0:
        hashed.update(block[:left])
        left -= len(block)
    return hashed.hexdigest()


class Server:
    """Answers each request with as many bytes as it asks for."""

    def __init__(self, wire, program):
        self.address, self.port = wire.server_address, PORT
        self.process = wire.server.start("quicgo-server", program, "serve", f"{self.address}:{self.port}")
        for _ in range(100):
            if f":{self.port}" in wire.server.run("ss", "-Hlun").stdout:
                return
            assert self.process.poll() is None, self.process.tail()
            lab_module.time.sleep(0.05)
        raise lab_module.LabError(f"the QUIC server does not listen\n{self.process.tail()}")


class Client:
    """Downloads of one UE; each call is a connection of its own."""

    def __init__(self, wire, server, program):
        self.ue, self.words = wire.ue, (program, "get", f"{server.address}:{server.port}")

    def digest(self, size, timeout=60):
        """SHA-256 of a download as it arrives."""
        return self.ue.run(*self.words, size, timeout=timeout).stdout.strip()

    def endless(self, name="quicgo-client"):
        """A download that goes on until its process is stopped."""
        return self.ue.start(name, *self.words, 10_000_000_000)
