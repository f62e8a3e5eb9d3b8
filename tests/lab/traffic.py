#!/usr/bin/python3
"""Real TCP traffic that knows what it should see: a server that does as its client asks, and clients that check.

A connection begins with one line of JSON from the client, the order; what follows depends on it (see Server). Payload
is a function of a seed, so either end can compute the SHA-256 it ought to find. As a program:

    traffic.py serve --port 5001
    traffic.py bulk  --server 10.99.0.2 --port 5001 --seconds 20 --out bulk.json
    traffic.py web   --server 10.99.0.2 --port 5001 --seconds 20 --out web.json
"""

import argparse
import contextlib
import errno
import fcntl
import hashlib
import json
import random
import select
import signal
import socket
import struct
import sys
import termios
import threading
import time
from concurrent.futures import ThreadPoolExecutor

CHUNK = 1 << 16
SIOCOUTQ = termios.TIOCOUTQ
# linux/tcp.h, struct tcp_info: offsets of tcpi_rtt (us) and tcpi_total_retrans.
TCP_INFO_RTT, TCP_INFO_TOTAL_RETRANS = 68, 100


class TrafficError(AssertionError):
    """An end saw something it should not have."""


def payload(seed, size):
    """Yields size bytes in chunks; the same for the same seed."""
    generator = random.Random(seed)
    while size > 0:
        chunk = generator.randbytes(CHUNK)
        yield chunk if size >= CHUNK else chunk[:size]
        size -= CHUNK


def digest(seed, size):
    """SHA-256 of payload(seed, size)."""
    sha = hashlib.sha256()
    for chunk in payload(seed, size):
        sha.update(chunk)
    return sha.hexdigest()


def send_payload(connection, seed, size):
    """Sends the payload; returns its SHA-256."""
    sha = hashlib.sha256()
    for chunk in payload(seed, size):
        connection.sendall(chunk)
        sha.update(chunk)
    return sha.hexdigest()


def read_exactly(connection, size):
    buffer, have = bytearray(size), 0
    view = memoryview(buffer)
    while have < size:
        count = connection.recv_into(view[have:])
        if not count:
            raise TrafficError(f"the connection ended after {have} of {size} bytes")
        have += count
    return bytes(buffer)


def read_to_end(connection, pause=0.0):
    """Reads until FIN or an error. Returns bytes, SHA-256 and the error's errno (0 for a FIN)."""
    sha, size = hashlib.sha256(), 0
    buffer = bytearray(4 * CHUNK)
    view = memoryview(buffer)
    try:
        while count := connection.recv_into(buffer):
            sha.update(view[:count])
            size += count
            if pause:
                time.sleep(pause)
    except TimeoutError:
        raise
    except OSError as error:
        return size, sha.hexdigest(), error.errno
    return size, sha.hexdigest(), 0


def reset(connection):
    """Closes with a RST instead of a FIN; what was not sent yet is thrown away."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def wait_until_acknowledged(connection, timeout=30):
    """Waits until the other end (or whoever answers for it) has acknowledged every byte."""
    deadline = time.monotonic() + timeout
    while struct.unpack("i", fcntl.ioctl(connection, SIOCOUTQ, b"\0" * 4))[0]:
        if time.monotonic() > deadline:
            raise TrafficError("bytes stay unacknowledged")
        time.sleep(0.002)


def tcp_info(connection):
    """Smoothed round trip time in seconds, and retransmitted segments."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
    return {"rtt_s": struct.unpack_from("I", info, TCP_INFO_RTT)[0] / 1e6,
            "retransmissions": struct.unpack_from("I", info, TCP_INFO_TOTAL_RETRANS)[0]}


def read_order(connection):
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte or len(line) > 4096:
            raise ConnectionError("no order")
        line += byte
    return json.loads(line)


