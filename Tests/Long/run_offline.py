"""The rules of docs/offline.md: see run-offline.sh. LARDER is the binary, WORK a folder for all that is written."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import run_clients as clients
import services
from Tools.larder import LARDER, WORK
from Tools.processes import Failure


class Handler(clients.Handler):
    keeps_git_fields = True


def with_registry(kind):
    """An origin whose registry is of this kind."""
    class Kind(Handler):
        registry = services.Registry(kind)
    return clients.Origin(Kind)


def by(*words):
    """A way by which a command goes through Larder."""
    return lambda command, folder: clients.run([LARDER, *words, "--", *command], cwd=folder)


def git_lfs(*values):
    """With the setting of the document: without it the batch request differs from run to run."""
    clients.git_lfs(*values, "lfs.basictransfersonly=true")


# The program, what it needs, the client, its origin, and the rules of the document without any of which it misses something.
ROWS = [
    ("apt, from a repository without InRelease", ["apt-get", "dpkg-deb"], clients.apt, "open", ["not found"]),
    ("git, its own protocol", ["git"], clients.git("/smart"), "open", ["clones"]),
    ("git-lfs", ["git", "git-lfs"], git_lfs, "open", ["clones", "git-lfs batches"]),
    ("skopeo, from a registry without credentials", ["skopeo"], clients.skopeo, "open", ["registries"]),
]
# Whose requests carry credentials, so that no rule has their responses stored.
UNSTORED = [
    ("skopeo, from a registry that asks for a password", ["skopeo"], clients.skopeo, "challenge"),
    ("skopeo, from a registry that asks for a token", ["skopeo"], clients.skopeo, "token"),
]


def main():
    (WORK / "tmp").mkdir(parents=True)
    (WORK / "runtime").mkdir(mode=0o700)
    origins = {kind: with_registry(kind) for kind in ("open", "challenge", "token")}
    clients.publish(origins["open"])
    # A lifetime of a second: what is served offline is stale.
    rules = {name: text.replace("1m", "1s") for name, text in clients.documented_rules().items()}
    assert all("1s" in text for text in rules.values()), rules
    left_out, failed, later = [], [], []

    def attempt(client, through, kind):
        """What it said where it failed; `None` where it fetched all."""
        try:
            client(through, Path(tempfile.mkdtemp(dir=WORK)), origins[kind].url)
        except (Failure, subprocess.TimeoutExpired, OSError) as fault:
            return str(fault)

    def check(condition, what, said):
        print(f"{'ok     ' if condition else 'FAILED '} {what}{'' if condition else f': {said}'}", flush=True)
        if not condition:
            failed.append(what)

    def fetched(name, client, kind, through, offline, expects_success):
        """Runs now, and once more when the origins are gone."""
        said = attempt(client, through, kind)
        check(said is None, f"{name}: fetched", said)

        def again():
            said = attempt(client, offline, kind)
            if expects_success:
                check(said is None, f"{name}: again, the origin stopped", said)
            else:
                check(said is not None and " missed offline. Unless a rule stores them, Larder does not store " in said, f"{name}: says that something was missed", said)
        later.append(again)

    def run_with(name, client, kind, names, expects_success):
        stem = f"{len(later)}"
        words = ["run", "-c", clients.settings(stem, [rules[name] for name in names]), "--store", WORK / f"{stem}.sqlite", "--strict"]
        fetched(f"{name}, {' and '.join(names) or 'no rules'}", client, kind, by(*words), by(*words, "--offline"), expects_success)

    def chosen(rows):
        for name, needs, *row in rows:
            if lacking := clients.missing(needs):
                left_out.append(f"{name} ({', '.join(lacking)})")
            else:
                yield name, *row

    for name, client, kind, needed in chosen(ROWS):
        run_with(name, client, kind, needed, True)
        for place in range(len(needed)):
            run_with(name, client, kind, needed[:place] + needed[place + 1:], False)
    for name, client, kind in chosen(UNSTORED):
        run_with(name, client, kind, list(rules), False)
        stem = f"{len(later)}"
        through = ["-c", clients.settings(stem)]
        recording = WORK / f"{stem}.larder"
        fetched(f"{name}, recorded and replayed", client, kind, by("record", *through, "-o", recording), by("replay", recording, *through), True)
    for origin in origins.values():
        origin.stop()
    time.sleep(1.5)
    for again in later:
        again()
    if left_out:
        print(f"left out: {'; '.join(left_out)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
