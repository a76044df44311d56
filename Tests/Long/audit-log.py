"""The audit log at full size: damages, a kill under load, and a full disk."""

import json
import os
import random
import subprocess
from pathlib import Path

from Tools.checks import check, finish
from Tools.larder import LARDER, WORK, Larder
from Tools.processes import wait_until

LINES, DAMAGES, AT_ONCE = 1_000_000, 1_000, 50
STATE = {**os.environ, "XDG_STATE_HOME": str(WORK / "state")}
SETTINGS = WORK / "larder.yaml"


def start(log, *settings):
    SETTINGS.write_text("rules: [{name: no-denied, match: {path: /denied/**}, deny: {}}]\n")
    return Larder(":memory:", f"log.audit={log}", *settings, loops=2, config=SETTINGS, environment=STATE,
                  log=(WORK / "talk").open("ab"))


def deny(larder, count):
    """Requests that Larder denies without an origin, each a line of the log."""
    output = subprocess.run(["h2load", "-p", "h2c", "-n", str(count), "-c", "4", "-m", "50", "http://127.0.0.1:9/denied/x",
                             "--connect-to", f"127.0.0.1:{larder.port}"], capture_output=True, text=True)
    return output.stdout


def verify(log, *words):
    done = subprocess.run([LARDER, "log", "verify", log, "-o", "json", *words], capture_output=True, text=True, env=STATE)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def parts(log):
    """The files of a log, oldest first."""
    return sorted(log.parent.glob(f"{log.name}.*")) + [log]


def damages():
    log = WORK / "audit.ndjson"
    larder = start(log)
    sent = 0
    while sent < LINES:
        deny(larder, 100_000)
        sent += 100_000
    check(larder.stop() == 0, "Larder ended well")
    code, report = verify(log)
    check(code == 0 and report["good"] and report["lines"] >= LINES, f"{report['lines']} lines in {report['files']} files are complete")
    seal = report["seal"]
    seed = random.randrange(1 << 32)
    draw = random.Random(seed)
    files = {path: path.read_bytes().split(b"\n")[:-1] for path in parts(log)}
    found = 0
    for _ in range(DAMAGES // AT_ONCE):
        changed = {path: list(lines) for path, lines in files.items()}
        places = set()
        while len(places) < AT_ONCE:
            path = draw.choice(list(files))
            # Damages that lie apart are reported one by one.
            place = draw.randrange(10, len(files[path]) - 10)
            if all(other != path or abs(place - number) > 5 for other, number in places):
                places.add((path, place))
        for path, place in sorted(places, reverse=True):
            lines = changed[path]
            match draw.randrange(4):
                case 0:
                    line = bytearray(lines[place])
                    at = draw.randrange(len(line))
                    line[at] = line[at] ^ 1
                    lines[place] = bytes(line).replace(b"\n", b" ")
                case 1: del lines[place]
                case 2: lines.insert(place, lines[place])
                case 3: lines[place], lines[place + 1] = lines[place + 1], lines[place]
        for path, lines in changed.items():
            path.write_bytes(b"\n".join(lines) + b"\n")
        code, report = verify(log)
        if code == 5 and report["problem_count"] >= AT_ONCE:
            found += AT_ONCE
    check(found == DAMAGES, f"{found} of {DAMAGES} damages are found (seed {seed})")
    for path, lines in files.items():
        path.write_bytes(b"\n".join(lines) + b"\n")
    # Each older file ends with a seal. Without the newest file, the log is complete up to this seal, and only a later seal shows the cut.
    parts(log)[-2].replace(log)
    check(verify(log)[0] == 0, "a log that was cut after a seal looks complete")
    code, report = verify(log, "--seal", seal)
    check(code == 5 and not report["found_seal"], "with a later seal, the cut is found")


def killed():
    log = WORK / "killed.ndjson"
    larder = start(log)
    deny(larder, 20_000)
    wait_until(lambda: log.read_bytes().count(b"\n") > 20_000 or None, "the lines are written", larder.process)
    larder.kill()
    larder.start()
    check(larder.stop() == 0, "Larder ended well")
    code, report = verify(log)
    check(code == 0 and report["doubtful"] == [{"first": 1, "last": report["doubtful"][0]["last"]}],
          f"after a kill, the first line in doubt is named: {report['doubtful']}")
    check(verify(log, "--strict")[0] == 5, "--strict exits with 5")


def full():
    folder = WORK / "full"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True).returncode != 0:
        print("left out: a full disk needs root")
        return
    try:
        log = folder / "audit.ndjson"
        larder = start(log)
        output = deny(larder, 20_000)
        check("20000 done" in output and "0 failed" in output, "Larder answers every request while the disk is full")
        filler = folder / "filler"
        check(not filler.exists(), "nothing else is on the disk")
        subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
        deny(larder, 10)
        check(larder.stop() == 0, "Larder ended well")
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        lost = sum(line["count"] for line in lines if line["event"] == "lost")
        denied = sum(line["event"] == "denied" for line in lines)
        check(lost > 0 and lost + denied == 20_010, f"{denied} events are written, and {lost} are counted as lost")
        check(verify(log)[0] == 0, "the chain is complete")
    finally:
        subprocess.run(["umount", folder], check=True)


damages()
killed()
full()
finish()
