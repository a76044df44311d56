"""Manual pages: one for each command of `larder`, from the parser's own description, and one for the settings, from their JSON Schema."""

import json
import re
import subprocess


def escaped(text):
    """Text for troff: no control lines, no escapes, and hyphens that can be copied."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return "\n".join(("\\&" if line[:1] in (".", "'") else "") + line for line in text.split("\n"))


def paragraphs(text):
    """Prose as paragraphs; indented lines, such as examples, as they are."""
    lines = []
    for block in text.strip("\n").split("\n\n"):
        if all(line.startswith("  ") for line in block.split("\n")):
            lines += [".PP", ".nf", ".RS 4", *(escaped(line[2:]) for line in block.split("\n")), ".RE", ".fi"]
        else:
            lines += [".PP", escaped(block)]
    return lines


def label(argument):
    """An option or argument as a user types it: (its names, its place in the synopsis)."""
    value = f"\\fI{escaped(argument['valueName'])}\\fR" if argument.get("valueName") else ""
    if argument["kind"] == "positional":
        return value, value + (" ..." if argument["isRepeating"] else "")
    takes = "" if argument["kind"] == "flag" else f" {value}"
    names = [("-" if name["kind"] == "short" else "--") + name["name"] for name in argument["names"]]
    shown = [f"\\fB{escaped(name)}\\fR" for name in names]
    preferred = next((s for s, n in zip(shown, names) if n.startswith("--")), shown[0])
    return ", ".join(shown) + takes, preferred + takes + (" ..." if argument["isRepeating"] else "")


def command_pages(command, words, heading, version):
    """Pages of a command and of its subcommands: a list of (file name, text)."""
    name = "-".join(words)
    shown = [argument for argument in command.get("arguments", []) if argument["shouldDisplay"]]
    children = [child for child in command.get("subcommands", []) if child["shouldDisplay"] and child["commandName"] != "help"]
    lines = [f'.TH {name.upper()} 1 {heading} "larder {version}" "User Commands"', ".SH NAME",
             f"{escaped(name)} \\- {escaped(command.get('abstract', '').rstrip('.'))}", ".SH SYNOPSIS"]
    synopsis = [f"\\fB{escaped(' '.join(words))}\\fR"]
    for argument in shown:
        place = label(argument)[1]
        synopsis.append(f"[{place}]" if argument["isOptional"] else place)
    if children:
        synopsis.append("\\fIcommand\\fR")
    lines.append(" ".join(synopsis))
    if command.get("discussion"):
        lines += [".SH DESCRIPTION", *paragraphs(command["discussion"])[1:]]
    if children:
        lines.append(".SH COMMANDS")
        for child in children:
            lines += [".TP", f"\\fB{escaped(name + '-' + child['commandName'])}\\fR(1)", escaped(child.get("abstract", ""))]
    if shown:
        lines.append(".SH OPTIONS")
        for argument in shown:
            text = argument.get("abstract", "")
            if argument.get("allValues") and not text.rstrip().endswith(")"):
                text += f" Values: {', '.join(argument['allValues'])}."
            if argument.get("defaultValue"):
                text += f" Default: {argument['defaultValue']}."
            lines += [".TP", label(argument)[0], escaped(text)]
            if argument.get("discussion"):
                lines += [".IP", escaped(argument["discussion"])]
    parent = "-".join(words[:-1])
    others = [f"\\fB{escaped(parent)}\\fR(1)"] if parent else []
    lines += [".SH SEE ALSO", ",\n".join([*others, "\\fBlarder\\-settings\\fR(5)"])]
    pages = [(f"{name}.1", "\n".join(lines) + "\n")]
    for child in children:
        pages += command_pages(child, [*words, child["commandName"]], heading, version)
    return pages


def plain(markdown):
    """Text of Markdown without links and emphasis."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", markdown).replace("**", "").replace("\\|", "|")


def settings_page(table, heading, version):
    """The page of the settings, from the Markdown of `config schema`: each row of its tables is a setting."""
    lines = [f'.TH LARDER\\-SETTINGS 5 {heading} "larder {version}" "File Formats"', ".SH NAME",
             "larder\\-settings \\- The settings file of Larder", ".SH DESCRIPTION"]
    in_code = False
    for line in re.sub(r"<!--.*?-->", "", table, flags=re.DOTALL).split("\n"):
        cells = [plain(cell.strip()) for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if line.startswith("```"):
            in_code = not in_code
            lines += [".PP", ".nf", ".RS 4"] if in_code else [".RE", ".fi"]
        elif in_code:
            lines.append(escaped(line))
        elif line.startswith("## "):
            lines.append(f".SH {escaped(line[3:]).upper()}")
        elif line.startswith("# ") or (cells and (set("".join(cells)) <= set("-: ") or cells[0].lower() in ("setting", "name"))):
            continue
        elif len(cells) >= 3:
            lines += [".TP", f"\\fB{escaped(cells[0])}\\fR", escaped(cells[-1])]
            if cells[1]:
                lines += [".IP", f"Default: {escaped(cells[1])}"]
        elif len(cells) == 2:
            lines += [".TP", escaped(cells[0]), escaped(cells[1])]
        elif line.strip():
            text = plain(line.strip())
            if re.match(r"(\d+\.|-) ", text):
                lines.append(".br")
            lines.append(escaped(text))
        elif lines[-1] != ".PP":
            lines.append(".PP")
    while lines[-1] == ".PP":
        lines.pop()
    lines += [".SH SEE ALSO", "\\fBlarder\\fR(1)"]
    return "larder-settings.5", "\n".join(lines) + "\n"


def pages(larder, date, version):
    """All pages: a list of (file name, text).

    larder: the path of the program. date: as YYYY-MM-DD.
    """
    dump = json.loads(subprocess.run([larder, "--experimental-dump-help"], check=True, capture_output=True, text=True).stdout)
    table = subprocess.run([larder, "config", "schema", "--output", "markdown"], check=True, capture_output=True, text=True).stdout
    return [*command_pages(dump["command"], ["larder"], date, version), settings_page(table, date, version)]
