"""Commands of sluicectl that go on until somebody ends them: captures and traces."""

import signal
import subprocess
import time

import programs

PATIENCE = 20


class Stream:
    """sluicectl with these words, into a file, until stop()."""

    def __init__(self, sluice, file, *words):
        self.file = file
        self.process = subprocess.Popen([programs.program("sluicectl"), "--socket", sluice.socket, *map(str, words), "-w", file],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + PATIENCE
        while not file.exists() or file.stat().st_size == 0:  # the shards have been told by then, or do so at their next round
            if self.process.poll() is not None:
                raise AssertionError(self.process.stderr.read())
            assert time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(0.2)

    def stop(self):
        """What it says at its end."""
        time.sleep(0.2)
        self.process.send_signal(signal.SIGINT)
        return self.end()

    def end(self):
        _, said = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, said
        return said

    def kill(self):
        self.process.kill()
        self.process.communicate()
