"""Which names the code of a cell uses, followed through everything that it defines."""

import ast
import collections
import re

from IPython.core.inputtransformer2 import TransformerManager

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
SCOPES += (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LONGEST_CELL = 200_000  # characters that are looked at; the largest of ours has 2,300
HARMLESS_MAGIC = re.compile(
    r"get_ipython\(\)\.(run_(line|cell)_magic\('(matplotlib|config|precision|pip)'"
    r"|system\('pip )"
)


MAGIC = re.compile(r"^[ \t]*[%!?,;/]|\?[ \t]*$|=[ \t]*[%!]", re.M)
MOST_MAGIC = 20  # lines of a cell; IPython reads the whole cell anew for each


def without_magic(source):
    """A cell as Python: what %time and its like run is code of the cell, the rest is left out."""
    if len(MAGIC.findall(source)) > MOST_MAGIC or len(source) > LONGEST_CELL:
        return "get_ipython()"  # nobody can see what it does
    source = re.sub(r"^%%(time|timeit|capture)\b.*\n", "", source.lstrip())
    source = re.sub(r"^([ \t]*)%(time|timeit)\b(?: -\S+)*[ \t]*", r"\1", source, flags=re.M)
    lines = TransformerManager().transform_cell(source).splitlines()
    return "\n".join("pass" if HARMLESS_MAGIC.match(line) else line for line in lines)


def tree_of(cells):
    """The syntax trees of the cells that have one, as one module."""
    body = []
    for cell in cells:
        try:
            body += ast.parse(without_magic(cell.source)).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return ast.Module(body, [])


def bindings(tree):
    """{name: the top-level statements that bind it}."""
    found = {}
    for statement in tree.body:
        names = set()
        for node in ast.walk(statement):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                names.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
        for name in names:
            found.setdefault(name, []).append(statement)
    return found


def imports(tree):
    """{name: the dotted names of what imports bind to it}; "*" for what a star brings in."""
    found = collections.defaultdict(set)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.split(".")[0]
                found[alias.asname or first].add(alias.name if alias.asname else first)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                found[alias.asname or alias.name].add(f"{node.module}.{alias.name}")
    return dict(found)


def dotted(node):
    """'a.b.c' of an attribute of an attribute of a name; '?.c' if it is not one of a name."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id if isinstance(node, ast.Name) else "?", *reversed(parts)])


def own_scope(node):
    """The nodes of a function without those of functions, classes and comprehensions in it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, SCOPES):
            yield child
            yield from own_scope(child)


def locals_of(function):
    """The names that belong to a function alone: its arguments and what it assigns."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names = {argument.arg for argument in (*named, arguments.vararg, arguments.kwarg) if argument}
    nodes = list(own_scope(ast.Module(function.body, [])))
    stored = [n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    outer = {name for n in nodes if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}
    return (names | {node.id for node in stored}) - outer


class Uses(ast.NodeVisitor):
    """The names that a statement uses, with imported ones in full."""

    def __init__(self, known):
        self.known, self.names, self.local = known, set(), set()

    def visit_FunctionDef(self, node):
        for part in (*node.decorator_list, node.args):  # what stands there is read outside
            self.visit(part)
        before = self.local
        self.local = before | locals_of(node)
        for statement in node.body:
            self.visit(statement)
        self.local = before

    def visit_Name(self, node):
        self.visit_Attribute(node)

    def visit_Attribute(self, node):
        first, _, rest = dotted(node).partition(".")
        first = "?" if first in self.local else first
        for whole in self.known.get(first, {first}):
            self.names |= {f"{whole}.{rest}" if rest else whole, first} - {"?"}
        while isinstance(node, ast.Attribute):
            node = node.value
        if not isinstance(node, ast.Name):
            self.visit(node)

    def visit_Import(self, node):
        self.names |= {alias.name for alias in node.names}

    def visit_ImportFrom(self, node):
        self.names |= {f"{node.module}.{alias.name}" for alias in node.names}

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) > 1:
            name = node.args[1]
            self.names.add(f"?.{name.value}" if isinstance(name, ast.Constant) else "?.getattr")
        self.generic_visit(node)


def uses(statements, known):
    visitor = Uses(known)
    for statement in statements:
        visitor.visit(statement)
    return visitor.names


def reached(name, binding, known):
    """All names that an answer uses, through everything the student defined.

    Of several definitions of the answer itself the last counts; of everything else all do.
    """
    last = binding.get(name, [])[-1:]
    first = last if last and isinstance(last[0], ast.FunctionDef) else binding.get(name, [])
    found = uses(first, known)
    seen, todo = set(), [other.split(".")[0] for other in found]
    while todo:
        here = todo.pop()
        if here not in seen:
            seen.add(here)
            names = uses(binding.get(here, []), known)
            found |= names
            todo += [other.split(".")[0] for other in names]
    return found