class Server:
    """Listens in a namespace (or wherever make_socket makes sockets) and does what each connection's order says:

    send    sends `bytes` of payload `seed`, then closes
    take    reads to the FIN, `pause` seconds between two reads where it says so, answers with the SHA-256, then closes
    leave   sends `bytes`, shuts down its side, then reads to the FIN; what it read is in results[`id`]
    duplex  sends `bytes` while it reads to the FIN, then sends the SHA-256 of what it read, then closes
    reset   sends `bytes`, waits for their acknowledgement where `settle` says so, then resets
    sink    reads to the FIN or the reset; what it saw is in results[`id`]
    timed   sends zeros for `seconds`, then closes
    until   sends zeros until the client has shut down its side, then closes
    """

    def __init__(self, make_socket=socket.socket, address="", port=5001, family=socket.AF_INET, congestion=None,
                 fast_open=False):
        self.results = {}
        self.retransmissions = 0
        self.failures = []
        self._arrived = threading.Condition()
        self._listener = make_socket(family, socket.SOCK_STREAM)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            self._listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        if congestion:
            self._listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        if fast_open:
            self._listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 64)
        self._listener.bind((address, port))
        self._listener.listen(1024)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def result(self, key, timeout=30):
        """What the order with this id led to: bytes, SHA-256 and errno."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: key in self.results, timeout):
                raise TrafficError(f"the server never finished order {key}; its failures: {self.failures}")
            return self.results.pop(key)

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        connection.settimeout(120)
        try:
            order = read_order(connection)
            getattr(self, f"_do_{order['do']}")(connection, order)
        except (OSError, ValueError) as error:
            self.failures.append(repr(error))
        finally:
            with contextlib.suppress(OSError):
                self.retransmissions += tcp_info(connection)["retransmissions"]
            connection.close()

    def _remember(self, key, result):
        with self._arrived:
            self.results[key] = result
            self._arrived.notify_all()

    def _do_send(self, connection, order):
        send_payload(connection, order["seed"], order["bytes"])

    def _do_take(self, connection, order):
        _, sha, error = read_to_end(connection, order.get("pause", 0))
        if not error:
            connection.sendall(sha.encode())

    def _do_leave(self, connection, order):
        send_payload(connection, order["seed"], order["bytes"])
        connection.shutdown(socket.SHUT_WR)
        self._remember(order["id"], read_to_end(connection))

    def _do_duplex(self, connection, order):
        sender = threading.Thread(target=send_payload, args=(connection, order["seed"], order["bytes"]), daemon=True)
        sender.start()
        _, sha, error = read_to_end(connection)
        sender.join()
        if not error:
            connection.sendall(sha.encode())

    def _do_reset(self, connection, order):
        send_payload(connection, order["seed"], order["bytes"])
        if order.get("settle"):
            wait_until_acknowledged(connection)
        reset(connection)

    def _do_sink(self, connection, order):
        self._remember(order["id"], read_to_end(connection))

    def _do_timed(self, connection, order):
        end = time.monotonic() + order["seconds"]
        zeros = bytes(CHUNK)
        while time.monotonic() < end:
            connection.sendall(zeros)

    def _do_until(self, connection, _order):
        zeros = bytes(CHUNK)
        while not select.select([connection], [], [], 0)[0]:
            connection.sendall(zeros)


class Client:
    """Orders transfers from a Server and checks what arrives. Raises TrafficError where an end saw a wrong thing."""

    def __init__(self, address, make_socket=socket.socket, port=5001, family=socket.AF_INET, source=None, timeout=60):
        self.address, self.port, self.family = address, port, family
        self.source = source
        self.timeout = timeout
        self._make_socket = make_socket

    def connect(self, order=None, timeout=None):
        connection = self._make_socket(self.family, socket.SOCK_STREAM)
        try:
            connection.settimeout(timeout or self.timeout)
            if self.source:
                connection.bind((self.source, 0))
            connection.connect((self.address, self.port))
            if order:
                connection.sendall(json.dumps(order).encode() + b"\n")
        except OSError:
            connection.close()
            raise
        return connection

    def connect_error(self, timeout):
        """The errno a connection attempt ends with: 0 when it succeeds, ETIMEDOUT when nobody answers in time."""
        try:
            self.connect(timeout=timeout).close()
        except TimeoutError:
            return errno.ETIMEDOUT
        except OSError as error:
            return error.errno
        return 0

    @staticmethod
    def _compare(what, got, expected):
        if got != expected:
            raise TrafficError(f"{what}: got {got}, expected {expected}")

    def download(self, size, seed=1, pause=0.0):
        with self.connect({"do": "send", "bytes": size, "seed": seed}) as connection:
            self._compare("download", read_to_end(connection, pause), (size, digest(seed, size), 0))

    def upload(self, size, seed=1):
        """Half-closed by the client: the server's answer comes after the client's FIN."""
        with self.connect({"do": "take"}) as connection:
            sent = send_payload(connection, seed, size)
            connection.shutdown(socket.SHUT_WR)
            self._compare("upload's answer", read_exactly(connection, 64).decode(), sent)
            self._compare("after the answer", connection.recv(1), b"")

    def server_leaves_first(self, server, size, seed=1):
        """Half-closed by the server: the client's data comes after the server's FIN."""
        key = f"leave-{seed}-{size}-{random.getrandbits(40)}"
        with self.connect({"do": "leave", "bytes": size, "seed": seed, "id": key}) as connection:
            self._compare("before the server's FIN", read_to_end(connection), (size, digest(seed, size), 0))
            sent = send_payload(connection, seed + 1, size)
            connection.shutdown(socket.SHUT_WR)
            self._compare("after the server's FIN", server.result(key), (size, sent, 0))

    def duplex(self, size, seed=1):
        """Both ways at once."""
        with self.connect({"do": "duplex", "bytes": size, "seed": seed}) as connection:
            sent = []

            def send():
                sent.append(send_payload(connection, seed + 1, size))
                connection.shutdown(socket.SHUT_WR)

            sender = threading.Thread(target=send, daemon=True)
            sender.start()
            sha = hashlib.sha256(read_exactly(connection, size))
            self._compare("duplex down", sha.hexdigest(), digest(seed, size))
            sender.join()
            self._compare("duplex up", read_exactly(connection, 64).decode(), sent[0])

    def reset_by_server(self, size, seed=1, settle=True, pause=0.0):
        """The server resets after size bytes; settled ones (all acknowledged) must all arrive before the reset does.
        Returns the bytes that arrived."""
        with self.connect({"do": "reset", "bytes": size, "seed": seed, "settle": settle}) as connection:
            got, sha, error = read_to_end(connection, pause)
        self._compare("end of the connection", error, errno.ECONNRESET)
        if settle:
            self._compare("bytes before the reset", got, size)
        self._compare("content before the reset", sha, digest(seed, got))
        return got

    def reset_by_client(self, server, size, seed=1, settle=True):
        """The client resets after size bytes. Returns the bytes the server got before."""
        key = f"sink-{seed}-{size}-{random.getrandbits(40)}"
        connection = self.connect({"do": "sink", "id": key})
        send_payload(connection, seed, size)
        if settle:
            wait_until_acknowledged(connection)
        reset(connection)
        got, sha, error = server.result(key)
        self._compare("end of the connection", error, errno.ECONNRESET)
        if settle:
            self._compare("bytes before the reset", got, size)
        self._compare("content before the reset", sha, digest(seed, got))
        return got


def many(count, workers, work):
    """Calls work(i) for i below count from several threads; raises the first error."""
    with ThreadPoolExecutor(workers) as pool:
        for future in [pool.submit(work, i) for i in range(count)]:
            future.result()


def fetch_page(client, seed, tell, connections=4):
    """One page as a browser would: a document, then its objects over a few connections. tell(bytes, seconds) is called
    for each object, the time being that from its SYN to its last byte."""
    generator = random.Random(seed)
    sizes = [int(min(300_000, max(500, generator.lognormvariate(9.2, 1.2)))) for _ in range(generator.randint(6, 14))]

    def fetch(size, number):
        begin = time.monotonic()
        client.download(size, seed + number)
        tell(size, time.monotonic() - begin)

    fetch(20_000, 0)
    with ThreadPoolExecutor(connections) as pool:
        list(pool.map(fetch, sizes, range(1, len(sizes) + 1)))


def run_bulk(client, seconds):
    """One download for that long. Returns bytes, seconds and bytes per tenth of a second."""
    buffer = bytearray(4 * CHUNK)
    tenths = []
    with client.connect({"do": "timed", "seconds": seconds}) as connection:
        begin = time.monotonic()
        while (now := time.monotonic() - begin) < seconds:
            count = connection.recv_into(buffer)
            if not count:
                break
            slot = int((time.monotonic() - begin) * 10)
            tenths.extend([0] * (slot + 1 - len(tenths)))
            tenths[slot] += count
        info = tcp_info(connection)
        reset(connection)  # what still waits in queues is of no interest
    return {"bytes": sum(tenths), "seconds": now, "tenths": tenths, **info}


def run_web(client, seconds, seed, think=0.5):
    """Pages one after another with a pause between, begun before the time is up. Each object is printed when it is
    there, so that nothing is lost when the run ends in the middle of a page."""
    begin, number = time.monotonic(), 0

    def tell(size, took):
        # One write a line: those of threads that write at once do not mix.
        sys.stdout.write(json.dumps({"at": time.monotonic() - begin, "bytes": size, "seconds": took}) + "\n")
        sys.stdout.flush()

    while time.monotonic() - begin < seconds:
        fetch_page(client, seed + 1000 * number, tell)
        number += 1
        time.sleep(think)
    return {"pages": number}


def program():
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    serve = verbs.add_parser("serve")
    serve.add_argument("--port", type=int, default=5001)
    serve.add_argument("--congestion", default="cubic")
    serve.add_argument("--ipv6", action="store_true")
    serve.add_argument("--out", help="where the totals go when it ends")
    for name in ("bulk", "web"):
        verb = verbs.add_parser(name)
        verb.add_argument("--server", required=True)
        verb.add_argument("--source")
        verb.add_argument("--port", type=int, default=5001)
        verb.add_argument("--seconds", type=float, default=20)
        verb.add_argument("--seed", type=int, default=1)
        verb.add_argument("--out")
        verb.add_argument("--again", action="store_true", help="begin anew when it is over, until killed")
    args = parser.parse_args()

    if args.verb == "serve":
        family = socket.AF_INET6 if args.ipv6 else socket.AF_INET
        with Server(port=args.port, family=family, congestion=args.congestion) as server:
            print(f"listening on {server.port}", flush=True)
            signal.sigwait({signal.SIGTERM, signal.SIGINT})
            result = {"retransmissions": server.retransmissions, "failures": server.failures}
    else:
        family = socket.AF_INET6 if ":" in args.server else socket.AF_INET
        client = Client(args.server, port=args.port, family=family, source=args.source)
        run = (lambda: run_bulk(client, args.seconds)) if args.verb == "bulk" else (
            lambda: run_web(client, args.seconds, args.seed))
        result = run()
        while args.again:
            result = run()
    text = json.dumps(result)
    if args.out:
        with open(args.out, "w", encoding="utf-8") as out:
            out.write(text + "\n")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM} if "serve" in sys.argv[1:2] else set())
    sys.exit(program())
