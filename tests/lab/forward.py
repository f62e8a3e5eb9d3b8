"""A port of this machine that leads to one inside a namespace, so that a browser outside sees what is served there."""

import contextlib
import socket
import threading

BLOCK = 1 << 16


class Forward:
    """Connections to 127.0.0.1 go on to 127.0.0.1 of the namespace. The same port where it is free, else any."""

    def __init__(self, namespace, port):
        self._namespace = namespace
        self._target = port
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._listener.bind(("127.0.0.1", port))
        except OSError:
            self._listener.bind(("127.0.0.1", 0))
        self._listener.listen()
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)  # which ends accept()
        self._listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                outside, _ = self._listener.accept()
                inside = self._namespace.socket()
                try:
                    inside.connect(("127.0.0.1", self._target))
                except OSError:
                    outside.close()
                    inside.close()
                    continue
                for source, target in ((outside, inside), (inside, outside)):
                    threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    @staticmethod
    def _carry(source, target):
        with contextlib.suppress(OSError):
            while block := source.recv(BLOCK):
                target.sendall(block)
        for end in (source, target):  # one that is closed closes the other
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
