"""Mutants of the model solutions: small slips that a hidden test must notice.

Usage: python course/mutants.py [ASSIGNMENT ...]. One slip at a time: an operator, a comparison, a
constant, an order, a word such as min for max. Each mutant is judged like a submission. It must
lose points, or EQUAL says why it gives the same.
"""

import ast
import copy
import sys

import nbformat
from grading.course import judged
from grading.report import errors
from make_assignments import ASSIGNMENTS, names

SWAPS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
SWAPS |= {ast.MatMult: ast.Mult, ast.Gt: ast.Lt, ast.Lt: ast.GtE, ast.NotEq: ast.Eq}
SWAPS |= {ast.Eq: ast.NotEq, ast.Pow: ast.Mult}
WORDS = {"max": "min", "maximum": "minimum", "min": "max", "sum": "mean", "mean": "sum"}
WORDS |= {"cos": "sin", "sin": "cos", "argmin": "argmax", "argmax": "argmin", "zeros": "ones"}
WORDS |= {"concatenate": "array", "sort": "asarray", "degrees": "radians", "radians": "degrees"}
WORDS |= {"sqrt": "square", "square": "sqrt", "std": "var", "cumsum": "cumprod"}
EQUAL = {  # mutants that lose nothing, and why they need not
    "angles: (np.subtract(b, a), np.subtract(c, a)) -> (np.subtract(c, a), np.subtract(b, a))": (
        "b and c play the same part"
    ),
    "changes: np.delete(X, j, axis=0) - X[j] -> X[j] - np.delete(X, j, axis=0)": (
        "an axis has no arrow"
    ),
    "pairs: (i, j) -> (j, i)": "the sum runs over all i and all j, and the square has no sign",
    "unsafe: 1.0 -> 2.0": "any row of this form serves",
    "worst: 1.0 -> 2.0": "any row of this form serves",
    "rising: 0 -> 1": "J rises on the second part of the digits too",
    "w-step: X - X.mean(axis=0) -> X.mean(axis=0) - X": "X comes in twice",
    "avoiding: X - X.mean(axis=0) -> X.mean(axis=0) - X": "X comes in twice",
    "choice: np.mean -> np.sum": "every candidate has three folds",
}
PER_ANSWER = 5


def slips(node):
    """What one node of the tree may turn into."""
    if isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
        yield ast.BinOp(node.left, SWAPS[type(node.op)](), node.right)
        if isinstance(node.op, (ast.Sub, ast.Div)):
            yield ast.BinOp(node.right, node.op, node.left)  # an order
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield ast.Compare(node.left, [SWAPS[type(node.ops[0])]()], node.comparators)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield ast.Constant(node.value + 1)
    if isinstance(node, ast.Attribute) and node.attr in WORDS:
        yield ast.Attribute(node.value, WORDS[node.attr], node.ctx)
    if isinstance(node, ast.Tuple) and len(node.elts) == 2 and isinstance(node.ctx, ast.Load):
        yield ast.Tuple(node.elts[::-1], node.ctx)  # an order


class Slip(ast.NodeTransformer):
    """Put a new node in the place of one of a tree, by its number."""

    def __init__(self, place, new):
        self.left, self.new = place, new

    def visit(self, node):
        self.left -= 1
        return self.new if self.left < 0 <= self.left + 1 else self.generic_visit(node)


def preorder(node):
    yield node
    for child in ast.iter_child_nodes(node):
        yield from preorder(child)


def mutants(source):
    """{what changed: the changed code}, spread over the whole answer."""
    tree, found = ast.parse(source), {}
    for place, node in enumerate(preorder(tree)):
        for new in slips(node):
            changed = ast.unparse(Slip(place, new).visit(copy.deepcopy(tree)))
            found[f"{ast.unparse(node)} -> {ast.unparse(new)}"] = changed
    wanted = sorted(found)
    step = max(1, len(wanted) // PER_ANSWER)
    return {what: found[what] for what in wanted[::step][:PER_ANSWER]}


def survivors(name):
    """(number of mutants, those that lose no point though nobody says they're equal)."""
    path = ASSIGNMENTS / "source" / name / f"{name}.ipynb"
    source = nbformat.read(path, as_version=4)
    code, at = [], {}
    cells = [cell for cell in source.cells if cell.cell_type == "code"]
    for position, cell in enumerate(cells):
        if cell.metadata.nbgrader.solution:
            tests = tests_after(cells[position + 1 :])
            for what, text in mutants(cell.source).items():
                code += [cell | {"source": text}, *tests]
                at[f"{cell.metadata.nbgrader.grade_id}: {what}"] = range(
                    len(code) - len(tests), len(code)
                )
        if cell.metadata.nbgrader.grade_id != "run":  # slow, and nothing needs it
            code.append(cell)
    said = errors_of(name, code)
    lost = {what for what, tests in at.items() if any(said[n] for n in tests)}
    return len(at), sorted(set(at) - lost - set(EQUAL))


def errors_of(name, cells):
    """The errors of each cell of a notebook, judged without its table of what is absent."""
    cells = [nbformat.from_dict(cell | {"id": str(n)}) for n, cell in enumerate(cells)]
    job = {
        "notebook": nbformat.writes(nbformat.v4.new_notebook(cells=cells)),
        "source": (ASSIGNMENTS / "source" / name / f"{name}.ipynb").read_text(encoding="utf-8"),
        "student": "ann",
        "limits": {"cell_seconds": 60, "notebook_seconds": 900},
        "rows": [],
        "hidden": [],
    }
    return [errors({"outputs": nbformat.from_dict(o)}) for o in judged(job)["outputs"]]


def tests_after(cells):
    """The tests of an answer: those before the next answer."""
    tests = []
    for cell in cells:
        if cell.metadata.nbgrader.solution:
            break
        tests += [cell] if cell.metadata.nbgrader.grade else []
    return tests


def main(wanted):
    failed = 0
    for name in wanted or names(ASSIGNMENTS):
        count, left = survivors(name)
        print(f"{name}: {count} mutants, {len(left)} keep all points")
        print(*(f"  {what}" for what in left), sep="\n")
        failed += len(left)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
