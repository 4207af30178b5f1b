"""What isn't there while a question is judged: packages in which stubs replace the code.

Beside each assignment, `absent.toml` says question by question what is absent. The sandbox of such
a question shows a copy of the package, made here, in which the code doesn't exist. So no name,
alias or frame leads to it. Imports still work: what they bring raises a sentence when it's called.
"""

import ast
import functools
import importlib.util
import site
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

GONE = """
def {name}(*args, **kwargs):
    raise RuntimeError("`{name}` isn't available in this question: write your own.")
"""
STUB = """
def __getattr__(name):
    import importlib

    if name.startswith("__"):
        raise AttributeError(name)
    try:
        return importlib.import_module(f"{__name__}.{name}")
    except ImportError:
        pass

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
    for pattern in ("lib/python3*/dist-packages", "local/lib/python3*/*-packages"):
        found += Path("/usr").glob(pattern)
    return {path.resolve() for path in found}


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
    """A copy of a package that holds the functions `there`, what they call, and stubs."""
    files = [p for p in package.rglob("*") if p.suffix in (".py", ".so") and p.is_file()]
    texts = sliced(package, [p for p in files if p.suffix == ".py"], there) if there else {}
    for path in files:
        name = path.name.partition(".")[0] + ".py"
        stub = folder / path.relative_to(package).with_name(name)
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.write_text(texts.get(path, "") + STUB, encoding="utf-8")


def sliced(package, files, there):
    """{file: text} with only the functions `there` and what they call, which stays real."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}
    names = [path.relative_to(package.parent).with_suffix("").parts for path in files]
    kept = kept_names(trees, dict(zip(map(".".join, names), files, strict=True)), there)
    stay = {p: [n for n in t.body if bound(n) & (kept[p] | {"__all__"})] for p, t in trees.items()}
    return {path: ast.unparse(ast.Module(body, [])) for path, body in stay.items()}


def kept_names(trees, modules, there):
    """{file: names} of the functions that stay, of what they call, and so on."""
    kept = defaultdict(set)
    todo = [(path, name) for path in trees for name in there]
    while todo:
        path, name = todo.pop()
        if name in kept[path]:
            continue
        kept[path].add(name)
        for node in trees[path].body:
            if name not in bound(node):
                continue
            if isinstance(node, ast.ImportFrom) and node.module in modules:
                todo += [(modules[node.module], alias.name) for alias in node.names]
            elif not isinstance(node, (ast.Import, ast.ImportFrom)):
                todo += [(path, n.id) for n in ast.walk(node) if isinstance(n, ast.Name)]
    return kept


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
