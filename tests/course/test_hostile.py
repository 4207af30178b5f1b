"""Attacks on the grading. Every one must end with the points of an honest run, or fewer.

`make course` runs this. The attacks touch only folders and processes that the tests make.
"""

import contextlib
import ctypes
import hashlib
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import tiny
from nbformat.v4 import new_code_cell, new_markdown_cell
from tiny import DOUBLE, HALF, NAME, WRONG, grade, hand_in, make_course, part, rows, solved

pytestmark = pytest.mark.course
SECRET = "the teacher's secret 4711"
SLEEP = "98761"  # seconds; no other process on the machine waits for just so long

FORGE = """
import json, os
for fd in range(3, 64):
    for _ in range(50):
        try:
            os.write(fd, json.dumps({"value": 4, "changed": False}).encode() + b"\\n")
        except OSError:
            break
"""
DEEP = """
def double(x):
    deep = []
    for _ in range(5000):
        deep = [deep]
    return deep
"""
# name: code in front of a wrong answer; each must get (0, 2), and half is answered rightly.
ATTACKS = {
    # the ones that once gave full points
    "equal-to-all": (
        "class Yes(float):\n"
        "    __eq__ = __lt__ = __le__ = __gt__ = lambda *_: True\n"
        "    __sub__ = __rsub__ = __abs__ = lambda self, *_: self\n"
        "def double(x):\n    return Yes(4)"
    ),
    "changes-arguments": (
        "def double(x):\n"
        "    if np.ndim(x):\n        x[:] = 0\n        return x\n"
        "    return 4 if x == 2 else 20"
    ),
    "forged-replies": FORGE + WRONG,
    "forged-codec": (
        "import sys\nsys.modules['plain'].encode = lambda *a, **k: {'tuple': [True] * 5}\n" + WRONG
    ),
    "huge-reply": "def double(x):\n    return np.zeros(10**8)",
    "deep-reply": DEEP,
    "nan": "def double(x):\n    return np.nan if np.ndim(x) == 0 else np.full(len(x), np.nan)",
    "writes-outside": (
        "import os, pathlib\n"
        "for place in ('FOLDER', 'ROOT', '/usr', '/etc', '/grading', '/'):\n"
        "    try:\n"
        "        (pathlib.Path(place) / 'planted').write_text('x')\n"
        "        print('WROTE', place)\n"
        "    except OSError:\n"
        "        pass\n" + WRONG
    ),
    "new-namespace": (
        "import subprocess\n"
        "done = subprocess.run(['unshare', '-Urm', 'mount', '-t', 'tmpfs', 'x', '/usr'])\n"
        "print('MOUNTED' if done.returncode == 0 else 'refused')\n" + WRONG
    ),
    "network": (
        "import socket\n"
        "s = socket.socket()\n"
        "s.settimeout(2)\n"
        "try:\n"
        "    s.connect(('127.0.0.1', PORT))\n"
        "    print('CONNECTED')\n"
        "except OSError:\n"
        "    pass\n" + WRONG
    ),
    "leaves-processes": (
        "import subprocess\n"
        f"for _ in range(5):\n    subprocess.Popen(['sleep', '{SLEEP}'], start_new_session=True)\n"
        + WRONG
    ),
    "writes-much": (
        "for n in range(100):\n"
        "    try:\n"
        "        open(f'big{n}', 'wb').write(bytes(50_000_000))\n"
        "    except OSError:\n"
        "        break\n"
        "print('BOUND' if n < 99 else 'NO BOUND')\n" + WRONG
    ),
    "leaves-a-key": (
        "import ctypes\n"
        "ctypes.CDLL(None).syscall(248, b'user', b'slnp-planted', b'x', ctypes.c_size_t(1), -3)\n"
        + WRONG
    ),
    "raises-limits": (
        "import resource, signal\n"
        "for what in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE):\n"
        "    try:\n"
        "        resource.setrlimit(what, (-1, -1))\n"
        "        print('RAISED', what)\n"
        "    except (ValueError, OSError):\n"
        "        pass\n" + WRONG
    ),
}
# name: (code, what the status says): these end their own run, so only what came before counts.
ENDING = {
    "fork-bomb": (
        f"import os, time\nwhile True:\n    if os.fork() == 0:\n        time.sleep({SLEEP})\n",
        "",
    ),
    "switches-the-timer-off": (
        "import signal\nsignal.signal(signal.SIGPROF, signal.SIG_IGN)\nwhile True:\n    pass\n",
        "could not be interrupted",
    ),
    "computes-in-children": (
        "import subprocess, sys, time\n"
        "children = [subprocess.Popen([sys.executable, '-c', 'while True: pass'])\n"
        "            for _ in range(3)]\ntime.sleep(999)\n",
        "",
    ),
    "forgets-its-children": (
        "import signal, subprocess, sys\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "while True:\n    subprocess.run([sys.executable, '-c', 'sum(range(3 * 10**7))'])\n",
        "could not be interrupted",
    ),
    "memory-in-children": (
        "import os, time\n"
        "for _ in range(9):\n"
        "    if os.fork() == 0:\n"
        "        hoard = [bytearray(b'x') * 10**8 for _ in range(6)]\n"
        "        time.sleep(999)\n"
        "time.sleep(999)\n",
        "",
    ),
    "stops-itself": (
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n",
        "waited for more than 6 s",
    ),
    "only-stirs": (  # computes a little whenever it might be taken for asleep
        "import time\n"
        "while True:\n"
        "    time.sleep(1)\n"
        "    start = time.process_time()\n"
        "    while time.process_time() < start + 0.02:\n"
        "        pass\n",
        "waited for more than 6 s",
    ),
}
HOSTILE_TEXT = """
<img src=x onerror="fetch('/api/contents/planted.txt', {method: 'PUT', body: '{}'})">
<script>window.ran = true</script> <svg onload="window.ran = true"></svg>
[click](javascript:window.ran=true) ![](http://127.0.0.1:PORT/seen.png)
<iframe src="file:///etc/passwd"></iframe> <style>@import 'http://127.0.0.1:PORT/style.css';</style>
"""
# The converter of formulas lets tags in a text pass; Markdown does not see them in a formula.
HOSTILE_FORMULA = (
    "$\\text{<meta/http-equiv=refresh/content=0;url=http://127.0.0.1:PORT/>}$ and "
    "$\\text{<img/src=x/onerror=window.ran=true>}$"
)
HOSTILE_OUTPUT = f"""
from IPython.display import HTML, SVG, Javascript, Markdown, display
display(HTML({HOSTILE_TEXT!r}), Javascript("window.ran = true"), Markdown({HOSTILE_TEXT!r}))
display({{"image/svg+xml": "<svg onload='window.ran = true'/>", "text/plain": "x"}}, raw=True)
print("\\x1b]0;title\\x07\\x1b[31mred")
raise ValueError("<img src=x onerror='window.ran = true'>\\x1b[2J")
"""


