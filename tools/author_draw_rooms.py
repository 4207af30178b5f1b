"""Draw the rooms of the module, from what its files import, into CONTRIBUTING.md.

Usage: python tools/author_draw_rooms.py   (after a file or an import came or went; a test asks)

An arrow leads from a file to those that import it: the way of the data. An import that follows
from others is not drawn (a -> c, if a -> b -> c), or nobody could see anything.
"""

import ast
import graphlib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- drawn by tools/author_draw_rooms.py -->\n", "<!-- end of the drawing -->\n"
ROOMS = {"method": "the method", "data": "data", "evidence": "evidence", "book": "book"}


def name_of(path):
    """slnp_edu/data/files.py -> slnp_edu.data.files; a room's __init__.py is the room."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path):
    """Every name that a file imports, with the whole way to it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def graph():
    """File -> files that it imports.

    What a room hands on, such as slnp_edu.data.load_mnist, comes from the file that has it; what a
    room makes itself, such as slnp_edu.data.LOADERS, from all that its __init__.py imports.
    """
    paths = {name_of(path): path for path in sorted((ROOT / "slnp_edu").rglob("*.py"))}
    rooms = {name for name, path in paths.items() if path.name == "__init__.py"}
    given = {}  # name in a room -> where the room has it from
    for room in rooms:
        given |= {f"{room}.{n.rpartition('.')[2]}": n for n in imported(paths[room])}

    def places(name):
        name = given.get(name, name)
        file = name if name in paths else name.rpartition(".")[0]
        if file in rooms:
            return {place for n in imported(paths[file]) for place in places(n)}
        return {file} & set(paths)

    return {
        name: set().union(*map(places, imported(path))) - {name}
        for name, path in paths.items()
        if name not in rooms
    }


def reduced(drawn):
    """Without the imports that follow from others."""
    behind = {}
    for name in graphlib.TopologicalSorter(drawn).static_order():
        behind[name] = set().union(*({t} | behind[t] for t in drawn[name]))
    return {
        name: {t for t in targets if not any(t in behind[u] for u in targets if u != t)}
        for name, targets in drawn.items()
    }


def mermaid():
    drawn = reduced(graph())
    short = {name: name.removeprefix("slnp_edu.").replace(".", "/") for name in drawn}
    lines = ["```mermaid", "flowchart LR"]
    for room, title in ROOMS.items():
        inside = [n for n in drawn if n.startswith(f"slnp_edu.{room}.")]
        inside = inside or [n for n in drawn if n.count(".") == 1 and "__main__" not in n]
        lines += [f'  subgraph {room}["{title}"]']
        lines += [f'    {short[n].replace("/", "_")}["{short[n]}.py"]' for n in inside] + ["  end"]
    lines += ['  __main__["__main__.py: the command line"]']
    lines += [
        f"  {short[target].replace('/', '_')} --> {short[name].replace('/', '_')}"
        for name in drawn
        for target in sorted(drawn[name])
    ]
    return "\n".join([*lines, "```", ""])


def page():
    """CONTRIBUTING.md with the drawing of today."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return before + BEGIN + mermaid() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
