"""Archives in the official layout, written by the tests themselves."""

import io
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image

SUBJECTS = [number for number in range(1, 40) if number != 14]
LIGHTS = [f"A{azimuth:+04d}E{elevation:+03d}" for azimuth in range(-80, 80, 10)
          for elevation in (-35, 0, 20, 65)]  # 64, as in the real set  # fmt: skip
# Added to every block of 4 x 4 equal pixels: the mean stays, single pixels do not.
RIPPLE = np.array([[9, -3, 1, -7], [-5, 5, -9, 9], [2, -2, 4, -4], [-8, 8, -6, 6]])


def enlarge(small: np.ndarray) -> np.ndarray:
    """Make every pixel a block of 4 x 4 with the same mean (values from 10 to 245)."""
    ripple = np.tile(RIPPLE, small.shape)
    return (np.kron(small.astype(int), np.ones((4, 4), int)) + ripple).astype(np.uint8)


def pgm(pixels: np.ndarray) -> bytes:
    return b"P5\n%d %d\n255\n" % pixels.shape[::-1] + pixels.astype(np.uint8).tobytes()


def png(pixels: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(file, "PNG", compress_level=1)
    return file.getvalue()


def yale_names(subjects: list[int], lights: list[str] = LIGHTS) -> list[str]:
    return [f"yaleB{subject:02d}_P00{light}.pgm" for subject in subjects for light in lights]


def yale_members(faces: dict[str, np.ndarray]) -> dict[str, bytes]:
    """Turn {file name: (48, 42) image} into the members of CroppedYale.zip."""
    return {f"CroppedYale/{name[:7]}/{name}": pgm(enlarge(face)) for name, face in faces.items()}


def coil_members(views: dict[tuple[int, int], np.ndarray]) -> dict[str, bytes]:
    """Turn {(object, angle): (32, 32) image} into the members of coil-100.zip."""
    unique = {id(view): view for view in views.values()}
    files = {key: png(np.repeat(enlarge(v)[..., None], 3, -1)) for key, v in unique.items()}
    return {f"coil-100/obj{o}__{a}.png": files[id(view)] for (o, a), view in views.items()}


def write_zip(path: Path, members: dict[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, raw in members.items():
            archive.writestr(name, raw)
    return path


def random_images(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(10, 246, shape, dtype=np.uint8)


def full_yale() -> tuple[np.ndarray, dict[str, bytes]]:
    """Random pixels for all 2,414 images of Yale B, sorted by name, and the members."""
    names = sorted(yale_names(SUBJECTS))[18:]
    images = random_images(2414, 48, 42)
    return images, yale_members(dict(zip(names, images, strict=True)))


def coil(n_objects: int = 100) -> tuple[np.ndarray, dict[str, bytes]]:
    """Random pixels for the objects, each the same at 72 angles, and the members."""
    images = list(random_images(n_objects, 32, 32))
    views = {(o + 1, a): images[o] for o in range(n_objects) for a in range(0, 360, 5)}
    return np.repeat(images, 72, axis=0), coil_members(views)


def listing(folder: Path) -> dict[str, bytes | None]:
    """Return all that is under a folder: {path: bytes of a file, None for a folder}."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }
