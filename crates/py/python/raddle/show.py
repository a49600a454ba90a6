"""How notebooks show runs."""

from __future__ import annotations

from html import escape

#: Colours of issued slots and of reasons for empty ones; those of pictures in the book.
_ISSUED = "#2f6f4f"
_EMPTY = ("#c9622d", "#e0a84e", "#7a8fb5", "#a86d91", "#8c8c7a", "#5b9aa0", "#bf5b5b")
_NONE = "#d8d8d0"


def stall_bars(slots: dict[str, int]) -> str:
    """How issue slots were used, as a bar for each use, the most frequent first."""
    total = sum(slots.values())
    if not total:
        return ""
    issued = sum(count for name, count in slots.items() if name.startswith("issued"))
    rows = sorted(((name, count) for name, count in slots.items() if not name.startswith("issued")), key=_most)
    width, row, left = 560, 18, 190
    parts = []
    for n, (name, count) in enumerate([("issued", issued), *rows]):
        colour = _ISSUED if n == 0 else _NONE if name == "no warp resident" else _EMPTY[(n - 1) % len(_EMPTY)]
        share = count / total
        y, bar = n * row, max(share * (width - left - 60), 0.5)
        parts.append(
            f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{escape(name)}</text>'
            f'<rect x="{left}" y="{y + 3}" width="{bar:.1f}" height="{row - 6}" fill="{colour}"/>'
            f'<text x="{left + bar + 6:.1f}" y="{y + 13}">{100 * share:.1f} %</text>'
        )
    height = (len(rows) + 1) * row
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="12" fill="currentColor" role="img" aria-label="use of issue slots">'
        + "".join(parts)
        + "</svg>"
    )


def _most(row: tuple[str, int]) -> int:
    return -row[1]


def run_as_html(summary: str, slots: dict[str, int], lanes: str | None) -> str:
    """The summary of a run, its issue slots, and what its lanes did."""
    # The bars say what the end of the summary says.
    head = summary.split("\n  issue slots:")[0] if slots else summary
    html = f'<pre style="line-height:1.25">{escape(head)}</pre>{stall_bars(slots)}'
    if lanes:
        html += f'<details><summary>What the lanes of an SM did first</summary><div style="overflow-x:auto">{lanes}</div></details>'
    return html
