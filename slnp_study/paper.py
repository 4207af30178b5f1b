"""What the paper reports: Tables I to VI and the settings of every figure, as printed.

The one place for the paper's numbers. Rates are per cent. ``N_i`` is the number of training images
a class, ``D_PCA`` and ``d`` the dimensions after PCA and after the method, ``K`` the neighbours.
Where the paper contradicts itself, the table's value is here and a note says what the text has.
"""

from typing import Any

METHODS = ("LDA", "MFA", "LSDA", "LFDA", "SLNP")
#: Bases that are the same metric for every method. Each method's own is not one metric but many.
COMMON_BASES = ("whitened", "orthonormal")
#: Rounds of Algorithm 1 in the tables: "convergence is achieved when the iteration number is 10".
ROUNDS = 10

#: Tables I, III and V: the dimensions used for each N_i.
DIMENSIONS: dict[str, dict[int, dict[str, int]]] = {
    # Table I
    "yale_b": {
        5: {"D_PCA": 110, "d": 38},
        10: {"D_PCA": 180, "d": 38},
        15: {"D_PCA": 220, "d": 40},
        20: {"D_PCA": 400, "d": 38},
        25: {"D_PCA": 420, "d": 38},
        30: {"D_PCA": 460, "d": 38},
    },
    # Table III
    "coil100": {
        6: {"D_PCA": 30, "d": 13},
        12: {"D_PCA": 32, "d": 14},
        18: {"D_PCA": 30, "d": 17},
        24: {"D_PCA": 32, "d": 14},
        30: {"D_PCA": 40, "d": 14},
    },
    # Table V
    "mnist": {
        5: {"D_PCA": 34, "d": 18},
        10: {"D_PCA": 32, "d": 18},
        15: {"D_PCA": 32, "d": 26},
        20: {"D_PCA": 32, "d": 16},
        25: {"D_PCA": 32, "d": 30},
        30: {"D_PCA": 26, "d": 21},
    },
}

#: Tables II, IV and VI: recognition rates in per cent, one column per N_i of `DIMENSIONS`.
RATES: dict[str, dict[str, tuple[float, ...]]] = {
    # Table II
    "yale_b": {
        "LDA": (64.55, 80.65, 86.51, 89.89, 91.61, 92.96),
        "MFA": (51.23, 66.67, 70.36, 70.74, 71.71, 73.96),
        "LSDA": (21.30, 48.89, 62.11, 71.58, 77.86, 81.39),
        "LFDA": (61.88, 78.43, 83.79, 86.77, 88.89, 90.02),
        "SLNP": (70.14, 84.02, 88.50, 93.71, 95.29, 96.62),
    },
    # Table IV
    "coil100": {
        "LDA": (78.20, 87.99, 92.40, 94.57, 95.92),
        "MFA": (76.28, 84.22, 87.72, 89.61, 91.04),
        "LSDA": (76.03, 88.30, 92.82, 95.09, 96.43),
        "LFDA": (81.14, 89.45, 92.92, 95.05, 96.35),
        "SLNP": (85.89, 92.77, 95.83, 97.48, 98.48),
    },
    # Table VI
    "mnist": {
        "LDA": (62.22, 70.10, 73.21, 75.16, 77.10, 77.85),
        "MFA": (59.61, 69.38, 72.60, 75.88, 77.64, 78.75),
        "LSDA": (54.95, 69.67, 74.86, 77.76, 80.42, 81.82),
        "LFDA": (60.23, 72.78, 76.72, 79.08, 81.01, 82.11),
        "SLNP": (67.51, 76.34, 79.88, 82.00, 83.17, 84.16),
    },
}

