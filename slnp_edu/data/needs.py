"""Say what to install if the method was installed alone: numpy, scipy and scikit-learn."""

from importlib.util import find_spec

NEEDED = (
    "IPython",
    "matplotlib",
    "mlxtend",
    "PIL",
    "platformdirs",
    "pooch",
    "statsmodels",
    "tqdm",
)

missing = [name for name in NEEDED if find_spec(name) is None]
if missing:
    raise ImportError(
        f"The data sets, the experiments and the figures need {', '.join(missing)}: "
        'pip install "slnp-edu[data]" brings them.'
    )
