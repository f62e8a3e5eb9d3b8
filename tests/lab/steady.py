#!/usr/bin/python3
"""Traffic that has no part in what else goes on, counted where it arrives: one TCP connection and UDP, both downwards.

    steady.py source --port 5100 --tcp-mbps 10 --udp-pps 1000
    steady.py sink   --port 5100 --server 10.99.0.2 --source 10.45.0.3

The sink prints a line each 50 ms: monotonic seconds, bytes of TCP, datagrams of UDP. The rate of TCP is what the program
writes at most (0: as fast as it can); what cannot be sent in time is sent later."""

import argparse
import contextlib
import select
import socket
import time

TICK = 0.002
DATAGRAM = 1000
SO_RCVBUFFORCE = 33
MOST_IN_ARREARS = 4 << 20


def source(arguments):
    listener = socket.create_server(("", arguments.port))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("", arguments.port))
    print("ready", flush=True)
    _, sink = udp.recvfrom(64)
    connection, _ = listener.accept()
    connection.setblocking(False)
    udp.setblocking(False)
    zeros = bytes(MOST_IN_ARREARS)
    written = sent = 0
    begin = time.monotonic()
    while True:
        now = time.monotonic() - begin
        due = int(now * arguments.tcp_mbps * 125_000) - written if arguments.tcp_mbps else MOST_IN_ARREARS
        with contextlib.suppress(BlockingIOError):
            written += connection.send(memoryview(zeros)[:max(0, min(due, MOST_IN_ARREARS))])
        while sent < now * arguments.udp_pps:
            sent += 1
            with contextlib.suppress(BlockingIOError):
                udp.sendto(zeros[:DATAGRAM], sink)
        time.sleep(TICK)


def sink(arguments):
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
    udp.bind((arguments.source, 0))
    udp.sendto(b"here", (arguments.server, arguments.port))
    tcp = socket.create_connection((arguments.server, arguments.port), source_address=(arguments.source, 0))
    for each in (udp, tcp):
        each.setblocking(False)
    buffer = bytearray(1 << 20)
    size = datagrams = 0
    tell = time.monotonic()
    while True:
        for each in select.select([udp, tcp], [], [], 0.05)[0]:
            with contextlib.suppress(BlockingIOError):
                if each is tcp:
                    count = tcp.recv_into(buffer)
                    if not count:
                        return
                    size += count
                else:
                    while True:
                        udp.recv_into(buffer)
                        datagrams += 1
        now = time.monotonic()
        if now >= tell:
            tell = now + 0.05
            print(f"{now:.4f} {size} {datagrams}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("role", choices=["source", "sink"])
    parser.add_argument("--port", type=int, default=5100)
    parser.add_argument("--server")
    parser.add_argument("--source")
    parser.add_argument("--tcp-mbps", type=float, default=10)
    parser.add_argument("--udp-pps", type=float, default=1000)
    arguments = parser.parse_args()
    (source if arguments.role == "source" else sink)(arguments)


if __name__ == "__main__":
    main()