def snapshot(*folders):
    """{file: digest} of everything in some folders, {file: size and date} of what is installed."""
    found = {}
    for folder in folders:
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    for path in Path(sys.prefix).rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            found[str(path)] = (path.stat().st_size, path.stat().st_mtime_ns)
    return found


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


@pytest.fixture(scope="module")
def listener():
    """A port on which anything that gets out of the sandbox or off a page would arrive."""
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(50)
    server.settimeout(0.2)
    yield server
    server.close()


@pytest.fixture(scope="module")
def attacked(tmp_path_factory, listener):
    """All attacks handed in at once, beside honest work, graded once."""
    folder = tmp_path_factory.mktemp("hostile")
    make_course(folder, tiny.source())
    release = tiny.student_version(folder)
    port = listener.getsockname()[1]

    def filled(code):
        places = {"PORT": port, "FOLDER": folder / "submissions" / "honest", "ROOT": tiny.ROOT}
        for word, value in places.items():
            code = code.replace(word, str(value))
        return code

    for name, code in ATTACKS.items():
        hand_in(folder, name, solved(release, double=filled(code)))
    for name, (code, _) in ENDING.items():
        hand_in(folder, name, solved(release, half=code + HALF))
    hand_in(folder, "honest", solved(release))
    shown = solved(release, why=filled(HOSTILE_TEXT))
    part(shown, "half").source = filled(HOSTILE_OUTPUT)
    shown.cells.append(new_markdown_cell(filled(HOSTILE_TEXT)))
    shown.cells.append(new_markdown_cell(filled(HOSTILE_FORMULA)))
    shown.cells.append(new_markdown_cell("[" * 1_000_000))  # a parser's quadratic nightmare
    shown.cells.append(new_code_cell("# <img src=x onerror='window.ran = true'>"))
    part(shown, "why").metadata.nbgrader.comment = "<script>window.ran = true</script>"
    hand_in(folder, "page", shown)
    odd = "<img src=x onerror=alert(1)>\x1b[31m"
    hand_in(folder, odd, solved(release))
    roots = [tiny.ROOT / name for name in ("course", "tools", "slnp_edu", "slnp_study", "tests")]
    before = snapshot(*roots, folder / "course", folder / "submissions")
    done = grade(folder, "--no-rehearsal", env=os.environ | {"SECRET": SECRET})
    assert done.returncode == 0, done.stderr
    after = snapshot(*roots, folder / "course", folder / "submissions")
    changed = sorted(path for path, _ in before.items() ^ after.items())
    return folder, done, changed


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_gets_no_point_for_a_wrong_answer(attacked, name):
    row = rows(attacked[0])[name]
    double, half = tiny.points(row)
    assert double == 0, row["status"]
    assert half in (0, 2)
    page = tiny.page(attacked[0], name)
    assert SECRET not in page
    for word in ("WROTE", "MOUNTED", "CONNECTED", "NO BOUND", "RAISED"):
        assert f"<pre>{word}" not in page, word


