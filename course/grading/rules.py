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

from grading.names import bindings, dotted, imports, reached, tree_of, uses

RULE = re.compile(r"(.+?) (?:is|are) to be written without (.+?)(?:, except (.+?))?\.$")
# Ways to use something without naming it: as names of their own, and as attributes.
CALLED = {"exec", "eval", "compile", "globals", "locals", "vars", "setattr", "delattr"}
CALLED |= {"__import__", "__builtins__", "__main__", "get_ipython", "breakpoint"}
UNSEEN = {
    *("importlib", "inspect", "gc", "ctypes", "pickle", "marshal", "builtins", "runpy", "pkgutil"),
    *("attrgetter", "methodcaller", "subprocess", "_getframe", "modules", "meta_path"),
    *("path_hooks", "settrace", "setprofile", "displayhook", "get_type_hints", "import_module"),
    *("system", "popen", "fork", "execv", "posix_spawn", "spawnv"),
}
UNPICKLING = ("numpy.load", "numpy.lib.format", "numpy.lib.npyio", "sys.path")  # or importing
# Modules of which it can be seen what they do with an answer; a star may stand for the first.
STARRED = {"numpy", "scipy", "math", "cmath", "matplotlib", "itertools", "pylab"}
PLAIN = STARRED | {
    *("slnp_edu", "sklearn", "pandas", "seaborn", "tqdm", "functools", "collections", "operator"),
    *("random", "statistics", "heapq", "bisect", "time", "datetime", "copy", "fractions", "array"),
    *("decimal", "numbers", "typing", "dataclasses", "abc", "enum", "string", "re", "textwrap"),
    *("warnings", "contextlib", "pprint", "os", "sys", "pathlib", "platform", "__future__"),
}
OUTWARD = {"socket", "urllib", "http", "requests", "httpx", "signal", "os", "shutil", "psutil"}
WRITING = {"open", "write_text", "write_bytes", "tofile", "memmap", "save", "savez", "savetxt"}
PRETENDING = {"__eq__", "__lt__", "__array_ufunc__", "__array_function__", "AssertionError"}
HARMLESS = {"__init__", "__call__", "__name__", "__doc__", "__len__", "__getitem__"}


def hides(name):
    """Whether a dotted name stands for something that can call what nobody sees."""
    first, *rest = name.split(".")
    private = any(re.match(r"_[^_]", part) for part in rest) and first in PLAIN
    unpickles = any(f"{name}.".startswith(f"{other}.") for other in UNPICKLING)
    return first in CALLED or bool(UNSEEN & {first, *rest}) or private or unpickles


def opaque(module):
    """Whether an imported module is installed, but not one that is known to be plain."""
    first = module.split(".")[0]
    return first not in PLAIN and not module.startswith("IPython.display") and installed(first)


def unseen(tree, known):
    """Constructs that hide what the code uses; to set an attribute of a module is one too."""
    whole = {name for names in imports(tree).values() for name in names}
    starred = {name.removesuffix(".*") for name in whole if name.endswith(".*")}
    names = uses(tree.body, known)
    names |= {f"{module}.{name}" for module in starred for name in names}
    found = {name.removeprefix("?.") for name in names if name == "?.getattr" or hides(name)}
    found |= {f"import {name}" for name in whole if opaque(name) and not hides(name)}
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
    """What a human should look at: code that reaches around names, writes, or reaches outside."""
    tree, known = tree_of(student_code(cells)), imports(tree_of(cells))
    whole = {name for names in imports(tree).values() for name in names}
    found = [name for name in whole if name.split(".")[0] in OUTWARD]
    found += [name for name in uses(tree.body, known) if name.split(".")[-1] in WRITING]
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and re.match(r"(/|~|\.\.)[\w./-]+", text):
            found.append(repr(text))
        if isinstance(node, ast.ClassDef):  # one that pretends to be equal, or an error
            names = [node.name, *bindings(ast.Module(node.body, []))]
            found += [name for name in names if name in PRETENDING]
    return sorted({*(name.removeprefix("?.") for name in found), *unseen(tree, known)})


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


def from_stars(names, known, without):
    """Names that a star brings in from a module which a rule names."""
    for module in (name.removesuffix(".*") for name in known.get("*", ())):
        if module.split(".")[0] in without and installed(module):
            there = dir(importlib.import_module(module))
            yield from (f"{module}.{name}" for name in names if name in there)


def broken_rule(test, cells):
    """The sentence that says which rule of a test the cells before it break, or None."""
    own, known = tree_of(student_code(cells)), imports(tree_of(cells))
    binding, hidden = bindings(own), unseen(own, known)
    modules = {name.split(".")[0] for names in imports(own).values() for name in names}
    for functions, without, excepted in rules_of(test):
        for function in functions:
            said = f"{function} is to be written without {listed(without)}"
            names = reached(function, binding, known)
            names |= set(from_stars(names, known, without))
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
