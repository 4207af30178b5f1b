"""Imports point one way: book -> evidence -> method, with the data beside."""

import ast
from pathlib import Path

import author_draw_rooms as draw_rooms
import pytest

PACKAGE = Path(__file__).parent.parent / "slnp_edu"
MAY_IMPORT = {
    "method": {"method"},
    "data": {"data"},
    "evidence": {"method", "data", "evidence"},
    "book": {"method", "data", "evidence", "book"},
}
FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__main__.py"]


def room(module):
    """slnp_edu.data.files -> data; slnp_edu.steps -> method."""
    second = [*module.split("."), ""][1]
    return second if second in MAY_IMPORT else "method"


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole way"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_only_what_lies_before_it(path):
    here = room(".".join(["slnp_edu", *path.relative_to(PACKAGE).parts]))
    ours = {module for module in imports(path) if module.split(".")[0] == "slnp_edu"}
    assert {room(module) for module in ours} <= MAY_IMPORT[here]


def test_every_room_is_shipped():
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    shipped = (PACKAGE.parent / "pyproject.toml").read_text()
    assert rooms == set(MAY_IMPORT) - {"method"}
    assert all(f'"slnp_edu.{name}"' in shipped for name in rooms)


def test_the_drawing_of_the_rooms_is_that_of_the_imports():
    """If not: .venv/bin/python tools/author_draw_rooms.py."""
    assert draw_rooms.PAGE.read_text(encoding="utf-8") == draw_rooms.page()


def test_the_drawing_leaves_out_what_follows_and_nothing_else():
    drawn, kept = draw_rooms.graph(), draw_rooms.reduced(draw_rooms.graph())

    def reach(graph, name):
        return set().union(*({t} | reach(graph, t) for t in graph[name]))

    assert all(reach(drawn, name) == reach(kept, name) for name in drawn)
    files = {
        f"slnp_edu.{'.'.join(path.relative_to(PACKAGE).with_suffix('').parts)}" for path in FILES
    }
    rooms = {name for name in files if name.endswith("__init__")}
    assert set(drawn) == files - rooms | {"slnp_edu.__main__"}
    assert kept["slnp_edu.steps"] == {"slnp_edu.search"}
    assert "slnp_edu.steps" in drawn["slnp_edu.slnp"] - kept["slnp_edu.slnp"]