#: The data sets as the paper describes them, and the K its comparisons use. What is drawn as a
#: whole, a cluster, is ours: all images of a subject or an object, or each image of a digit.
DATASETS: dict[str, dict[str, Any]] = {
    "yale_b": {
        "title": "Extended Yale B",
        "name": "faces",
        "cluster": "class",
        "image_shape": (48, 42),
        "K": 5,
        "subjects": 28,
        "images": 16128,
        "poses": 9,
    },
    "coil100": {
        "title": "COIL-100",
        "name": "objects",
        "cluster": "class",
        "image_shape": (16, 16),
        "K": 3,
        "classes": 100,
        "images_per_class": 72,
    },
    "mnist": {
        "title": "MNIST",
        "name": "digits",
        "cluster": "image",
        "image_shape": (14, 14),
        "K": 6,
        "sampled_images": 6000,
    },
}

#: Settings, and the values readable from the text, of every figure.
FIGURES: dict[int, dict[str, Any]] = {
    1: {"about": "toy example: nearest neighbours before and after projection"},
    2: {"about": "fixed against variable similarity"},
    3: {"about": "example faces", "dataset": "yale_b"},
    4: {
        "about": "J against the round",
        "dataset": "yale_b",
        "N_i": 10,
        "D_PCA": 180,
        "d": 38,
        "K": 5,
        "converged_at": 10,
    },
    5: {
        "about": "similarities of one face per round",
        "dataset": "yale_b",
        "N_i": 10,
        "D_PCA": 180,
        "d": 38,
        "K": 9,
        "class": 38,
        "start": 0.1,
        "largest": {"sample": 4, "s": 0.1307},
        "smallest": {"sample": 3, "s": 0.0891},
    },
    6: {
        "about": "order by learned against LPP similarity",
        "dataset": "yale_b",
        "N_i": 10,
        "D_PCA": 180,
        "d": 38,
        "K": 9,
        "class": 38,
        "nearest_learned": 4,
        "nearest_lpp": 7,
        "lpp": {7: 0.5063, 6: 0.0061},
    },
    7: {
        "about": "average gamma of a class (58)",
        "dataset": "yale_b",
        "N_i": 10,
        "D_PCA": 180,
        "d": 38,
        "K": 9,
        "gamma": {27: 40.45, 23: 20.17, 24: 10.02},
    },
    8: {
        "about": "rate against K",
        "dataset": "yale_b",
        "N_i": 10,
        "D_PCA": 180,
        "d": 38,
        "K": (2, 3, 4, 5, 6, 7, 8, 9),
    },
    9: {
        "about": "rate against d",
        "dataset": "yale_b",
        "N_i": 10,
        "D_PCA": 180,
        "K": 5,
        "best_d": 38,
    },
    10: {"about": "example objects", "dataset": "coil100"},
    11: {"about": "example digits", "dataset": "mnist"},
    12: {
        "about": "rate against K",
        "dataset": "mnist",
        "N_i": 10,
        "D_PCA": 32,
        "d": 18,
        "best_K": 6,
        "no_significant_difference": (4, 5, 6, 7, 8),
    },
}

#: Where the paper contradicts itself or the data it used.
CONTRADICTIONS: tuple[str, ...] = (
    "Section IV-A names 28 subjects and 16,128 images in 9 poses; 38 classes are used "
    "(class 38 in Fig. 5), which is the cropped frontal set of 2,414 images.",
    "Fig. 5: 9 positive similarities for 10 images with K = 9, so a sample is not its own "
    "neighbour, although the sums in (18) and (21) run over all N_i.",
    "Fig. 6: the text has (a) learned and (b) traditional, the caption has the reverse.",
    "Figs. 5 to 7: the text does not repeat N_i; 10 images of class 38 are shown.",
    "Fig. 8: the text does not repeat N_i, D_PCA and d; those of the section are taken.",
    "Table IV, text: five percentages for four methods (76.03 is there twice), and 'LSNP'.",
    "Table VI, text: MFA 59.51 at N_i = 5; the table has 59.61.",
    "Section IV cites MFA as [1] and LSDA as [7], which elsewhere are LPP and JGLDA, and calls "
    "LFDA 'FLDA'.",
)

