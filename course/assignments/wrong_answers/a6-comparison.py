"""Plausible wrong answers to assignment 6: what each loses, and what it is told."""

WRONG = [
    {
        "why": "PCA fitted on the held-out images too",
        "grade_id": "rate",
        "source": """
def rate(candidate, X_fit, y_fit, X_held, y_held):
    pca = PCA(D_PCA).fit(np.concatenate([X_fit, X_held]))
    A, B = pca.transform(X_fit), pca.transform(X_held)
    W = directions(candidate, A, y_fit)
    return 100 * KNeighborsClassifier(1).fit(A @ W, y_fit).score(B @ W, y_held)
""",
        "loses": ["test-rate"],
        "message": "fitted on the held-out images?",
    },
    {
        "why": "judges the images that were fitted on",
        "grade_id": "rate",
        "source": """
def rate(candidate, X_fit, y_fit, X_held, y_held):
    pca = PCA(D_PCA).fit(X_fit)
    A, B = pca.transform(X_fit), pca.transform(X_held)
    W = directions(candidate, A, y_fit)
    return 100 * KNeighborsClassifier(1).fit(A @ W, y_fit).score(A @ W, y_fit)
""",
        "loses": ["test-rate"],
        "message": "were images judged that were fitted on",
    },
    {
        "why": "a share in place of per cent",
        "grade_id": "rate",
        "source": """
def rate(candidate, X_fit, y_fit, X_held, y_held):
    pca = PCA(D_PCA).fit(X_fit)
    A, B = pca.transform(X_fit), pca.transform(X_held)
    W = directions(candidate, A, y_fit)
    return 1 * KNeighborsClassifier(1).fit(A @ W, y_fit).score(B @ W, y_held)
""",
        "loses": ["test-rate"],
        "message": "Is it in per cent?",
    },
    {
        "why": "minimum for maximum",
        "grade_id": "choice",
        "source": """
def choose(X, y, train, candidates):
    X_train, y_train = X[train], y[train]
    rates = []
    for candidate in candidates:
        parts = [
            rate(candidate, X_train[fit], y_train[fit], X_train[held], y_train[held])
            for fit, held in folds_of(y_train)
        ]
        rates.append(np.mean(parts))
    return candidates[int(np.argmin(rates))]
""",
        "loses": ["test-choice"],
        "message": "the highest rate is",
    },
    {
        "why": "the last of equal candidates",
        "grade_id": "choice",
        "source": """
def choose(X, y, train, candidates):
    X_train, y_train = X[train], y[train]
    rates = []
    for candidate in candidates:
        parts = [
            rate(candidate, X_train[fit], y_train[fit], X_train[held], y_train[held])
            for fit, held in folds_of(y_train)
        ]
        rates.append(np.mean(parts))
    return candidates[max(range(len(rates)), key=lambda n: (rates[n], n))]
""",
        "loses": ["test-first"],
        "message": "choose the first",
    },
    {
        "why": "chooses by the rate on the test part",
        "grade_id": "choice",
        "source": """
def choose(X, y, train, candidates):
    test = np.setdiff1d(np.arange(len(y)), train)[:1000]
    parts = X[train], y[train], X[test], y[test]
    return max(candidates, key=lambda candidate: rate(candidate, *parts))
""",
        "loses": ["test-choice"],
        "message": "leaks into it",
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
        "why": "the best candidate on the test part",
        "grade_id": "compare",
        "source": """
def compare_methods(X, y, seeds, candidates):
    rates = {method: [] for method in candidates}
    for seed in seeds:
        train, test = random_split(y, seed)
        parts = X[train], y[train], X[test], y[test]
        for method in candidates:
            rates[method].append(max(rate(c, *parts) for c in candidates[method]))
    return rates
""",
        "loses": ["test-compare"],
        "message": "best on the test part",
    },
    {
        "why": "only SLNP is tuned, as the first edition had it",
        "grade_id": "compare",
        "source": """
def compare_methods(X, y, seeds, candidates):
    rates = {method: [] for method in candidates}
    for seed in seeds:
        train, test = random_split(y, seed)
        parts = X[train], y[train], X[test], y[test]
        for method in candidates:
            several = candidates[method]
            best = choose(X, y, train, several) if method == "SLNP" else several[0]
            rates[method].append(rate(best, *parts))
    return rates
""",
        "loses": ["test-compare"],
        "message": "chosen on its training part",
    },
    {
        "why": "the same split for every seed",
        "grade_id": "compare",
        "source": """
def compare_methods(X, y, seeds, candidates):
    rates = {method: [] for method in candidates}
    for seed in seeds:
        train, test = random_split(y, 0)
        parts = X[train], y[train], X[test], y[test]
        for method in candidates:
            rates[method].append(rate(choose(X, y, train, candidates[method]), *parts))
    return rates
""",
        "loses": ["test-compare"],
        "message": "this seed's split",
    },
]
