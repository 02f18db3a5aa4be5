#!/usr/bin/env python3
"""Measures with `copydesk bench`, and writes the table and the plot of docs/sizing.md.

    cargo build --release && python3 benches/sizing/sizing.py target/release/copydesk

The table goes to standard output, the plot to docs/images/sizing.svg. Needs no packages.
"""

import json
import math
import pathlib
import subprocess
import sys

SECONDS = "10"
#: Clients in one document: one writes, the others read.
CLIENTS = [2, 5, 10, 25, 50, 100, 200]
#: Documents that are open, with one who writes and one who reads in each.
DOCUMENTS = [1, 3, 10, 30, 100, 300]
IMAGE = pathlib.Path(__file__).parents[2] / "docs" / "images" / "sizing.svg"


def measure(program, documents, clients, edits, capabilities="on"):
    """Runs one test; returns its report."""
    command = [program, "bench", "--json", "--seconds", SECONDS, "--documents", str(documents), "--writers", "1",
               "--readers", str(clients - 1), "--reviewers", "0", "--edits", edits, "--capabilities", capabilities]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    print(f"{documents} documents, {clients} clients in each, {capabilities}", file=sys.stderr)
    return report


def row(report):
    """One line of the table."""
    plan, server = report["plan"], report["server"]
    clients = plan["writers"] + plan["readers"] + plan["reviewers"]
    cells = [
        plan["documents"], clients, "on" if plan["capabilities"] else "off",
        f"{report['edits']['perSecond']:,.0f}", f"{report['deliveries']['perSecond']:,.0f}",
        f"{server['cpuMsPerEdit']:.2f}", f"{server['cpuMsPerDelivery'] * 1000:.0f}",
        f"{server['processorsUsed']:.3f}", f"{report['deliveries']['bytesEach']:.0f}",
        f"{server['memoryMb']:.0f}", report["edits"]["lost"],
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


HEAD = """\
| documents | clients in each | short messages | keystrokes a second | deliveries a second | processor ms for a keystroke | \
processor µs for a delivery | processors used | bytes for a delivery | memory, MB | lost |
|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|"""

STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #24292f } .title { font-weight: 600 }
.axis { stroke: #57606a } .grid { stroke: #57606a; opacity: .25 }
.on { stroke: #0969da } .off { stroke: #bc4c00 } polyline { fill: none; stroke-width: 2.5 }
text.on { fill: #0969da; stroke: none } text.off { fill: #bc4c00; stroke: none }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .axis, .grid { stroke: #9198a1 }
  .on { stroke: #58a6ff } .off { stroke: #f0883e } text.on { fill: #58a6ff } text.off { fill: #f0883e }
}"""


def panel(left, title, label, lines):
    """One diagram: a logarithmic axis to the right, and milliseconds from zero upwards."""
    width, top, bottom = 360, 60, 300
    ticks = sorted({x for _, _, points in lines for x, _ in points})
    low, high = math.log(ticks[0]), math.log(ticks[-1])
    most = max(y for _, _, points in lines for _, y in points) * 1.15
    step = 10 ** math.floor(math.log10(most / 2))
    step *= 2 if most / step > 8 else 1
    at_x = lambda x: left + (math.log(x) - low) / (high - low) * width
    at_y = lambda y: bottom - y / most * (bottom - top)
    parts = [f'<text class="title" x="{left}" y="30">{title}</text>']
    value = 0
    while value <= most:
        y = at_y(value)
        parts.append(f'<line class="grid" x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
        value = round(value + step, 6)
    parts.append(f'<line class="axis" x1="{left}" x2="{left + width}" y1="{bottom}" y2="{bottom}"/>')
    for x in ticks:
        parts.append(f'<text x="{at_x(x):.1f}" y="{bottom + 20}" text-anchor="middle">{x}</text>')
    parts.append(f'<text x="{left + width / 2}" y="{bottom + 42}" text-anchor="middle">{label}</text>')
    for index, (name, kind, points) in enumerate(lines):
        path = " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y in points)
        parts.append(f'<polyline class="{kind}" points="{path}"/>')
        parts.append(f'<text class="{kind}" x="{left + 10}" y="{top + 12 + 18 * index}">{name}</text>')
    return "\n".join(parts)


def main():
    program = sys.argv[1]
    on = [measure(program, 1, clients, "20") for clients in CLIENTS]
    off = [measure(program, 1, clients, "20", "off") for clients in CLIENTS]
    documents = [measure(program, count, 2, "4") for count in DOCUMENTS]
    per_edit = lambda reports, of: [(of(it["plan"]), it["server"]["cpuMsPerEdit"]) for it in reports]
    clients_of = lambda plan: plan["writers"] + plan["readers"]
    title = "Processor time of the server for a keystroke, ms"
    left = panel(60, title, "clients in one document", [
        ("short messages", "on", per_edit(on, clients_of)), ("long messages", "off", per_edit(off, clients_of))])
    right = panel(500, title, "open documents, two clients in each", [
        ("short messages", "on", per_edit(documents, lambda plan: plan["documents"]))])
    IMAGE.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 360" role="img">\n<title>{title}</title>\n'
                     f"<style>\n{STYLE}\n</style>\n{left}\n{right}\n</svg>\n")
    print("\n".join([HEAD] + [row(report) for report in on + off[-1:] + documents]))


if __name__ == "__main__":
    main()
