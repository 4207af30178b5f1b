"""Forbidden means absent: no code leads to what isn't there, and honest code doesn't notice."""

import os

import nbformat
import psutil
import pytest
import tiny
from grading.absent import make_overlay, read_table, sliced
from grading.course import judged
from grading.run import Sandbox
from grading.sandbox import Limits

PATH = tiny.ROOT / "course" / "assignments" / "source" / "a1-neighbours" / "a1-neighbours.ipynb"
TESTS = ["test-neighbours", "test-distances", "test-ties"]
SENTENCE = "isn't available in this question: write your own."
CALL = "\ndef nearest(Y, y, K):\n    return {}(Y, y, K)"
# What once got full points.
NINETEEN = {
    "import as": "from slnp_edu.steps import neighbours as nearest",
    "box": "box = {}\nbox['n'] = neighbours" + CALL.format("box['n']"),
    "attribute": CALL.format("nearest.f") + "\nnearest.f = neighbours",
    "decoy": "nearest = neighbours\n1 / 0\ndef nearest(Y, y, K):\n    return None",
    "globals": CALL.format("getattr(nearest, '__glo' + 'bals__')['neigh' + 'bours']"),
    "generator": (
        "def g():\n    yield\nspace = g().gi_frame.f_globals" + CALL.format("space['neighbours']")
    ),
    "formatter": (
        "import string"
        + CALL.format("string.Formatter().get_field('0.__globals__[neighbours]', [nearest], {})[0]")
    ),
    "exit": CALL.format("exit._ip.user_ns['neighbours']"),
    "underscore": "neighbours\n_ = get_ipython().ev('neighbours')" + CALL.format("_"),
    "magic text": "'''\n%time nearest = neighbours\n'''\nnearest = neighbours",
    "magic line": "%time 1\n%time nearest = neighbours; 1",
    "config": "%config InteractiveShell.x = (exec('nearest = neighbours'), 1)[1]",
    "match": "match neighbours:\n    case found:\n        pass" + CALL.format("found"),
    "global": "def f():\n    global nearest\n    nearest = neighbours\nf()",
    "long sum": "x = " + " + ".join(["1"] * 500) + "\nnearest = neighbours",
    "eval": CALL.format("eval('neigh' + 'bours')"),
    "partial": "from functools import partial\nnearest = partial(neighbours)",
    "module": "from slnp_edu import steps as tools" + CALL.format("tools.neighbours"),
    "star": "from slnp_edu.steps import *\nnearest = neighbours",
}
PLAIN = """
    squared = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)
    squared[y[:, None] != y] = np.inf
    np.fill_diagonal(squared, np.inf)
    indices = np.argsort(squared, axis=1, kind="stable")[:, :K]
    return indices, np.take_along_axis(squared, indices, axis=1)
"""
CALLS = "{}\ndef nearest(Y, y, K):\n    {}" + PLAIN  # it would be right
FIND = (
    "import glob, sys\nfor place in sys.path:\n"
    "    for path in glob.glob(f'{place}/slnp_edu/st*.py'):\n        exec(open(path).read())\n"
)
OTHERS = {
    "search": "from slnp_edu.search import Search" + CALL.format("Search()"),
    "pickle": "import pickle\nnearest = pickle.loads(b'cslnp_edu.steps\\nneighbours\\n.')",
    "file": (
        "import slnp_edu.steps\nexec(open(slnp_edu.steps.__file__).read())\nnearest = neighbours"
    ),
    "source": "import inspect\nexec(inspect.getsource(neighbours))\nnearest = neighbours",
    "other copy": FIND + "nearest = neighbours",
    "compiled": (
        "import glob, slnp_edu, importlib.machinery as m\n"
        "for path in glob.glob(f'{slnp_edu.__path__[0]}/**/steps*.pyc', recursive=True):\n"
        "    nearest = m.SourcelessFileLoader('steps', path).load_module().neighbours\n"
    ),
    "objects": (
        "import gc\nnearest = [o for o in gc.get_objects() if callable(o)\n"
        "    and getattr(o, '__name__', '') == 'neighbours' and hasattr(o, '__code__')][0]"
    ),
    "unmount": (
        'import subprocess\nsubprocess.run(\'umount -l $(grep slnp_edu /proc/mounts | cut -d" " '
        "-f2)', shell=True)\nimport sys\nfor name in [n for n in sys.modules if 'slnp' in n]:\n"
        "    del sys.modules[name]\nfrom slnp_edu.steps import neighbours as nearest"
    ),
    "argmin": CALLS.format("from sklearn.metrics import pairwise_distances_argmin as a", "a(Y, Y)"),
    "ArgKmin": CALLS.format(
        "from sklearn.metrics._pairwise_distances_reduction import ArgKmin",
        "ArgKmin.compute(Y, Y, 1)",
    ),
    "tree": CALLS.format("from scipy.spatial import cKDTree", "cKDTree(Y)"),
    "compiled tree": CALLS.format("from scipy.spatial._ckdtree import cKDTree", "cKDTree(Y)"),
    "neighbours": CALLS.format("from sklearn.neighbors import NearestNeighbors as N", "N().fit(Y)"),
    "study": "import slnp_study.protocol as p\nnearest = p.SLNP",
}
# These end before a stub is called.
SILENT = {"objects", "config", "study", "source", "compiled", "ArgKmin"}
HONEST = {
    "other imports": "from slnp_edu import SLNP, LFDA\nfrom slnp_edu.steps import w_step, s_step\n"
    "from slnp_edu.toy import make_toy\nfrom sklearn.neighbors import KDTree\n"
    "from sklearn.decomposition import PCA\nimport slnp_edu.search\nfish = make_toy('points')\n"
    "class Mine(SLNP):\n    pass\n"
    f"def nearest(Y, y, K):{PLAIN}",
    "helpers": f"def helper(Y, y, K):{PLAIN}\ndef nearest(Y, y, K):\n    return helper(Y, y, K)",
    "class": f"class Finder:\n  def __call__(self, Y, y, K):{PLAIN}\nnearest = Finder()",
    "lambda": f"def helper(Y, y, K):{PLAIN}\nnearest = lambda Y, y, K: helper(Y, y, K)",
    "types": f"def nearest(Y: np.ndarray, y: np.ndarray, K: int) -> tuple:{PLAIN}",
    "walrus": "def nearest(Y, y, K):\n    from scipy.spatial.distance import cdist\n"
    "    (d := cdist(Y, Y, 'sqeuclidean'))[y[:, None] != y] = np.inf\n"
    "    np.fill_diagonal(d, np.inf)\n"
    "    return (i := np.argsort(d, axis=1, kind='stable')[:, :K]), np.take_along_axis(d, i, 1)",
    "recursive": "def least(row, K):\n    if K == 0:\n        return []\n"
    "    first = int(np.argmin(row))\n    rest = row.copy()\n    rest[first] = np.inf\n"
    "    return [first, *least(rest, K - 1)]\n"
    "def nearest(Y, y, K):\n    d = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)\n"
    "    d[y[:, None] != y] = np.inf\n    np.fill_diagonal(d, np.inf)\n"
    "    i = np.array([least(row, K) for row in d])\n    return i, np.take_along_axis(d, i, 1)",
    "compares": f"def nearest(Y, y, K):{PLAIN}\nneighbours([[0.0], [1.0]], [0, 0], 1)",
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """The table of assignment 1, with its overlay made."""
    found = read_table(PATH.with_name("absent.toml"))
    folder = tmp_path_factory.mktemp("absent")
    return [row | {"overlay": make_overlay(row, folder / str(n))} for n, row in enumerate(found)]


def said_to(answer, rows):
    """What each test of `nearest` says to an answer; None where it's passed."""
    source = nbformat.read(PATH, as_version=4)
    cells = [tiny.part(source, name) for name in ["imports", "nearest", *TESTS]]
    cells[1].source = answer
    job = {"notebook": nbformat.writes(nbformat.v4.new_notebook(cells=cells))}
    job |= {"source": PATH.read_text("utf-8"), "student": "eve", "hidden": [], "rows": rows}
    outputs = judged(job | {"limits": {}})["outputs"][2:]
    return [texts[0]["evalue"] if texts else None for texts in outputs]


@pytest.mark.course
@pytest.mark.parametrize("kind", [*NINETEEN, *OTHERS])
def test_no_way_leads_to_what_is_absent(rows, kind):
    said = said_to((NINETEEN | OTHERS)[kind], rows)
    assert None not in said
    assert SENTENCE in " ".join(said) or kind in SILENT, said


@pytest.mark.parametrize("kind", HONEST)
def test_honest_code_keeps_its_points(rows, kind):
    assert said_to(HONEST[kind], rows) == [None] * 3


def test_what_is_there_is_what_it_calls():
    text = "import numpy as np\nA = 1\ndef f():\n    return g() + A\ndef g(): pass\ndef h(): pass"
    kept = sliced(text, ["f"])
    assert "def g" in kept
    assert "A = 1" in kept
    assert "def h" not in kept
    assert "import" not in kept


LOOK = """
import os
found = []
for root in ("/proc", "/sys"):
    for folder, _, files in os.walk(root):
        if not folder.endswith("/fd"):  # those are its own, open already
            for name in files:
                try:
                    os.close(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_NONBLOCK))
                    found.append(os.path.join(folder, name))
                except OSError:
                    pass
print(found, os.path.exists("/proc/sys/kernel/core_pattern"))
"""
FORKS = """
import os, time
made = []
try:
    for _ in range(500):
        made.append(os.fork())
        if made[-1] == 0:
            time.sleep(60)
            os._exit(0)
except OSError:
    print(len(made))
for pid in made:
    os.kill(pid, 9)
"""
LATER = """
import os, time
if any(os.fork() == 0 for _ in range(8)):
    time.sleep(1)
    hoard = bytearray(b"x") * 10**8
    time.sleep(999)
"""


@pytest.fixture
def sandbox():
    found = Sandbox(Limits(), hidden=[str(tiny.ROOT / "course" / "assignments")])
    yield found
    found.close()


def shown(sandbox, code):
    return sandbox.ask({"run": code}, 30)["outputs"][0]["text"]


def test_nothing_of_the_system_opens_for_writing(sandbox):
    assert shown(sandbox, LOOK) == "[] True\n"


def test_root_never_runs_students_code(sandbox):
    shown(sandbox, "print()")
    inside = psutil.Process(sandbox.process.pid).children(recursive=True)[-1]
    assert "desk.py" in " ".join(inside.cmdline())
    assert 0 not in inside.uids()
    assert os.geteuid() == 0 or inside.uids().real == os.geteuid()


def test_the_number_of_processes_is_bound(sandbox):
    assert int(shown(sandbox, FORKS)) < Limits().processes


def test_memory_is_bound_while_nobody_asks():
    found = Sandbox(Limits(memory_bytes=500_000_000))
    found.ask({"run": LATER}, 30)
    assert found.process.wait(300)
    assert found.reason == "ran out of memory"
    found.close()


def test_the_sandbox_sees_nothing_of_the_grading(sandbox):
    look = "import os, sys, glob\nprint(len([p for p in os.listdir('/proc') if p.isdigit()]))\n"
    look += f"print(glob.glob('{tiny.ROOT}/*'), glob.glob('{tiny.ROOT}/course/grading/*'))\n"
    look += "study = [p for h in sys.path for p in glob.glob(h + '/slnp_study/*')]\n"
    look += "print(study, sorted(os.environ))"
    processes, folders, rest = shown(sandbox, look).splitlines()
    assert int(processes) <= 3
    roots, grading = eval(folders.replace("] [", "], ["))
    assert {os.path.basename(path) for path in roots} <= {"slnp_edu", ".venv", "course"}
    assert [os.path.basename(path) for path in grading] == ["inside"]
    assert rest.startswith("[]")
    assert "SLNP_EDU" not in rest
