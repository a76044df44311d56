#!/usr/bin/env python3
"""Runs the stories of the page in Chromium: what a user wants to know, and what an attacker wants to do.

    Tests/Page/run.py                        every story
    Tests/Page/run.py --only denied,filter   these stories
    Tests/Page/run.py --screenshot FILE      also write the picture for docs/ui.md
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests"))
sys.path.insert(0, str(ROOT))

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"

try:
    from axe_playwright_python.sync_playwright import Axe  # noqa: F401
    from playwright.sync_api import sync_playwright
except ImportError:
    print("skipped: playwright and axe-playwright-python are missing: Tests/Page/run.sh --install")
    sys.exit(0)
if not os.access(CHROMIUM, os.X_OK):
    print("skipped: chromium is missing: Tests/Page/run.sh --install")
    sys.exit(0)

from Page import stories  # noqa: E402
from Page.stage import Stage  # noqa: E402
from Tools.checks import check, finish  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--larder", default=os.environ.get("LARDER", ROOT / ".build/debug/larder"), help="the binary (.build/debug/larder)")
    parser.add_argument("--only", default="", help="names of stories, separated by commas")
    parser.add_argument("--times", action="store_true", help="print how long each story took")
    parser.add_argument("--screenshot", help="write a picture of the requests to this file")
    options = parser.parse_args()
    chosen = [story for story in stories.ALL if not options.only or story.__name__ in options.only.split(",")]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--no-proxy-server"])
        with Stage(options.larder, Path(folder), browser) as stage:
            for story in chosen:
                start = time.monotonic()
                page = stage.open()
                try:
                    story(stage, page)
                    faults = stage.faults(page)
                    check(not faults, f"{story.__name__}: {story.__doc__}" + "".join(f"\n        {fault}" for fault in faults))
                except Exception as error:  # A story that cannot go on has failed; the others still run.
                    check(False, f"{story.__name__}: {story.__doc__}\n        {error}")
                page.context.close()
                if options.times:
                    print(f"        {time.monotonic() - start:.1f} s")
            if options.screenshot:
                stories.picture(stage, options.screenshot)
        browser.close()
    print(f"{len(chosen)} stories in {time.monotonic() - began:.0f} s")
    finish()


main()
