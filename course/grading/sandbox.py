"""What a sandbox shows to the code inside, and what it allows.

bubblewrap shows a read-only system, the Python environment, slnp_edu and an empty home. There's
nothing else: no network, no other process, no file of the grading. Root never runs students' code.
If root grades, a first bubblewrap steps down to `nobody`, who starts the second one.
"""

import functools
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from grading.absent import module_folder, places

INSIDE = Path(__file__).resolve().parent / "inside"
NOBODY = "65534"
HOME = "/home/student"
NEVER = "slnp_study"  # has answers in it, and no assignment needs it
NO_SANDBOX = """The sandbox doesn't start on this machine, so nobody was graded: {reason}
It takes Linux with bubblewrap (apt-get install bubblewrap, or dnf install bubblewrap) and user
namespaces. If you are root, grade as an ordinary user."""


class Refused(Exception):
    """The grading cannot go on; the message says why."""


@dataclass
class Limits:
    cell_seconds: float = 30  # of computing; as many of waiting, with nothing computed
    notebook_seconds: float = 180
    memory_bytes: int = 3_000_000_000
    processes: int = 64
    file_bytes: int = 100_000_000
    output_bytes: int = 500_000  # of a cell; the rest is cut off


def environment():
    """What the student's code finds in its environment; nothing of the teacher's."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.defpath])
    found = {"PATH": path, "PYTHONPATH": str(module_folder().parent), "HOME": HOME}
    found |= {"TMPDIR": f"{HOME}/tmp", "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    found |= {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    found |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return found | {name: os.environ[name] for name in ("OPENBLAS_CORETYPE",) if name in os.environ}


@functools.cache
def font_list():
    """matplotlib's list of fonts, if there is one: making a new one takes seconds."""
    import matplotlib

    return sorted(Path(matplotlib.get_cachedir()).glob("fontlist*.json"))[-1:]


def view(overlay, hidden):
    """The part of the file system that is shown, `overlay` on top; `hidden` folders never."""
    shown = [Path("/usr"), Path(sys.prefix), module_folder(), INSIDE]
    shown += [Path(sys.base_prefix, name) for name in ("bin", "lib")]  # Anaconda has more copies
    shown += [Path(p) for p in ("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts")]
    shown = sorted({*(p for p in shown + font_list() if p.exists()), *(p.resolve() for p in shown)})
    above = sorted({folder for path in shown for folder in path.parents[:-1]})
    command = []
    for folder in above:  # bubblewrap would make them for one user only
        command += ["--perms", "0755", "--dir", str(folder)]
    for link in ("/bin", "/lib", "/lib32", "/lib64", "/sbin"):
        plain = ["--ro-bind-try", link, link]
        command += ["--symlink", os.readlink(link), link] if os.path.islink(link) else plain
    for path in shown:
        command += ["--ro-bind-try", str(path), str(path)]
    for path in map(Path, (*hidden, *places(NEVER))):
        if any(path.is_relative_to(other) for other in shown):
            command += ["--tmpfs", str(path)]
    for source, place in overlay:
        if any(Path(place).is_relative_to(other) for other in shown):
            command += ["--ro-bind", source, place]
    return command


def bubblewrap(limits, overlay=(), hidden=()):
    """The command that starts a program in the sandbox; the program comes after it."""
    room = str(limits.file_bytes * 2)
    as_root = os.geteuid() == 0
    command = ["bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"]
    command += ["--new-session", "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000"]
    command += view(() if as_root else overlay, () if as_root else hidden)
    command += ["--hostname", "sandbox", "--proc", "/proc", "--dev", "/dev", "--size", room]
    command += ["--tmpfs", "/dev/shm", "--size", room, "--tmpfs", HOME, "--dir", f"{HOME}/tmp"]
    for path in font_list():
        command += ["--ro-bind", str(path), f"{HOME}/.cache/matplotlib/{path.name}"]
    if "/tmp" not in command:  # else something under it is shown, read-only
        command += ["--symlink", f"{HOME}/tmp", "/tmp"]
    for folder in ("/proc", "/dev", "/"):  # nothing of the system's is open for writing
        command += ["--remount-ro", folder]
    command += ["--chdir", HOME, "--"]
    return [*stepping_down(overlay, hidden), *command] if as_root else command


def stepping_down(overlay, hidden):
    """Root's own bubblewrap: it shows what nobody needs to start another, as nobody."""
    command = ["bwrap", "--die-with-parent", "--unshare-pid", *view(overlay, hidden)]
    command += ["--dir", "/tmp", "--bind", "/proc", "/proc", "--dev-bind", "/dev", "/dev"]
    command += ["--chdir", "/", "--", "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}"]
    return [*command, "--clear-groups", "--inh-caps=-all", "--"]


@functools.cache
def check_sandbox():
    """Start the sandbox once, with nothing of a student's; Refused says why it doesn't."""
    try:
        command = [*bubblewrap(Limits()), sys.executable, "-c", "import slnp_edu.steps"]
        done = subprocess.run(command, capture_output=True, text=True, env=environment())
    except OSError as problem:
        raise Refused(NO_SANDBOX.format(reason=problem)) from problem
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["it says nothing"]
        raise Refused(NO_SANDBOX.format(reason=lines[-1]))
