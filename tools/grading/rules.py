"""What a question forbids, read off the student's code.

A test cell states it in a comment that students see and this module reads:
  # nearest is to be written without slnp_edu and sklearn.
  # my_slnp is to be written without slnp_edu, except s_step and objective.
Followed are all functions and names that the answer uses, through the student's own cells. Code
that hides what it uses, for instance with exec, cannot be followed and does not pass.
"""

import ast
import importlib.util
import re

from IPython.core.inputtransformer2 import TransformerManager

RULE = re.compile(r"(.+?) (?:is|are) to be written without (.+?)(?:, except (.+?))?\.$")
# Ways to use something without naming it: as names of their own, and as attributes.
UNSEEN = {
    *("exec", "eval", "compile", "__import__", "globals", "locals", "vars", "setattr", "delattr"),
    *("importlib", "inspect", "gc", "ctypes", "pickle", "marshal", "builtins", "runpy", "pkgutil"),
    *("__builtins__", "get_ipython", "breakpoint", "attrgetter", "subprocess"),
}
UNSEEN_ATTRIBUTES = {
    *("_getframe", "modules", "meta_path", "settrace", "setprofile", "displayhook"),
    *("system", "popen", "fork", "execv", "posix_spawn", "spawnv"),
}
OUTWARD = {"socket", "urllib", "http", "requests", "httpx", "signal", "os", "shutil", "psutil"}
PRETENDING = {"__eq__", "__lt__", "__array_ufunc__", "__array_function__", "AssertionError"}
HARMLESS = {"__init__", "__call__", "__name__", "__doc__", "__len__", "__getitem__"}
HARMLESS_MAGIC = re.compile(
    r"get_ipython\(\)\.(run_(line|cell)_magic\('(matplotlib|time|timeit|config|precision|pip)'"
    r"|system\('pip )"
)


def tree_of(cells):
    """The syntax trees of the cells that have one, as one module."""
    body = []
    for cell in cells:
        try:
            lines = TransformerManager().transform_cell(cell.source).splitlines()
            lines = ["pass" if HARMLESS_MAGIC.match(line) else line for line in lines]
            body += ast.parse("\n".join(lines)).body
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
    """{name: the dotted name of what an import binds to it}."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.split(".")[0]
                found[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def dotted(node):
    """'a.b.c' of an attribute of an attribute of a name; '?.c' if it is not one of a name."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id if isinstance(node, ast.Name) else "?", *reversed(parts)])


def locals_of(function):
    """The names that belong to a function alone: its arguments and what it assigns."""
    names = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    stored = (n for n in ast.walk(function) if isinstance(n, ast.Name))
    return names | {node.id for node in stored if isinstance(node.ctx, ast.Store)}


class Uses(ast.NodeVisitor):
    """The names that a statement uses, with imported ones in full."""

    def __init__(self, known):
        self.known, self.names, self.local = known, set(), set()

    def visit_FunctionDef(self, node):
        before = self.local
        self.local = before | locals_of(node)
        self.generic_visit(node)
        self.local = before

    def visit_Name(self, node):
        self.visit_Attribute(node)

    def visit_Attribute(self, node):
        first, _, rest = dotted(node).partition(".")
        first = "?" if first in self.local else first
        whole = self.known.get(first, first)
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


def unseen(tree):
    """Constructs that hide what the code uses; to set an attribute of a module is one too."""
    known = imports(tree)
    found = set()
    for name in uses(tree.body, known):
        first, *rest = name.split(".")
        if first in UNSEEN or UNSEEN_ATTRIBUTES & {*rest} or name == "?.getattr":
            found.add(name.removeprefix("?."))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            if isinstance(node.ctx, ast.Store) and dotted(node).split(".")[0] in known:
                found.add(f"{dotted(node)} = ...")
            if re.fullmatch(r"__\w+__", node.attr) and node.attr not in HARMLESS:
                found.add(node.attr)
    return sorted(found)


def student_code(cells):
    """The code cells that are the student's: answers and cells of their own."""
    code = [cell for cell in cells if cell.cell_type == "code"]
    return [cell for cell in code if not cell.metadata.get("nbgrader", {}).get("locked")]


def suspicious(cells):
    """What a human should look at: code that reaches around names, out of its folder or the net."""
    tree = tree_of(student_code(cells))
    found = [name for name in imports(tree).values() if name.split(".")[0] in OUTWARD]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and re.match(r"(/|~|\.\.)[\w./-]+", str(node.value)):
            found.append(repr(node.value))
        if isinstance(node, ast.ClassDef):  # one that pretends to be equal, or an error
            names = [node.name, *bindings(ast.Module(node.body, []))]
            found += [name for name in names if name in PRETENDING]
    return sorted({*found, *unseen(tree)})


def unchanging(test):
    """The functions of which a test says that they must not change their arguments."""
    return set(re.findall(r"^# (\w+) must not change its arguments?\.$", test, re.M))


def rules_of(test):
    """(functions, what they do without, exceptions) for each rule in the comments of a test."""
    found = []
    for block in re.findall(r"(?:^# .*\n?)+", test, re.M):
        match = RULE.match(" ".join(line.removeprefix("# ") for line in block.splitlines()))
        if match:
            words = [re.findall(r"[\w.]+", re.sub(r"\band\b", "", m or "")) for m in match.groups()]
            found.append(words)
    return found


def listed(words):
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def installed(module):
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def broken_rule(test, cells):
    """The sentence that says which rule of a test the cells before it break, or None."""
    own, known = tree_of(student_code(cells)), imports(tree_of(cells))
    binding, hidden = bindings(own), unseen(own)
    modules = {whole.split(".")[0] for whole in imports(own).values()}
    for functions, without, excepted in rules_of(test):
        for function in functions:
            said = f"{function} is to be written without {listed(without)}"
            names = reached(function, binding, known)
            for name in sorted(names, key=lambda name: (-name.count("."), name)):
                first, last = name.split(".")[0], name.split(".")[-1]
                banned = first in without or (first == "?" and last in without)
                if banned and last not in excepted and name != function:
                    return f"{said}; it uses {name.removeprefix('?.')}."
                if first in modules and not installed(first):
                    hidden = [*hidden, f"import {first}"]
            if hidden:
                return f"{said}. Nobody can see that it is: there is {', '.join(hidden)}."
    return None
