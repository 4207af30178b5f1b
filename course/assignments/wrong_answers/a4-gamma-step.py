"""Plausible wrong answers to assignment 4, and what each must lose."""

WRONG = [
    {
        "why": "eta without 1/K",
        "grade_id": "eta",
        "source": """
def eta(d, gamma):
    return 1 + np.sum(d) / (2 * gamma)
""",
        "loses": ["test-eta"],
        "message": "they must sum to 1",
    },
    {
        "why": "the k-th distance in place of the sum, as in (48)",
        "grade_id": "eta",
        "source": """
def eta(d, gamma):
    return (1 + d / (2 * gamma)) / len(d)
""",
        "loses": ["test-eta"],
        "message": "one number for the whole row",
    },
    {
        "why": "the printed index: the upper bound with candidate K + 2",
        "grade_id": "bounds",
        "source": """
def bounds(d, K):
    half_sum = np.sum(d[:K]) / 2
    return K / 2 * d[K - 1] - half_sum, K / 2 * d[min(K + 1, len(d) - 1)] - half_sum
""",
        "loses": ["test-bounds"],
        "message": "Just below your upper bound",
    },
    {
        "why": "counts from 1: K + 1 for K",
        "grade_id": "bounds",
        "source": """
def bounds(d, K):
    half_sum = np.sum(d[:K]) / 2
    return K / 2 * d[K] - half_sum, K / 2 * d[K + 1] - half_sum
""",
        "loses": ["test-bounds"],
        "message": "Just below your lower bound",
    },
    {
        "why": "a constant tuned to the visible test",
        "grade_id": "bounds",
        "source": """
def bounds(d, K):
    return 4.0, 12.0
""",
        "loses": ["test-bounds"],
        "message": "for K = 2 it must have",
    },
    {
        "why": "the sum of the squares without the root",
        "grade_id": "rule",
        "source": """
def gamma_rule(d):
    return (len(d) - 1) / 2 * np.sum(np.square(d))
""",
        "loses": ["test-rule"],
        "message": "gamma grows like d",
    },
    {
        "why": "a missing factor 2",
        "grade_id": "rule",
        "source": """
def gamma_rule(d):
    return (len(d) - 1) * np.sqrt(np.sum(np.square(d)))
""",
        "loses": ["test-rule"],
        "message": "not the minimiser of (49)",
    },
    {
        "why": "unsquared distances: the d of (28) is already a square",
        "grade_id": "rule",
        "source": """
def gamma_rule(d):
    return (len(d) - 1) / 2 * np.sqrt(np.sum(d))
""",
        "loses": ["test-rule"],
        "message": "gamma grows like d",
    },
    {
        "why": "the printed (47) taken over",
        "grade_id": "expansion",
        "source": """
def coefficients_47():
    return 1, 1 / 4, 1, -1
""",
        "loses": ["test-expansion"],
        "message": "with your constants it is",
    },
    {
        "why": "constants that fit the visible point only",
        "grade_id": "expansion",
        "source": """
def coefficients_47():
    return 0.375, 0, 0, 0
""",
        "loses": ["test-expansion"],
        "message": "with your constants it is",
    },
    {
        "why": "distances that spread out, so that the bound is large",
        "grade_id": "above",
        "source": """
def above_upper(K):
    return 100.0 ** np.arange(K + 1)
""",
        "loses": ["test-above"],
        "message": "it is not exceeded",
    },
    {
        "why": "numbers so large that (52) overflows",
        "grade_id": "above",
        "source": """
def above_upper(K):
    return 1e160 * 3.0 ** np.arange(K + 1)
""",
        "loses": ["test-above"],
        "message": "too large to be squared",
    },
    {
        "why": "a constant row for the visible K",
        "grade_id": "above",
        "source": """
def above_upper(K):
    return [1.0, 1.1, 1.2, 1.3, 1.4]
""",
        "loses": ["test-above"],
        "message": "distances are needed",
    },
    {
        "why": "half of (52), whatever the bounds",
        "grade_id": "better",
        "source": """
def better_gamma(d):
    return (len(d) - 1) / 4 * np.sqrt(np.sum(np.square(d)))
""",
        "loses": ["test-better"],
        "message": "none may be negative",
    },
    {
        "why": "looks for a larger gamma",
        "grade_id": "better",
        "source": """
def better_gamma(d):
    return len(d) * np.sqrt(np.sum(np.square(d)))
""",
        "loses": ["test-better"],
        "message": "which is not higher",
    },
    {
        "why": "the wrong axis",
        "grade_id": "margin",
        "source": """
def lemma_margin(rows):
    K = rows.shape[1]
    gamma = (K - 1) / 2 * np.sqrt(np.sum(rows**2, axis=0))
    return gamma - K / 2 * (rows[-1] - rows.mean(axis=0))
""",
        "loses": ["test-margin"],
        "message": "you return shape",
    },
    {
        "why": "equal distances, where the bound is 0 but (52) is not",
        "grade_id": "worst",
        "source": """
def worst_row(K):
    return np.ones(K)
""",
        "loses": ["test-worst"],
        "message": "they must be equal",
    },
    {
        "why": "calls the module's gamma-step",
        "grade_id": "rule",
        "source": """
from slnp_edu.steps import gamma_step


def gamma_rule(d):
    return gamma_step([d])[0]
""",
        "loses": ["test-rule"],
        "message": "it uses slnp_edu.steps.gamma_step",
    },
    {
        "why": "calls the module's bounds",
        "grade_id": "bounds",
        "source": """
import slnp_edu.steps


def bounds(d, K):
    low, high = slnp_edu.steps.gamma_bounds([d[: K + 1]])
    return low[0], high[0]
""",
        "loses": ["test-bounds"],
        "message": "it uses slnp_edu.steps.gamma_bounds",
    },
    {
        "why": "calls the module's rule for all rows",
        "grade_id": "margin",
        "source": """
def lemma_margin(rows):
    module = __import__('slnp_edu.steps', fromlist=['steps'])
    low = rows.shape[1] / 2 * (rows[:, -1] - rows.mean(axis=1))
    return module.gamma_step(rows) - low
""",
        "loses": ["test-margin"],
        "message": "Nobody can see that it is: there is __import__",
    },
    {
        "why": "safe, but not the smallest: the mean taken to be d_1",
        "grade_id": "factor",
        "source": """
def safe_factor(K):
    return K / 2
""",
        "loses": ["test-factor"],
        "message": "a smaller factor is safe too",
    },
    {
        "why": "the factor of the visible test",
        "grade_id": "factor",
        "source": """
def safe_factor(K):
    return 1.0
""",
        "loses": ["test-factor"],
        "message": "a smaller factor is safe too",
    },
    {
        "why": "the mean taken to lie in the middle",
        "grade_id": "factor",
        "source": """
def safe_factor(K):
    return K / 4
""",
        "loses": ["test-factor"],
        "message": "this factor is not safe",
    },
    {
        "why": "a factor for two neighbours",
        "grade_id": "factor",
        "source": """
def safe_factor(K):
    return 1 / 2
""",
        "loses": ["test-factor"],
        "message": "this factor is not safe",
    },
    {
        "why": "one near, all others far",
        "grade_id": "unsafe",
        "source": """
def unsafe_row(K, c):
    return np.append(0.0, np.ones(K - 1))
""",
        "loses": ["test-unsafe"],
        "message": "which is not negative",
    },
    {
        "why": "evenly spaced",
        "grade_id": "unsafe",
        "source": """
def unsafe_row(K, c):
    return np.arange(K)
""",
        "loses": ["test-unsafe"],
        "message": "which is not negative",
    },
    {
        "why": "all equal",
        "grade_id": "unsafe",
        "source": """
def unsafe_row(K, c):
    return np.ones(K)
""",
        "loses": ["test-unsafe"],
        "message": "are equal, so gamma is 0",
    },
    {
        "why": "the farthest first",
        "grade_id": "unsafe",
        "source": """
def unsafe_row(K, c):
    return np.append(1.0, np.zeros(K - 1))
""",
        "loses": ["test-unsafe"],
        "message": "is not ascending",
    },
]
