"""Run a command that may be silent for minutes, and print how far it is whenever ten seconds pass without a line.

    python3 build_support/progress.py WHAT COMMAND [ARGUMENTS ...]

It reads the progress reports of pip and apt-get, and prints the last of them every ten seconds.
"""

import re
import signal
import subprocess
import sys
import threading
import time

SECONDS = 10  # from one line to the next
COLUMNS = 80
# what pip prints with `--progress-bar raw`, apt-get with `-o APT::Status-Fd=1`, and pip below a package
BYTES = re.compile(r"Progress (\d+) of (\d+)")
PERCENT = re.compile(r"(?:dl|pm)status:[^:]*:([\d.]+):(.*)")
DETAIL = re.compile(r" +(.*)|Requirement already satisfied")


class Progress:
    """The output of a command: the time of the last line, and how far it is."""

    def __init__(self, what):
        self.what, self.state = what, ""
        self.started = self.last = time.monotonic()
        self.lock = threading.Lock()

    def see(self, line):
        with self.lock:
            if found := BYTES.match(line):
                self.state = f"{int(found[1]) / 1e6:.0f} of {int(found[2]) / 1e6:.0f} MB"
            elif found := PERCENT.match(line):
                self.state = f"{float(found[1]):.0f} %: {found[2]}"
            elif found := DETAIL.match(line):
                self.state = "" if "uninstall" in line else found[1] or ""  # pip names an old package, then installs
            else:
                self.state = ""
                self.tell(line, sys.stdout)

    def tell(self, line, stream):
        self.last = time.monotonic()
        print(line, file=stream, flush=True)

    def tell_if_silent(self):
        with self.lock:
            if time.monotonic() - self.last >= SECONDS:
                state = f", {self.state}" if self.state else ""
                line = f"recordpress: {self.what}: {time.monotonic() - self.started:.0f} s{state}"
                self.tell(line[:COLUMNS], sys.stderr)


def main(what, *command):
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback of ours
    progress = Progress(what)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        threading.Thread(target=watch, args=(progress,), daemon=True).start()
        for line in process.stdout:
            progress.see(line.rstrip("\n"))
    return process.returncode


def watch(progress):
    while True:
        time.sleep(1)
        progress.tell_if_silent()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
