"""Plausible wrong answers to assignment 6, and what each must lose."""

CV = """
def cv_rate(X_train, y_train, K, d, folds):
    rates = []
    for fit, held in {folds}:
        pca = PCA(D_PCA).fit({pca})
        A, B = pca.transform(X_train[fit]), pca.transform(X_train[{judged}])
        slnp = SLNP(d, K, tol=0{basis}).fit(A, y_train[fit])
        A, B = slnp.transform(A), slnp.transform(B)
        rates.append(nearest_neighbour_rate(A, y_train[fit], B, y_train[{judged}]))
    return np.mean(rates){scale}
"""
RIGHT = {
    "folds": "folds",
    "pca": "X_train[fit]",
    "judged": "held",
    "basis": ', basis="orthonormal"',
    "scale": "",
}
COMPARE = """
def compare_methods(X, y, seeds, grid):
    rates = {{"PCA": [], "LDA, C - 1": [], "SLNP": []}}
    for seed in seeds:
        train, _ = random_split(y, N_I, {seed})
        runs = [
            evaluate(
                X, y, N_i=N_I, D_PCA=D_PCA, d=d, K=K, seed={seed}, methods=list(rates)
            )
            for K, d in {pairs}
        ]
        for method in rates:
            rates[method].append(max(run[method]["{basis}"] for run in runs))
    return rates
"""

