# SPDX-License-Identifier: GPL-2.0-or-later
"""The order of folders: which folder may include which (docs/design/architecture.md)."""
import collections
import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)

# Lower folders first. A folder may include itself and folders of lower steps; folders of one step must not include each
# other.
ORDER = (("lib/base",), ("lib/hints",), ("lib/config", "lib/core"), ("lib/model",), ("lib/json",), ("lib/policy",),
         ("lib/store",), ("lib/runtime", "lib/replay", "lib/validate"), ("lib/sim",), ("plugin", "tools"))
STEP = {room: step for step, rooms in enumerate(ORDER) for room in rooms}


def sources():
    """{path below the tree: text} of all sources of lib/, plugin/ and tools/."""
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
            for top in ("lib", "plugin", "tools") for path in sorted((ROOT / top).rglob("*"))
            if path.suffix in (".cc", ".h")}


def room_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "lib" else parts[0]


def include_edges(files):
    """(from, to) of each include between files of the tree."""
    return [(path, target) for path, text in files.items() for target in INCLUDE.findall(text)
            if target in files]


def violations(edges):
    """Includes that violate the order of folders, one line each."""
    found = []
    for source, target in edges:
        here, there = room_of(source), room_of(target)
        if here != there and STEP[there] >= STEP[here]:
            found.append(f"{source} includes {target}: {here} may not include {there}")
    return found


def cycles(edges):
    """Sets of folders with an include cycle (Tarjan's strongly connected components)."""
    after = collections.defaultdict(set)
    for source, target in edges:
        here, there = os.path.dirname(source), os.path.dirname(target)
        if here != there:
            after[here].add(there)
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(after[node]):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            circle = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(circle) > 1:
                found.append(sorted(circle))

    for node in sorted(after):
        if node not in index:
            visit(node)
    return found


class Rooms(unittest.TestCase):
    def test_every_room_has_its_step(self):
        rooms = {room_of(path) for path in sources()}
        self.assertEqual(sorted(rooms - STEP.keys()), [])

    def test_includes_follow_the_order_of_rooms(self):
        self.assertEqual(violations(include_edges(sources())), [])

    def test_folders_include_each_other_in_no_circle(self):
        self.assertEqual(cycles(include_edges(sources())), [])

    def test_an_include_against_the_order_is_found(self):
        """The checks above find violations and cycles."""
        self.assertEqual(len(violations([("lib/base/a.h", "lib/core/b.h"), ("lib/core/b.h", "lib/base/a.h")])), 1)
        self.assertEqual(len(violations([("lib/core/a.h", "lib/config/b.h")])), 1)
        self.assertEqual(cycles([("a/x.h", "b/y.h"), ("b/z.h", "c/x.h"), ("c/x.h", "a/x.h"), ("a/x.h", "d/x.h")]),
                         [["a", "b", "c"]])


if __name__ == "__main__":
    unittest.main()
