"""What a sandbox shows to the code inside, and what it allows.

bubblewrap shows a read-only system, the Python environment and the course's module, an empty home,
and nothing else: no network, no process of others, no file of the grading. podman or docker do the
same with the image of the repository's Containerfile.
"""

import functools
import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

INSIDE = Path(__file__).resolve().parent / "inside"
IMAGE = "slnp-grading"
PACKAGES = ("slnp_edu", "slnp_study")  # what the assignments import, wherever it lies


@dataclass
class Limits:
    cell_seconds: float = 30  # of computing, as all seconds here but the last
    notebook_seconds: float = 180
    memory_bytes: int = 3_000_000_000
    processes: int = 64
    file_bytes: int = 100_000_000
    output_bytes: int = 2_000_000
    idle_seconds: float = 30  # of waiting, with nothing computed


def bubblewrap_works():
    """Whether bubblewrap is here and may make namespaces."""
    if not shutil.which("bwrap"):
        return False
    everything = ["--unshare-all", "--ro-bind", "/", "/", "--", "true"]
    return subprocess.run(["bwrap", *everything], capture_output=True).returncode == 0


@functools.cache
def newer_bubblewrap():
    """Whether bubblewrap is of version 0.8 or later."""
    done = subprocess.run(["bwrap", "--help"], capture_output=True, text=True)
    return "--disable-userns" in done.stdout + done.stderr


def choose():
    """The sandbox of this machine: bubblewrap, podman, docker, or None."""
    if bubblewrap_works():
        return "bubblewrap"
    for tool in ("podman", "docker"):
        if shutil.which(tool):
            done = subprocess.run([tool, "image", "inspect", IMAGE], capture_output=True)
            if done.returncode == 0:
                return tool
    return None


def module_folders():
    """Where the course's packages lie, if not in the environment itself."""
    specs = filter(None, map(importlib.util.find_spec, PACKAGES))
    return [Path(f).resolve() for spec in specs for f in spec.submodule_search_locations]


def environment(home):
    """What the student's code finds in its environment; nothing of the teacher's."""
    paths = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    paths = [os.path.abspath(p) for p in paths if Path(p).resolve() != INSIDE.parent.parent]
    return {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.defpath]),
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": home,
        "TMPDIR": f"{home}/tmp",
        "IPYTHONDIR": f"{home}/tmp/ipython",
        "MPLCONFIGDIR": f"{home}/tmp/matplotlib",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    } | {name: os.environ[name] for name in ("OPENBLAS_CORETYPE",) if name in os.environ}


def font_list():
    """matplotlib's list of fonts, if there is one: making it anew takes seconds."""
    import matplotlib

    return sorted(Path(matplotlib.get_cachedir()).glob("fontlist*.json"))[-1:]


def bubblewrap(limits, hidden):
    """The command that shows only what is named here; `hidden` folders never, wherever they lie."""
    room = str(limits.file_bytes * 2)
    shown = [Path("/usr"), Path(sys.prefix), Path(sys.base_prefix), *module_folders()]
    shown += [Path(p) for p in ("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts")]
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    command += ["--unshare-user", "--uid", "1000", "--gid", "1000", "--hostname", "sandbox"]
    command += ["--disable-userns"] if newer_bubblewrap() else []  # no sandbox in the sandbox
    for link in ("/bin", "/lib", "/lib32", "/lib64", "/sbin"):
        if os.path.islink(link):
            command += ["--symlink", os.readlink(link), link]
        elif os.path.isdir(link):
            command += ["--ro-bind", link, link]
    shown = sorted({*shown, *(path.resolve() for path in shown)})
    for path in shown:
        command += ["--ro-bind-try", str(path), str(path)]
    for path in map(Path, hidden):
        if any(path.is_relative_to(other) for other in shown if path != other):
            command += ["--tmpfs", str(path)]
    command += ["--proc", "/proc", "--dev", "/dev", "--size", room, "--tmpfs", "/dev/shm"]
    command += ["--size", room, "--tmpfs", "/home/student", "--dir", "/home/student/tmp"]
    for path in font_list():
        command += ["--ro-bind", str(path), f"/home/student/tmp/matplotlib/{path.name}"]
    if not any(path.is_relative_to("/tmp") for path in shown):  # else it is there, read-only
        command += ["--symlink", "/home/student/tmp", "/tmp"]
    command += ["--ro-bind", str(INSIDE), "/grading"]
    command += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/home/student", "--"]
    return [*command, sys.executable, "/grading/desk.py"]


def container(tool, name, limits):
    """The same with the image that the Containerfile gives."""
    inherited = ("PATH", "PYTHONPATH")
    variables = environment("/home/student").items()
    return [
        *(tool, "run", "--rm", "--interactive", f"--name={name}", "--network=none", "--read-only"),
        *("--cap-drop=ALL", "--security-opt=no-new-privileges", "--user=1000"),
        *(f"--memory={limits.memory_bytes}", f"--memory-swap={limits.memory_bytes}"),
        *(f"--pids-limit={limits.processes}", "--tmpfs=/home/student:size=200m,mode=1777"),
        *(f"--env={key}={value}" for key, value in variables if key not in inherited),
        *("--workdir=/home/student", f"--volume={INSIDE}:/grading:ro", IMAGE),
        *("python", "/grading/desk.py"),
    ]


def end_container(tool, name):
    if tool in ("podman", "docker"):
        subprocess.run([tool, "kill", name], capture_output=True)
