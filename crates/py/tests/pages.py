"""Gives the pages that nbconvert made of notebooks the form of the book. The folder is the argument."""

import re
import sys
from pathlib import Path

#: Times differ from run to run.
TIMES = re.compile(r"\(simulated in [^)]*\)|simulated at \d+ thousand")


def tidy(text: str) -> str:
    text = re.sub(r"<style[^>]*>.*?</style>\n?", "", text, flags=re.S)
    text = TIMES.sub(lambda found: re.sub(r"[\d.,]+", "...", found.group()), text)
    # Outputs are indented text: as fenced blocks they look like those of other pages.
    lines, out, is_code = text.split("\n"), [], False
    for n, line in enumerate(lines):
        if line.startswith("```"):
            is_code = not is_code
        if is_code or not line.startswith("    "):
            out.append(line)
            continue
        if n == 0 or not lines[n - 1].startswith("    "):
            out.append("```text")
        out.append(line[4:])
        if n + 1 == len(lines) or not lines[n + 1].startswith("    "):
            out.append("```")
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in out))
    return text.strip() + "\n"


for page in Path(sys.argv[1]).glob("*.md"):
    page.write_text(tidy(page.read_text(encoding="utf-8")), encoding="utf-8")
