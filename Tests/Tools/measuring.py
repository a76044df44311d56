"""Memory, CPU and system calls of a process, and load beside what is tested."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

from Tools.processes import start


def memory(process, field="VmRSS"):
    """A field of /proc/PID/status, in KiB."""
    return int(re.search(rf"^{field}:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text(), re.M).group(1))


def processor_seconds(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def system_calls(process, folder, work):
    """How often each system call was made, by all threads, while `work` was done. Needs strace."""
    out = Path(folder) / "strace"
    tracer = start(["strace", "-q", "-c", "-f", "-o", out, "-p", process.pid])
    time.sleep(1)
    work()
    tracer.send_signal(signal.SIGINT)
    tracer.wait()
    rows = re.findall(r"(?m)^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$", out.read_text())
    return {name: int(count) for count, name in rows if name != "total"}


def per_request(counts, requests, most=4):
    """The sum for each request, and the most frequent calls."""
    listed = ", ".join(f"{name} {count / requests:.2f}" for name, count in sorted(counts.items(), key=lambda one: -one[1])[:most])
    return f"{sum(counts.values()) / requests:.2f} ({listed})"


def go_first(process=0):
    """Has a process or thread run before everything else on the machine (SCHED_FIFO), where that is allowed."""
    try:
        os.sched_setscheduler(process, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        pass


class Others:
    """The clients of load.c: they request one URL on some connections, each some times a second, however long the answers take.

    They go first: what is measured is the proxy, and not which program has the core.
    """

    def __init__(self, program, port, url, seconds, connections, rate):
        self.process = start([program, port, url, seconds, connections, rate], stdout=subprocess.PIPE, text=True, preexec_fn=go_first)

    @property
    def are_asking(self):
        return self.process.poll() is None

    def times(self):
        """The median, p99 and the longest, in milliseconds."""
        said, _ = self.process.communicate(timeout=600)
        if self.process.returncode:
            raise SystemExit("the load could not be kept")
        return [one / 1000 for one in map(float, said.split()[1:])]
