"""Draws a part of a timeline as a page.

python draw.py TRACE FROM TO PAGE.html TRACK...: these tracks from one cycle to another, slices as boxes, counters as steps.
"""

import html
import sys

import timeline

WIDTH, LEFT, ROW, GAP = 1180, 190, 22, 5
COLOURS = {
    "issued": "#2a9d5c",
    "ready": "#b7dfc6",
    "memory_dependence": "#d1495b",
    "arithmetic_dependence": "#edae49",
    "not_fetched": "#7b6fb0",
    "wrong_path": "#a7a1c8",
    "barrier": "#3a7ca5",
    "draining": "#c9c9c9",
    "no_warp_resident": "#ececec",
    "sp_busy": "#f2cc8f",
    "load_store_busy": "#e07a5f",
    "memory_back_pressure": "#a23b3b",
}
INSTRUCTION, OTHER = "#2a9d5c", "#9fb3c8"


def box(x, y, width, height, fill, title):
    return (
        f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{height}" fill="{fill}"'
        f' stroke="#fff" stroke-width="0.4"><title>{html.escape(title)}</title></rect>'
    )


def label(x, y, text, size=12, anchor="start", fill="#222"):
    text = html.escape(text)
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{fill}">{text}</text>'


def main(path, first, last, page, *tracks):
    first, last = int(first), int(last)
    seen = timeline.read(path)
    scale = (WIDTH - LEFT - 30) / (last - first)
    x = lambda at: LEFT + (min(max(at, first), last) - first) * scale
    parts, used, y = [], [], 34
    for cycle in range(first, last + 1, max(1, (last - first) // 8)):
        parts.append(label(x(cycle), 14, f"{cycle:,}", 11, "middle", "#666"))
        parts.append(f'<line x1="{x(cycle):.1f}" x2="{x(cycle):.1f}" y1="20" y2="2000" stroke="#eee"/>')
    for track in tracks:
        parts.append(label(LEFT - 8, y + 15, track.split("/")[-1], 12, "end"))
        if track in seen.counters:
            values = seen.counters[track] + [(last, 0)]
            steps = [(at, after, value) for (at, value), (after, _) in zip(values, values[1:])]
            steps = [step for step in steps if step[0] < last and step[1] > first]
            most = max(value for _, _, value in steps) or 1
            for at, after, value in steps:
                height = 2 * ROW * value / most
                parts.append(box(x(at), y + 2 * ROW - height, x(after) - x(at), height, "#8ab6d6", f"{value:.2f}"))
            parts.append(label(LEFT + 4, y + 12, f"up to {most:.1f}", 10, "start", "#555"))
            y += 2 * ROW + GAP
            continue
        for part in seen.slices:
            if part.track != track or part.end <= first or part.start >= last:
                continue
            named = part.kind in ("slots", "waits")
            fill = COLOURS.get(part.name, OTHER) if named else INSTRUCTION if part.kind == "issues" else OTHER
            if named and part.name not in used:
                used.append(part.name)
            width = x(part.end) - x(part.start)
            title = ", ".join([part.name, *(f"{key} {value}" for key, value in part.notes.items())])
            parts.append(box(x(part.start), y, width, ROW, fill, title))
            if width > 7 * len(part.name) + 6:
                parts.append(label(x(part.start) + 4, y + 15, part.name, 11, fill="#111"))
        y += ROW + GAP
    at = LEFT
    for name in [*used, "an instruction"]:
        parts.append(box(at, y + 8, 12, 12, COLOURS.get(name, INSTRUCTION if name == "an instruction" else OTHER), name))
        parts.append(label(at + 16, y + 18, name, 11))
        at += 34 + 6.6 * len(name)
    style = "font-family:Noto Sans,DejaVu Sans,sans-serif;background:#fff"
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + 30}" style="{style}">'
    with open(page, "w") as file:
        file.write("<!doctype html><body style='margin:0'>" + svg + "".join(parts) + "</svg>")
    print(y + 30)


if __name__ == "__main__":
    main(*sys.argv[1:])
