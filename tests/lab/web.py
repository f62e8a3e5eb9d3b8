#!/usr/bin/python3
"""A server of bytes over HTTP, and somebody who uses it: pages by curl, a video's first segment, probes. As a program:

    web.py serve --port 8080 --congestion bbr
    web.py user  --server 10.99.0.2 --port 8080 --seconds 20 > samples
"""

import argparse
import http.client
import http.server
import json
import random
import socket
import subprocess
import sys
import time

ZEROS = bytes(1 << 16)
SEGMENT = 150_000  # bytes: 4 s at 300 kb/s, the lowest rate of the emulator's video
PROBE = 16


class Bytes(http.server.BaseHTTPRequestHandler):
    """/N has N bytes, /endless as many as are wanted."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):  # pylint: disable=invalid-name
        endless = self.path == "/endless"
        left = sys.maxsize if endless else int(self.path[1:])
        self.send_response(200)
        if endless:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(left))
        self.end_headers()
        while left > 0:
            self.wfile.write(ZEROS[:min(left, len(ZEROS))])
            left -= len(ZEROS)

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        """Says nothing of each request."""


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port, congestion):
        super().__init__(("", port), Bytes, bind_and_activate=False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        self.allow_reuse_address = True
        self.server_bind()
        self.server_activate()

    def handle_error(self, request, client_address):
        """A client that leaves is none."""


def page_by_curl(base, generator):
    """Seconds that a page takes: its objects one after the other on one connection, as the emulator's pages."""
    sizes = [int(min(200_000, 2000 * generator.paretovariate(1.2))) for _ in range(generator.randint(1, 8))]
    command = ["curl", "--silent", "--fail", "--max-time", "60", "--write-out", "%{time_total}\\n"]
    for size in sizes:
        command += ["--output", "/dev/null", f"{base}/{size}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    times = [float(line) for line in done.stdout.split()]
    if len(times) != len(sizes):
        raise RuntimeError(f"curl fetched {len(times)} of {len(sizes)} objects")
    return sum(times)


def fetch_alone(server, port, size):
    """Seconds from the SYN to the last byte of one fetch on a connection of its own."""
    begin = time.monotonic()
    connection = http.client.HTTPConnection(server, port, timeout=60)
    connection.request("GET", f"/{size}")
    got = len(connection.getresponse().read())
    took = time.monotonic() - begin
    connection.close()
    if got != size:
        raise RuntimeError(f"{got} of {size} bytes came")
    return took


def use(server, port, seconds, seed):
    """Reads a page, probes and begins a video, again and again; a line of JSON for each."""
    generator = random.Random(seed)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for what, take in (("page", lambda: page_by_curl(f"http://{server}:{port}", generator)),
                           ("first segment", lambda: fetch_alone(server, port, SEGMENT)),
                           ("probe", lambda: fetch_alone(server, port, PROBE))):
            print(json.dumps({"what": what, "seconds": take()}), flush=True)
            time.sleep(0.2)


def main():
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers(dest="verb", required=True)
    serve = verbs.add_parser("serve")
    serve.add_argument("--port", type=int, default=8080)
    serve.add_argument("--congestion", default="cubic")
    user = verbs.add_parser("user")
    user.add_argument("--server", required=True)
    user.add_argument("--port", type=int, default=8080)
    user.add_argument("--seconds", type=float, default=20)
    user.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.verb == "user":
        use(args.server, args.port, args.seconds, args.seed)
        return
    server = Server(args.port, args.congestion)
    print(f"listening on {args.port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