WRONG = [
    {
        "why": "PCA fitted on all training rows, the held-out fold included",
        "grade_id": "cv",
        "source": CV.format(**RIGHT | {"pca": "X_train"}),
        "loses": ["test-cv"],
        "message": "PCA has seen the held-out rows",
    },
    {
        "why": "judges the rows that were fitted on",
        "grade_id": "cv",
        "source": CV.format(**RIGHT | {"judged": "fit"}),
        "loses": ["test-cv"],
        "message": "were rows judged that were fitted on",
    },
    {
        "why": "the whitened basis",
        "grade_id": "cv",
        "source": CV.format(**RIGHT | {"basis": ""}),
        "loses": ["test-cv"],
        "message": "the whitened basis",
    },
    {
        "why": "a share in place of per cent",
        "grade_id": "cv",
        "source": CV.format(**RIGHT | {"scale": " / 100"}),
        "loses": ["test-cv"],
        "message": "not in per cent",
    },
    {
        "why": "chooses by the rate on the test part",
        "grade_id": "choice",
        "source": """
def choose(X, y, train, grid):
    test = np.setdiff1d(np.arange(len(y)), train)
    pca = PCA(D_PCA).fit(X[train])
    A, B = pca.transform(X[train]), pca.transform(X[test])
    rates = []
    for K, d in grid:
        slnp = SLNP(d, K, tol=0, basis="orthonormal").fit(A, y[train])
        rates.append(
            nearest_neighbour_rate(
                slnp.transform(A), y[train], slnp.transform(B), y[test]
            )
        )
    return grid[int(np.argmax(rates))]
""",
        "loses": ["test-choice"],
        "message": "something of the test part leaks",
    },
    {
        "why": "PCA on all images first, then cross-validation",
        "grade_id": "choice",
        "source": """
def choose(X, y, train, grid):
    Z = PCA(D_PCA, svd_solver="full").fit_transform(X)[train]
    folds = folds_of(y[train])
    rates = [cv_rate(Z, y[train], K, d, folds) for K, d in grid]
    return grid[int(np.argmax(rates))]
""",
        "loses": ["test-choice"],
        "message": "something of the test part leaks",
    },
    {
        "why": "a constant tuned to the visible test",
        "grade_id": "choice",
        "source": """
def choose(X, y, train, grid):
    return 2, 9
""",
        "loses": ["test-choice"],
        "message": "with a cross-validated rate of",
    },
    {
        "why": "minimum for maximum",
        "grade_id": "choice",
        "source": """
def choose(X, y, train, grid):
    X_train, y_train = X[train], y[train]
    folds = folds_of(y_train)
    return min(grid, key=lambda pair: cv_rate(X_train, y_train, *pair, folds))
""",
        "loses": ["test-choice"],
        "message": "with a cross-validated rate of",
    },
    {
        "why": "1.96, whatever the number of splits",
        "grade_id": "interval",
        "source": """
def mean_interval(values):
    return np.mean(values), 1.96 * np.std(values, ddof=1) / np.sqrt(len(values))
""",
        "loses": ["test-interval"],
        "message": "the factor, which depends on n",
    },
    {
        "why": "the standard deviation in place of the standard error",
        "grade_id": "interval",
        "source": """
def mean_interval(values):
    return np.mean(values), t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1)
""",
        "loses": ["test-interval"],
        "message": "2 times the right one",
    },
    {
        "why": "numpy's default standard deviation, n in the denominator",
        "grade_id": "interval",
        "source": """
def mean_interval(values):
    n = len(values)
    return np.mean(values), t.ppf(0.975, n - 1) * np.std(values) / np.sqrt(n)
""",
        "loses": ["test-interval"],
        "message": "0.866 times the right one",
    },
    {
        "why": "the 95 % quantile on each side",
        "grade_id": "interval",
        "source": """
def mean_interval(values):
    n = len(values)
    half = t.ppf(0.95, n - 1) * np.std(values, ddof=1) / np.sqrt(n)
    return np.mean(values), half
""",
        "loses": ["test-interval"],
        "message": "Check the standard error",
    },
    {
        "why": "unpaired: adds the two intervals",
        "grade_id": "paired",
        "source": """
def paired_difference(first, second):
    mean_1, half_1 = mean_interval(first)
    mean_2, half_2 = mean_interval(second)
    return mean_1 - mean_2, np.hypot(half_1, half_2)
""",
        "loses": ["test-paired"],
        "message": "only that counts",
    },
    {
        "why": "second minus first",
        "grade_id": "paired",
        "source": """
def paired_difference(first, second):
    return mean_interval(np.subtract(second, first))
""",
        "loses": ["test-paired"],
        "message": "the sign is wrong",
    },
    {
        "why": "the best of the grid on the test part",
        "grade_id": "compare",
        "source": COMPARE.format(seed="seed", pairs="grid", basis="orthonormal"),
        "loses": ["test-compare"],
        "message": "the pair that is best on the test part",
    },
    {
        "why": "the first pair of the grid, nothing chosen",
        "grade_id": "compare",
        "source": COMPARE.format(seed="seed", pairs="grid[:1]", basis="orthonormal"),
        "loses": ["test-compare"],
        "message": "not of the one chosen on the training part",
    },
    {
        "why": "the same split for every seed",
        "grade_id": "compare",
        "source": COMPARE.format(
            seed="0", pairs="[choose(X, y, train, grid)]", basis="orthonormal"
        ),
        "loses": ["test-compare"],
        "message": "not the rate of this seed's split",
    },
    {
        "why": "calls the function of the test",
        "grade_id": "cv",
        "source": """
def cv_rate(X_train, y_train, K, d, folds):
    return wanted_cv(X_train, y_train, K, d, folds)
""",
        "loses": ["test-cv"],
        "message": "it uses wanted_cv",
    },
    {
        "why": "the last of equal pairs",
        "grade_id": "choice",
        "source": """
def choose(X, y, train, grid):
    X_train, y_train = X[train], y[train]
    folds = folds_of(y_train)
    rates = [cv_rate(X_train, y_train, K, d, folds) for K, d in grid]
    return grid[max(range(len(grid)), key=lambda n: (rates[n], n))]
""",
        "loses": ["test-choice"],
        "message": "the first pair with the highest rate",
    },
    {
        "why": "the smallest of equal pairs",
        "grade_id": "choice",
        "source": """
def choose(X, y, train, grid):
    X_train, y_train = X[train], y[train]
    folds = folds_of(y_train)
    return max(sorted(grid), key=lambda p: cv_rate(X_train, y_train, *p, folds))
""",
        "loses": ["test-choice"],
        "message": "the first pair with the highest rate",
    },
]
