#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws the loss that a run printed over its steps, coloured by the number of processes, as SVG.

    python3 plot.py out.txt [WITHOUT-RESIZE.txt] > loss.svg

The second output is drawn as a thin line beneath: the same training that was never resized.
"""
import math
import re
import sys

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 720, 300, 56, 40, 44
COLOURS = {1: "#2f6fb5", 2: "#d9822b", 4: "#2f9e63"}
LINE = re.compile(r"^step (\d+) loss (\S+) processes (\d+)$", re.MULTILINE)


def points(path):
    """[(step, loss, processes)] of an output."""
    with open(path, encoding="utf-8") as file:
        return sorted({(int(step), float(loss), int(size)) for step, loss, size in LINE.findall(file.read())})


def main(words):
    if len(words) not in (1, 2) or words[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 2
    mine, other = points(words[0]), points(words[1]) if len(words) > 1 else []
    last = mine[-1][0]
    other = [point for point in other if point[0] <= last]
    low, high = (math.log(f(loss for _, loss, _ in mine + other)) for f in (min, max))

    def place(step, loss):
        x = LEFT + (WIDTH - LEFT - 12) * step / last
        y = TOP + (HEIGHT - TOP - BOTTOM) * (high - math.log(loss)) / max(high - low, 1e-9)
        return f"{x:.1f},{y:.1f}"

    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
          f'font-size="13"><title>Loss over steps</title><desc>{mine[0][0]} to {last} steps, '
          f'with {", ".join(str(size) for size in sorted({size for _, _, size in mine}))} processes</desc>'
          '<rect width="100%" height="100%" fill="#fff"/>')
    for loss in (math.exp(low + (high - low) * k / 4) for k in range(5)):
        y = place(0, loss).split(",")[1]
        print(f'<path d="M{LEFT},{y}H{WIDTH - 12}" stroke="#e4e4e4"/>'
              f'<text x="{LEFT - 6}" y="{float(y) + 4:.1f}" text-anchor="end" fill="#444">{loss:.2f}</text>')
    apart = 10 ** math.floor(math.log10(last / 2))
    apart *= next(factor for factor in (1, 2, 5, 10) if last / (apart * factor) <= 6)
    for step in range(0, last + 1, apart):
        x = min(float(place(step, math.exp(low)).split(",")[0]), WIDTH - 24)
        print(f'<text x="{x}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle" fill="#444">{step}</text>')
    print(f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle" fill="#444">step</text>'
          f'<text x="{LEFT}" y="{TOP - 22}" fill="#444">loss (logarithmic)</text>')
    if other:
        print(f'<polyline points="{" ".join(place(s, l) for s, l, _ in other)}" fill="none" stroke="#999" '
              'stroke-width="4" opacity=".45"/>')
    start = 0
    for i in range(1, len(mine) + 1):
        if i == len(mine) or mine[i][2] != mine[start][2]:
            part = mine[start:min(i + 1, len(mine))]
            print(f'<polyline points="{" ".join(place(s, l) for s, l, _ in part)}" fill="none" '
                  f'stroke="{COLOURS.get(mine[start][2], "#7a4fb0")}" stroke-width="2"/>')
            start = i
    x = WIDTH - 12
    names = [(COLOURS.get(size, "#7a4fb0"), f"{size} process{'es' if size > 1 else ''}")
             for size in sorted({size for _, _, size in mine}, reverse=True)]
    for colour, text in ([("#999", "never resized")] if other else []) + names:
        print(f'<text x="{x}" y="{TOP - 22}" text-anchor="end" fill="{colour}" font-weight="bold">{text}</text>')
        x -= 8 * len(text) + 12
    print("</svg>")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
