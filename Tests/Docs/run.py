#!/usr/bin/env python3
"""Tests the documentation: runs the console blocks of its pages, follows its links, checks its spelling.

    Tests/Docs/run.py                        everything
    Tests/Docs/run.py docs/run.md            these pages alone
    Tests/Docs/run.py --show docs/run.md     also prints what each command of them printed
    Tests/Docs/run.py --update docs/run.md   also writes what differs into the page, to be read before it is committed

README.md beside this file says how to write a block.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests"))

from Docs.links import check_index, check_links  # noqa: E402
from Docs.pages import PageError, matches, read_page  # noqa: E402
from Docs.selftest import check_harness, check_runs  # noqa: E402
from Docs.spelling import check_spelling  # noqa: E402

INDEX = Path("docs/README.md")
SESSION = Path(__file__).with_name("session.py")
#: A network, a file system and processes of a page's own. `--kill-child` ends them with the harness.
NAMESPACES = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", metavar="PAGE")
    parser.add_argument("--larder", default=os.environ.get("LARDER", ROOT / ".build/debug/larder"), help="the binary (.build/debug/larder)")
    parser.add_argument("--show", action="store_true", help="print what each command printed")
    parser.add_argument("--update", action="store_true", help="write the real output of blocks that differ into the pages")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("LARDER_TEST_LANES", 2)), help="pages at a time (2)")
    options = parser.parse_args()

    pages = [Path(os.path.relpath(page, ROOT)) for page in options.pages] or all_pages()
    os.chdir(ROOT)
    if missing := [str(page) for page in pages if not page.is_file()]:
        sys.exit(f"no such page: {', '.join(missing)}")
    larder = Path(options.larder).resolve()
    if not os.access(larder, os.X_OK):
        sys.exit(f"{larder} is missing: swift build --product larder")

    began = time.monotonic()
    faults = check_harness() + check_links(ROOT, pages) + check_spelling(ROOT, pages)
    if not options.pages:
        faults += check_index(ROOT, INDEX)
    before = namespaces()
    faults += check_runs(lambda page: run_page(page, larder, before))
    results = run_pages(pages, larder, options.jobs, before, faults)
    for result in results:
        if options.show:
            for line, command, lines in result["shown"]:
                print(f"{result['page']}:{line}\n$ {command}", *lines, sep="\n")
        if "error" in result:
            faults.append(result["error"])
        if options.update and result["failures"]:
            page = Path(result["page"])
            page.write_text(updated(page.read_text(), read_page(str(page), page.read_text()), result["failures"]))
        for line, command, expected, got in result["failures"]:
            faults.append("\n".join([f"{result['page']}:{line}: $ {command}", "  expected:", *("    | " + one for one in expected),
                                     "  got:", *("    | " + one for one in got)]))
    print(*faults, sep="\n", end="\n" if faults else "")

    not_run = sum((Counter(result["not_run"]) for result in results), Counter())
    print(f"{'✘' if faults else '✔'} Documentation: {len(pages)} pages, {sum(result['run'] for result in results)} blocks run, "
          f"{not_run.total()} not run, {len(faults)} failures, {time.monotonic() - began:.0f} s")
    for reason, count in not_run.most_common():
        print(f"    {count} not run: {reason}")
    sys.exit(1 if faults else 0)


def all_pages():
    places = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return sorted(path.relative_to(ROOT) for path in places)


def run_pages(pages, larder, jobs, before, faults):
    with_blocks = []
    for page in pages:
        try:
            if read_page(str(page), page.read_text()).blocks:
                with_blocks.append(page)
        except PageError as error:
            faults.append(str(error))
    if before is None:
        print("No namespaces here (unshare): the pages run one after the other, on this machine's ports 8000 and 3180.")
    with ThreadPoolExecutor(jobs if before is not None else 1) as pool:
        return list(pool.map(lambda page: run_page(page, larder, before), with_blocks))


def updated(text, page, failures):
    """The page's text with the real output of these commands. A line with `…` stays where it stands for a real one, and so does one `...`."""
    lines = text.split("\n")
    commands = [command for block in page.blocks for command in block.commands]
    for line, _, _, got in sorted(failures, reverse=True):
        command = next((one for one in commands if one.line == line), None)
        ended_early = got and got[-1].startswith("(")  # a note of the harness
        if command and not ended_early:
            indent = re.match(r" *", lines[line - 1])[0]
            kept = [one for one in command.expected if "…" in one]
            if command.expected.count("...") == 1 and len(got) >= len(command.expected):
                before = command.expected.index("...")
                after = len(command.expected) - before - 1
                got = [*got[:before], "...", *got[len(got) - after:]]
            shown = [indent + next((one for one in kept if matches([one], [real])), real) for real in got]
            lines[command.output - 1:command.output - 1 + len(command.expected)] = shown
    return "\n".join(lines)


def namespaces():
    """The command that gives a page its own; `None` where the system forbids it."""
    if not shutil.which("unshare"):
        return None
    command = NAMESPACES if os.geteuid() == 0 else [*NAMESPACES, "--map-root-user"]
    probe = subprocess.run([*command, "mount", "--bind", "/tmp", "/tmp"], capture_output=True)
    return command if probe.returncode == 0 else None


def run_page(page, larder, before):
    folder = tempfile.mkdtemp(prefix="larder-docs-")
    try:
        kind = "shared" if before is None else "isolated"
        done = subprocess.run([*(before or []), sys.executable, SESSION, page, folder, larder, kind], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            return json.loads(done.stdout.splitlines()[-1])
        except (IndexError, ValueError):
            error = f"{page}: the harness failed with {done.returncode}: {done.stderr[-2000:]}"
            return {"page": str(page), "run": 0, "not_run": {}, "failures": [], "shown": [], "error": error}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
