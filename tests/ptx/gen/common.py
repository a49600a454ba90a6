"""What the generators have in common."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def write(name, text):
    path = ROOT / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text.rstrip("\n") + "\n")


def note(key, name, values):
    """An `arg:` or `expect:` line, continued when it is long."""
    text = [f"// {key}: {name} ="]
    for value in map(str, values):
        if len(text[-1]) + len(value) > 112:
            text.append("//  ")
        text[-1] += " " + value
    return "\n".join(text) + "\n"