#: What the paper claims, in its own words: short name -> (where, words as in its TeX source).
CLAIMS: dict[str, tuple[str, str]] = {
    "toy": (
        "I, on Fig. 1",
        "The toy example demonstrates that the neighbors obtained in high-dimensional space might "
        "not be correct and computing the neighbors in proper low-dimensional space might be "
        "better for the purpose of classification.",
    ),
    "fixed": (
        "III",
        "The analysis in Section 2 shows that existing methods employ fixed similarities for "
        "learning projection vectors (matrix).",
    ),
    "joint": (
        "I",
        "By jointing optimizing the similarity and the projection matrix, it is expected that our "
        "method is able to yields more optimal solutions.",
    ),
    "minimised": (
        "abstract",
        "Both the optimal similarity and projection matrix are obtained by minimizing a unified "
        "objective function.",
    ),
    "probability": (
        "I",
        "Thus, the proposed non-negative similarity satisfies the properties of the probability.",
    ),
    "sparse": ("I", "The penalty term makes the similarity is sparse to some extent."),
    "gamma": (
        "abstract",
        "It is interesting that the optimal regularization parameter is adaptive to the neighbors "
        "in low-dimensional space and has intuitive meaning.",
    ),
    "convergence": (
        "IV-A, on Fig. 4",
        "One can see that convergence is achieved when the iteration number is 10. Therefore, the "
        "proposed method has good convergence property.",
    ),
    "narrow": (
        "IV-A, on Fig. 5",
        "Though the similarities between the reference image and all the training images are "
        "different, the different is not very large because they belong to the same class.",
    ),
    "semantic": (
        "IV-A, on Fig. 6",
        "The traditional similarity is inferior to the proposed one in the sense of capturing "
        "semantic similarity.",
    ),
    "spread": (
        "IV-A, Fig. 7",
        "The average regularization parameter $\\gamma _{i}^{*}$ reflects the variations in "
        "low-dimensional space.",
    ),
    "intrinsic": (
        "IV-A, on Fig. 7",
        "The regularization parameter is sensitive to the intrinsic variations of the samples.",
    ),
    "classes": (
        "IV-A, on Fig. 7",
        "The intrinsic variation in class 27 is the largest and the variation in class 24 is the "
        "least.",
    ),
    "dimension": (
        "IV-A, on Fig. 9",
        "One can find that the recognition rate increases fast with $d$ until $d=38$ and then "
        "become stable and slightly decreases with $d$.",
    ),
    "parameters": (
        "V",
        "There are almost no parameters to be tuned except the number of neighbors and the "
        "algorithm is not sensitive to the number of neighbors.",
    ),
    "faces": (
        "IV-A, on Table II",
        "Importantly, for each ${{N}_{i}}$, the proposed SLNP method achieves the best "
        "performance.",
    ),
    "objects": (
        "IV-B, on Table IV",
        "One can find that the proposed SLNP achieves the highest recognition rates for all the "
        "cases.",
    ),
    "few objects": (
        "IV-B, on Table IV",
        "The superiority of SLNP is remarkable when ${{N}_{i}}$ is 6.",
    ),
    "few digits": (
        "IV-C, on Table VI",
        "Generally speaking, the advantage of the proposed SLNP over the other methods becomes "
        "significant when the number of samples per class is small.",
    ),
    "effective": (
        "abstract",
        "Experimental results on the YALE B, COIL-100, and MNIST datasets demonstrate the "
        "effectiveness of the proposed method.",
    ),
}


def rate(dataset: str, method: str, N_i: int) -> float:
    """Return the paper's recognition rate in per cent.

    Examples
    --------
    >>> rate("yale_b", "SLNP", 10)
    84.02
    """
    return RATES[dataset][method][list(DIMENSIONS[dataset]).index(N_i)]
