"""Draws docs/fetch.svg from what `larder fetch` shows on a terminal: LARDER=BINARY WORK=EMPTY_FOLDER PYTHONPATH=Tests python3
Tests/Long/fetch_picture.py OUTPUT."""

import html
import os
import pty
import re
import struct
import fcntl
import sys
import termios
import time

from Tools.larder import LARDER, WORK
from Tools.origins import FilesOrigin

COLUMNS, ROWS, STEP = 104, 6, 0.25
COLOURS = {"32": "#4ec96f", "90": "#4a5058", "1": "#ffffff"}
origin = FilesOrigin(WORK, "location /iso/ { alias ROOT/; limit_rate 24m; add_header Cache-Control no-store; }")
names = {"debian-13.2.0-amd64-netinst.iso": 150, "alpine-standard-3.22.2.iso": 90, "node-v24.11.1-linux-x64.tar.xz": 30}
for name, size in names.items():
    with open(origin.root / name, "wb") as file:
        for _ in range(size):
            file.write(os.urandom(1 << 20))
(WORK / "list.txt").write_text("".join(origin.url(f"/iso/{name}\n") for name in names))
shown = "$ larder fetch -i list.txt"


class Screen:
    """As much of a terminal as the progress needs: lines, colours, up, and clear to the end."""

    def __init__(self):
        self.lines, self.row, self.column, self.style = [[(c, "") for c in shown]], 1, 0, ""
        self.lines.append([])

    def feed(self, text):
        for piece in re.findall(r"\x1b\[([0-9;]*)([A-Za-z])|([^\x1b])", text):
            parameter, command, character = piece
            if command == "m":
                self.style = COLOURS.get(parameter, "")
            elif command == "A":
                self.row -= int(parameter or 1)
            elif command == "J":
                self.lines = self.lines[:self.row] + [[]]
            elif character == "\r":
                self.column = 0
            elif character == "\n":
                self.row, self.column = self.row + 1, 0
                while len(self.lines) <= self.row:
                    self.lines.append([])
            elif character:
                line = self.lines[self.row]
                line[self.column:self.column + 1] = [(character, self.style)]
                self.column += 1


process, terminal = pty.fork()
if process == 0:
    os.chdir(WORK)
    environment = {"PATH": os.environ["PATH"], "HOME": str(WORK / "home"), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    time.sleep(0.2)
    os.execve(LARDER, ["larder", "fetch", "-i", "list.txt"], environment)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
screen, frames, began, rest = Screen(), [], time.monotonic(), b""
while True:
    try:
        octets = os.read(terminal, 65536)
    except OSError:
        break
    if not octets:
        break
    rest += octets
    text = rest.decode(errors="ignore")
    rest = rest[len(text.encode()):]
    screen.feed(text)
    frame = [list(line) for line in screen.lines]
    at = time.monotonic() - began
    if frames and at - frames[-1][0] < STEP:
        frames[-1] = (frames[-1][0], frame)
    else:
        frames.append((at, frame))
os.waitpid(process, 0)

length = frames[-1][0] + 3
width, line_height, font = COLUMNS * 7.83 + 24, 20, 13
height = ROWS * line_height + 24


def drawn(frame):
    rows = []
    for number, line in enumerate(frame[:ROWS]):
        spans, run, style = [], "", None
        for character, colour in line + [("", None)]:
            if colour != style and run:
                fill = f' fill="{style}"' if style else ""
                spans.append(f"<tspan{fill}>{html.escape(run)}</tspan>")
                run = ""
            style = colour
            run += character
        rows.append(f'<text x="12" y="{12 + font + number * line_height}" xml:space="preserve">{"".join(spans)}</text>')
    return "".join(rows)


with open(sys.argv[1], "w") as out:
    out.write(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" '
        f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{font}" fill="#c9d1d9">\n'
        f'<rect width="100%" height="100%" rx="8" fill="#15191f"/>\n')
    for number, (at, frame) in enumerate(frames):
        end = frames[number + 1][0] if number + 1 < len(frames) else length
        # Each is seen in its own time; what draws no animations shows the middle.
        middle = number == len(frames) // 2
        times = f"0;{at / length:.4f};{min(end / length, 1):.4f}" if number else f"0;{end / length:.4f};1"
        values = "none;inline;none" if number else "inline;none;none"
        out.write(
            f'<g display="{"inline" if middle else "none"}"><animate attributeName="display" calcMode="discrete" '
            f'dur="{length:.2f}s" repeatCount="indefinite" keyTimes="{times}" values="{values}"/>{drawn(frame)}</g>\n')
    out.write("</svg>\n")
print(f"{len(frames)} frames, {length:.1f} s")
