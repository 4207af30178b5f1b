"""Settings for all tests."""

import os

# scikit-learn's check_estimator skips its array-API check unless this is set before scipy loads.
os.environ["SCIPY_ARRAY_API"] = "1"

from hypothesis import HealthCheck, settings

settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,  # a test that passes here passes everywhere
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("steady")
