"""Real QUIC: a server and clients of ngtcp2 (HTTP/3 over QUIC version 1) inside namespaces, and hashes of what arrives."""

import hashlib
import shutil
import subprocess

import lab as lab_module
import traffic

PORT = 4433
SERVER, CLIENT = "gtlsserver", "gtlsclient"
MISSING = None if shutil.which(CLIENT) and shutil.which(SERVER, path="/usr/sbin:/usr/bin") else "no ngtcp2-server and ngtcp2-client"


class Server:
    """Serves files of random octets, and /N with N octets of any kind."""

    def __init__(self, wire, folder, congestion="cubic", port=PORT):
        self.address, self.port = wire.server_address, port
        self.documents = folder / "documents"
        self.documents.mkdir(parents=True)
        key, certificate = folder / "key.pem", folder / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", "/CN=server", "-keyout", key, "-out", certificate], check=True, capture_output=True)
        self.process = wire.server.start(f"quic-{congestion}", SERVER, "--quiet", f"--cc={congestion}", f"--htdocs={self.documents}",
                                         "--max-dyn-length=10G", "--max-window=64M", "--max-stream-window=64M",
                                         self.address, port, key, certificate)
        for _ in range(100):
            if f":{port}" in wire.server.run("ss", "-Hlun").stdout:
                return
            assert self.process.poll() is None, self.process.tail()
            lab_module.time.sleep(0.05)
        raise lab_module.LabError(f"the QUIC server does not listen\n{self.process.tail()}")

    def make_file(self, name, size, seed):
        """A document of `size` octets; returns its SHA-256."""
        with open(self.documents / name, "wb") as file:
            for chunk in traffic.payload(seed, size):
                file.write(chunk)
        return traffic.digest(seed, size)


class Client:
    """Downloads of one UE; each call is a connection of its own."""

    def __init__(self, wire, server, folder):
        self.ue, self.server, self.folder = wire.ue, server, folder
        folder.mkdir(parents=True, exist_ok=True)

    def words(self, path, *options):
        host = f"{self.server.address}:{self.server.port}"
        return (CLIENT, "--quiet", "--no-quic-dump", "--no-http-dump", "--exit-on-all-streams-close", "--max-data=64M",
                "--max-stream-data-bidi-local=64M", *options, self.server.address, self.server.port, f"https://{host}/{path}")

    def digest(self, name, *options, timeout=60):
        """SHA-256 of the document as it arrives."""
        file = self.folder / name
        file.unlink(missing_ok=True)
        result = self.ue.run(*self.words(name, f"--download={self.folder}", *options), timeout=timeout, check=False)
        assert file.is_file(), f"{name} did not arrive: exit code {result.returncode}\n{result.stderr[-2000:]}"
        return hashlib.sha256(file.read_bytes()).hexdigest()

    def endless(self, name="bulk"):
        """A download that goes on until its process is stopped."""
        return self.ue.start(name, *self.words("10000000000"))
