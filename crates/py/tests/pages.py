"""Gives the pages that nbconvert made of notebooks the form of the book. The folder is the argument."""

import html
import re
import sys
from pathlib import Path

#: Times differ from run to run.
TIMES = re.compile(r"\(simulated in [^)]*\)|simulated at \d+ thousand")

#: Not for pages: rules for all tables of a page, and a picture that is there a second time.
LEFT_OUT = re.compile(r"<style[^>]*>.*?</style>\n?|<details>.*?</details>", re.S)

#: The summary of a run, which is text.
SUMMARY = re.compile(r"<pre[^>]*>(.*?)</pre>", re.S)

#: A block of code, a table in HTML, indented output, or one other line.
PARTS = re.compile(r"^```.*?^```$|^<div>.*?^</div>$|(?:^    [^\n]*\n|^\n(?=    ))+|^[^\n]*$", re.M | re.S)


def part(text: str) -> str:
    if text.startswith("<div>"):
        return "\n".join(line.strip() for line in text.splitlines())
    if not text.strip("\n").startswith("    "):
        return text
    # Outputs are indented text: as fenced blocks they look like those of other pages.
    lines = [line[4:] for line in text.strip("\n").splitlines()]
    return "\n```text\n" + "\n".join(lines) + "\n```\n" if any(lines) else ""


def tidy(text: str) -> str:
    text = LEFT_OUT.sub("", text)
    text = SUMMARY.sub(lambda found: f"```text\n{html.unescape(found[1])}\n```\n\n", text)
    text = TIMES.sub(lambda found: re.sub(r"\d[\d.,]*", "...", found.group()), text)
    text = "\n".join(part(found.group()) for found in PARTS.finditer(text))
    text = "\n".join(line.rstrip() for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


for picture in Path(sys.argv[1]).glob("*/*.svg"):
    picture.write_text(picture.read_text(encoding="utf-8").rstrip() + "\n", encoding="utf-8")
for page in Path(sys.argv[1]).glob("*.md"):
    page.write_text(tidy(page.read_text(encoding="utf-8")), encoding="utf-8")
