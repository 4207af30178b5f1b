"""What isn't there while a question is judged: packages in which stubs replace the code.

Beside each assignment, `absent.toml` says question by question what is absent. The sandbox of such
a question shows a copy of the package, made here, in which the code doesn't exist. So no name,
alias or frame leads to it. Imports still work: what they bring raises a sentence when it's called.
"""

import ast
import functools
import importlib.util
import shutil
import site
import sys
import tomllib
from pathlib import Path

STUB = """
def __getattr__(name):
    import contextlib, importlib
    if name.startswith("__"):
        raise AttributeError(name)
    with contextlib.suppress(ImportError):
        return importlib.import_module(f"{__name__}.{name}")
    def gone(*args, **kwargs):
        raise RuntimeError(f"`{name}` isn't available in this question: write your own.")
    return type(name, (), {"__init__": gone})
"""


def read_table(path):
    """The rows of an assignment's table, each with tests, absent and there."""
    return tomllib.loads(path.read_text(encoding="utf-8"))["question"] if path.exists() else []


def module_folder():
    return Path(importlib.util.find_spec("slnp_edu").origin).resolve().parent


@functools.cache
def homes():
    """Every folder in which a package may lie that the sandbox shows."""
    found = [Path(p) for p in (*sys.path, *site.getsitepackages([sys.base_prefix])) if p]
    found.append(module_folder().parent)
    for pattern in ("lib*/python3*/*-packages", "local/lib*/python3*/*-packages"):
        found += Path("/usr").glob(pattern)
    return {path for home in found for path in (home.absolute(), home.resolve())}


def places(module):
    """The folder or file of a module, wherever a copy of it lies, and its compiled files."""
    for home in homes():
        path = home.joinpath(*module.split("."))
        if path.is_dir():
            yield path
        elif path.with_suffix(".py").exists():
            yield path.with_suffix(".py")
            yield from path.parent.glob(f"__pycache__/{path.name}.*")


def make_overlay(row, folder):
    """Write the stubs of one row into a folder; return [what is shown, in which place]."""
    pairs = []
    for module in row["absent"]:
        for number, place in enumerate(places(module)):
            shown = folder / module / str(number)
            shown.mkdir(parents=True)
            if place.is_dir():
                write_stubs(place, shown, row.get("there", []))
            else:
                shown /= place.name
                shown.write_text(STUB if place.suffix == ".py" else "", encoding="utf-8")
            pairs.append((str(shown), str(place)))
    return pairs


def write_stubs(package, folder, there):
    """A copy of a package with the functions and modules `there`, what they call, and stubs."""
    for path in package.rglob("*.*"):
        if path.suffix not in (".py", ".so") or "tests" in path.parts:
            continue
        stem, new = path.name.partition(".")[0], folder / path.relative_to(package)
        new.parent.mkdir(parents=True, exist_ok=True)
        if stem in there:
            shutil.copy(path, new)
            continue
        text = path.read_text("utf-8") if path.suffix == ".py" else ""
        real = sliced(text, there) if any(name in text for name in there) else ""
        new.with_name(f"{stem}.py").write_text(real + STUB, "utf-8")


def sliced(text, there):
    """A module with only the functions `there` and what they call in it, which stays real."""
    body, kept, todo = ast.parse(text).body, {"__all__"}, list(there)
    while todo:
        name = todo.pop()
        called = [n for node in body if name in bound(node) for n in ast.walk(node)]
        todo += [n.id for n in called if isinstance(n, ast.Name) and n.id not in kept]
        kept.add(name)
    return ast.unparse(ast.Module([node for node in body if bound(node) & kept], []))


def bound(node):
    """The names that a statement at the top of a module gives a meaning."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name.split(".")[0] for alias in node.names}
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
        return {n.id for n in names if isinstance(n.ctx, ast.Store)}
    return set()
