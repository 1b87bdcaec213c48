"""Helpers: the program as a process, and requests to it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

RUN = [sys.executable, "-c", "from sartre.cli import main; main()", "app", "--no-browser"]
SOON = 240  # seconds: the kernels may have to be compiled, on a machine that is busy


class Program:
    """`sartre app` in a process of its own, and a client that knows its token."""

    def __init__(self, *arguments, folder):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "TMPDIR": str(folder)}
        self.process = subprocess.Popen(  # noqa: S603
            [*RUN, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=environment,
        )
        self.address = self.process.stdout.readline().rstrip("\n")
        assert self.address, self.process.stderr.read()
        place = urlsplit(self.address)
        self.host, self.port, self.token = place.hostname, place.port, place.query.removeprefix("token=")

    def raw(self, method, path, body=None, headers=None):
        """Send a request with exactly these headers beside Host (unless given) and return status, headers and body."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=SOON)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def ask(self, path, said=None, *, method=None, body=None, **headers):
        """Ask the API as the page does; return the status and the parsed answer."""
        body = json.dumps(said).encode() if said is not None else body
        method = method or ("GET" if body is None else "POST")
        status, _, answer = self.raw(method, f"/api/{path}", body, {"X-Sartre-Token": self.token, **headers})
        return status, json.loads(answer)

    def table(self):
        """Wait until the table of the command line was read."""
        return self.until(lambda state: state["looking"]["state"] != "running", "state")

    def until(self, ended, path):
        limit = time.monotonic() + SOON
        while time.monotonic() < limit:
            status, found = self.ask(path)
            assert status == 200, found
            if ended(found):
                return found
            time.sleep(0.1)
        raise AssertionError(f"{path} did not end: {found}")

    def run(self, **changes):
        """Learn a graph with little effort, and return the run once it has ended."""
        status, run = self.ask("runs", request(**changes))
        assert status == 200, run
        return self.until(lambda found: found["state"] != "running", f"runs/{run['number']}")

    def workers(self):
        """Return the processes that the program has started."""
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:  # it has just ended
                continue
            if parent == self.process.pid:
                found.append(int(place.name))
        return found

    def end(self, by=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(by)
        out, err = self.process.communicate(timeout=SOON)
        return self.process.returncode, out, err


def request(**changes):
    asked = {"order": "OrderSearch", "prune": "SARTRE", "effort": "fast", "missing": "error", "seed": 0}
    return {**asked, "stability": None, "columns": ["rain", "river", "flood"], "knowledge": {}} | changes
