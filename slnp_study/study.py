"""What a study is: units to run, settings to hold it to, a check, and a way to read it.

Every file of `slnp_study.studies` ends in ``STUDY = Study(...)``. `slnp_study.records` runs its
units, keeps what they return as JSON, and compares it when it's run again.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

PLANS = Path(__file__).parent / "plans"


class RecordError(ValueError):
    """A record doesn't hold or can't be made. The message says so in one sentence."""


class Tolerance(NamedTuple):
    """How far a number that's computed again may be from the record: either will do."""

    absolute: float
    relative: float


IMAGES = Tolerance(absolute=2, relative=0)  # test images that another BLAS may flip
RATE = Tolerance(absolute=0.1, relative=0)  # per cent: about as many
EXACT = Tolerance(absolute=1e-9, relative=1e-6)  # J, similarities, gamma, correlations

Recorded = dict[str, Any]  # what a unit returns: plain numbers, strings, lists and dicts


@dataclass(frozen=True)
class Unit:
    """One independent run, such as ``"table/10/03"``: N_i = 10, split 3."""

    key: str
    kind: str
    tolerance: Tolerance | Mapping[str, Tolerance]  # one for all entries, or one for each
    function: Callable[..., Recorded]
    schema: dict[str, Any] = field(default_factory=dict)  # the JSON schema of what it returns
    arrays: tuple[str, ...] = ("data", "target")  # of the data set, in the order of the function
    comparable: Callable[[Recorded], Recorded] = dict  # leaves out what can't be repeated


@dataclass(frozen=True)
class Study:
    """One question put to some data sets. A record is a data set's answer."""

    name: str  #: what its records add to the name of the data set; the paper's own runs add none
    datasets: tuple[str, ...]
    splits: int  #: how many, unless another number is asked for
    units: Callable[[str, int], list[Unit]]  #: of a data set and so many splits
    settings: Callable[[str], dict[str, Any]]  #: of a data set; a record must have the same
    check: Callable[[Unit, Recorded], Iterable[str]]  #: what its schema can't see, in sentences
    read: Callable[[dict[str, Any]], Any]  #: a record, as the chapters use it
    sample: int = 10  #: how many units `verify` runs again, if no number is given
    first_seed: int = 0
    plan: str = ""  #: the file of ``slnp_study/plans`` that was committed before the first run

    def seeds(self, splits: int) -> list[int]:
        """Seeds of so many splits."""
        return list(range(self.first_seed, self.first_seed + splits))

    def stamp(self) -> dict[str, str]:
        """Name and checksum of the plan, for the record's head, if there's a plan."""
        if not self.plan:
            return {}
        text = (PLANS / self.plan).read_bytes()
        return {"plan": self.plan, "plan_sha256": hashlib.sha256(text).hexdigest()}


def entries(**schemas: dict[str, Any]) -> dict[str, Any]:
    """Schema of an object that has these entries and no others."""
    return {
        "type": "object",
        "properties": schemas,
        "required": list(schemas),
        "additionalProperties": False,
    }


def numbers(count: int, most: float | None = None) -> dict[str, Any]:
    """Schema of a list of so many numbers. With ``most``, whole ones from 0 to it."""
    item = {"type": "number"} if most is None else whole(most)
    return {"type": "array", "items": item, "minItems": count, "maxItems": count}


def whole(most: float = 1e9) -> dict[str, Any]:
    """Schema of a whole number from 0 to ``most``."""
    return {"type": "integer", "minimum": 0, "maximum": most}


NUMBER, TEXT = {"type": "number"}, {"type": "string"}