@pytest.mark.parametrize("name", ENDING)
def test_a_run_that_ends_itself_keeps_what_came_before(attacked, name):
    row = rows(attacked[0])[name]
    assert tiny.points(row) == (3, 0), row["status"]
    assert ENDING[name][1] in row["status"]
    assert row["status"] != "graded" or name == "fork-bomb"  # an error, if the bound comes first


def test_honest_work_beside_the_attacks_keeps_its_points(attacked):
    assert tiny.points(rows(attacked[0])["honest"]) == (3, 2)
    assert rows(attacked[0])["honest"]["status"] == "graded"


def test_nothing_outside_was_read_or_changed(attacked, listener):
    assert not attacked[2], "a file of the course, tools, module, environment or a submission"
    planted = list(attacked[0].rglob("planted*"))  # what lies in the project didn't change
    planted += [p for p in (tiny.ROOT, Path("/usr"), Path("/etc")) if (p / "planted").exists()]
    assert not planted
    for path in (attacked[0] / "out").rglob("*.html"):
        assert SECRET not in path.read_text("utf-8")
    with pytest.raises(TimeoutError):
        listener.accept()
    assert ctypes.CDLL(None).syscall(249, b"user", b"slnp-planted", None, 0) == -1  # no such key


def test_nothing_is_left_running(attacked):
    lines = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            lines.append(process.cmdline())
    assert not [line for line in lines if SLEEP in line]


def eventually(find, seconds=300):
    """What a function returns as soon as that is true, or what it returns at last."""
    end = time.monotonic() + seconds
    while not (found := find()) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def below(process, word):
    """The processes under one whose command line has a word."""
    found = []
    with contextlib.suppress(psutil.Error):
        for child in process.children(recursive=True):
            with contextlib.suppress(psutil.Error):
                found += [child] if word in " ".join(child.cmdline()) else []
    return found


def kill_while_computing(folder, victim):
    """Kill a process of a grading that is at work; return what it had started, and the grading."""
    make_course(folder, tiny.source())
    hand_in(folder, "spins", solved(tiny.student_version(folder), half="while True:\n    pass"))
    command = tiny.command_for(folder, "--no-rehearsal", "--cell-seconds", "120")
    out = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    grading = subprocess.Popen([*command, "--notebook-seconds", "300"], text=True, **out)
    first = psutil.Process(grading.pid)
    assert eventually(lambda: [p for p in below(first, "desk.py") if sum(p.cpu_times()[:2]) > 4])
    started = first.children(recursive=True)
    assert len(started) > 2  # a judge, bubblewrap, the desk
    (below(first, victim)[0] if victim else grading).kill()
    return started, grading


@pytest.mark.parametrize("victim", [None, "grading.judge"])
def test_nothing_is_left_running_when_the_grading_or_a_judge_is_killed(tmp_path, victim):
    started, grading = kill_while_computing(tmp_path, victim)
    ended = eventually(lambda: not [p for p in started if p.is_running()], 60)
    left = [process for process in started if process.is_running()]
    for process in left:
        process.kill()
    _, said = grading.communicate(timeout=200)
    assert ended, left
    if victim:  # the others would go on
        assert grading.returncode == 0, said
        assert "NOT GRADED" in rows(tmp_path)["spins"]["status"]


def test_no_escape_sequence_reaches_the_terminal_or_a_table(attacked):
    folder, done, _ = attacked
    texts = [done.stdout, *(p.read_text("utf-8") for p in (folder / "out").glob("*.[ct][sx][vt]"))]
    assert all("\x1b" not in text and "\x07" not in text for text in texts)
    assert not [path for path in (folder / "out" / "submitted").iterdir() if "<" in path.name]


def test_a_page_holds_text_alone(attacked):
    """The student's page, and Formgrader's view of the same notebook as nbconvert makes it."""
    from nbconvert import HTMLExporter

    page = tiny.page(attacked[0], "page")
    assert "&lt; script&gt;window.ran" in page
    path = attacked[0] / "out" / "autograded" / "page" / NAME / f"{NAME}.ipynb"
    shown = HTMLExporter(template_name="basic").from_filename(str(path))[0]
    for text in (page, shown):
        tags = re.findall(r"<(?:script|img|svg|iframe|meta)[^>]*", text)
        assert not [tag for tag in tags if "ran" in tag or "127.0.0.1" in tag or "passwd" in tag]
        assert 'href="javascript' not in text


# ------------------------------------------------------------------ a busy machine


def test_a_busy_machine_takes_no_points(tmp_path):
    make_course(tmp_path, tiny.source())
    release = tiny.student_version(tmp_path)
    work = "total = sum(i * i for i in range(8_000_000))\n"  # a second or two of computing
    hand_in(tmp_path, "ann", solved(release, double=work + DOUBLE, half=work + HALF))
    spin = [sys.executable, "-c", "while True: pass"]
    burners = [subprocess.Popen(spin) for _ in range(20)]
    try:
        done = grade(tmp_path)
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    assert done.returncode == 0, done.stderr
    assert tiny.points(rows(tmp_path)["ann"]) == (3, 2)
