"""SLNP in forty lines of NumPy: Algorithm 1 of Pang, Zhou and Nie, with its misprints corrected.

Copy it and change it. It finds the same W as `slnp_edu.SLNP`, only slower: it writes out all N x N
similarities. Reduce the data with PCA first, as the paper does, then project new samples with
``(new - X.mean(axis=0)) @ slnp(X, y, d=9, K=6)``.
"""

import numpy as np


def slnp(X, y, d, K, rounds=10):
    """Learn d directions, the columns of W, from the rows of X and their labels y."""
    X = X - X.mean(axis=0)
    P = whiten(X.T @ X)
    same = y[:, None] == y
    S = same / same.sum(axis=1)  # the start: 1/N_i within each class
    for _ in range(rounds):
        W = w_step(X, S, P, d)
        S = np.array([similarities(j, X @ W, same[j], K) for j in range(len(X))])
    return W * np.sign(W[np.abs(W).argmax(axis=0), np.arange(d)])  # largest entries positive


def whiten(St):
    """Find P with P'StP = I; what doesn't vary is dropped."""
    values, vectors = np.linalg.eigh(St)
    kept = values > 1e-12 * values[-1]
    return vectors[:, kept] / np.sqrt(values[kept])


def w_step(X, S, P, d):
    """Minimise tr(W'X'LXW) under W'StW = I: (22), (53)-(57)."""
    S = (S + S.T) / 2
    L = np.diag(S.sum(axis=1)) - S
    _, vectors = np.linalg.eigh(P.T @ X.T @ L @ X @ P)
    return P @ vectors[:, :d]


def similarities(j, Y, same, K):
    """Share a similarity of 1 among the K nearest of sample j in its class: a row of S."""
    distances = np.where(same, np.sum((Y - Y[j]) ** 2, axis=1), np.inf)  # (28)
    distances[j] = np.inf  # nobody is its own neighbour
    near = np.argsort(distances, kind="stable")[: min(K, same.sum() - 1)]
    dist, k, row = distances[near], len(near), np.zeros(len(Y))
    gamma = (k - 1) / 2 * np.sqrt(np.sum(dist**2))  # (52)
    row[near] = 1 / k + (dist.mean() - dist) / (2 * gamma) if gamma > 0 else 1 / max(k, 1)  # (38)
    return row
