"""The numbers of the paper's result tables, as printed: Kitada & Iyatomi (2022), Tables 3 to 6.

A technique stands for the paper's row of that name; its VAT rows are trained with unlabelled text, its other rows
without. Scores are percentages, correlations and rationale scores lie in [0, 1].
"""

from __future__ import annotations

CORPORA = ("sst", "imdb", "agnews", "cnn", "snli", "multinli")
"""The columns of Tables 3 and 4."""


def _columns(*values: float) -> dict[str, float]:
    return dict(zip(CORPORA, values, strict=True))


PREDICTION: dict[str, dict[str, float]] = {
    "vanilla": _columns(79.27, 88.77, 95.27, 56.25, 73.52, 56.59),
    "word-at": _columns(79.61, 89.65, 95.59, 60.87, 75.85, 57.82),
    "word-vat": _columns(83.04, 92.21, 96.23, 63.74, 77.38, 60.43),
    "attention-at": _columns(81.72, 90.00, 96.12, 62.08, 77.21, 59.28),
    "attention-vat": _columns(83.18, 92.48, 96.35, 64.93, 77.87, 61.07),
    "word-iat": _columns(79.57, 89.64, 95.62, 61.21, 75.91, 57.91),
    "word-ivat": _columns(83.07, 92.30, 96.17, 63.76, 77.42, 60.47),
    "attention-iat": _columns(82.20, 90.21, 96.19, 62.15, 77.23, 59.42),
    "attention-ivat": _columns(83.22, 92.56, 96.48, 65.08, 78.13, 61.18),
}
"""Tables 3a and 3b: F1 for sst, imdb and agnews, accuracy for cnn, micro-F1 for snli and multinli."""

CORRELATION: dict[str, dict[str, float]] = {
    "vanilla": _columns(0.852, 0.788, 0.822, 0.638, 0.741, 0.517),
    "word-at": _columns(0.647, 0.838, 0.813, 0.691, 0.757, 0.574),
    "word-vat": _columns(0.779, 0.853, 0.831, 0.749, 0.758, 0.629),
    "attention-at": _columns(0.852, 0.819, 0.835, 0.742, 0.769, 0.593),
    "attention-vat": _columns(0.898, 0.879, 0.903, 0.766, 0.784, 0.638),
    "word-iat": _columns(0.643, 0.839, 0.809, 0.702, 0.758, 0.581),
    "word-ivat": _columns(0.781, 0.859, 0.893, 0.751, 0.761, 0.631),
    "attention-iat": _columns(0.876, 0.861, 0.903, 0.753, 0.772, 0.622),
    "attention-ivat": _columns(0.901, 0.883, 0.907, 0.773, 0.808, 0.647),
}
"""Tables 4a and 4b: Pearson's correlation of attention and gradient word importance."""

UNLABELLED: dict[str, tuple[int, float]] = {
    "sst": (50_000, 7.22),
    "imdb": (150_000, 8.23),
    "agnews": (250_000, 4.90),
    "cnn": (190_149, 1.00),
    "snli": (270_683, 1.00),
    "multinli": (157_081, 1.00),
}
"""The footnotes of Tables 3 and 4: N_u and N_u/N_l, as printed."""

RATIONALE_SCORES = ("iou_f1", "token_f1", "auprc", "ap", "roc_auc")
RATIONALES: dict[str, tuple[float | None, ...]] = {
    "vanilla": (0.011, 0.097, 0.326, 0.395, 0.563),
    "word-vat": (0.018, 0.100, 0.349, 0.413, 0.581),
    "word-ivat": (0.019, 0.102, 0.350, 0.414, 0.582),
    "attention-vat": (0.030, 0.126, 0.403, 0.477, 0.646),
    "attention-ivat": (0.033, 0.128, 0.417, 0.489, 0.651),
    "BERT-to-BERT": (0.075, 0.145, 0.502, None, None),
}
"""Table 5, hard (IOU F1, token F1) and soft (AUPRC, AP, ROC-AUC) rationales of IMDB models on ERASER's movies."""

SELECTION: dict[str, dict[str, dict[str, tuple[float, float]]]] = {
    "attention-vat": {
        "random": {"sst": (83.18, 0.898), "imdb": (92.48, 0.879), "agnews": (96.35, 0.903)},
        "bow": {"sst": (83.20, 0.903), "imdb": (92.51, 0.884), "agnews": (96.38, 0.908)},
        "embedding": {"sst": (83.21, 0.927), "imdb": (92.50, 0.902), "agnews": (96.39, 0.928)},
    },
    "attention-ivat": {
        "random": {"sst": (83.22, 0.901), "imdb": (92.56, 0.883), "agnews": (96.48, 0.917)},
        "bow": {"sst": (83.26, 0.909), "imdb": (92.59, 0.891), "agnews": (96.51, 0.924)},
        "embedding": {"sst": (83.26, 0.941), "imdb": (92.60, 0.914), "agnews": (96.52, 0.957)},
    },
}
"""Table 6: F1 and correlation by technique, selection strategy and corpus."""

DISAGREEMENTS = (
    "IMDB's N_u/N_l is printed as 8.23; 150,000/17,186 is 8.73.",
    "SNLI's N_u is 270,683 below Tables 3 and 4 and 274,684 in Table 1.",
    "Attention iVAT's correlation on AG News is 0.907 in Table 4b and 0.917 in Table 6.",
    "AP lies 0.07 above AUPRC in every row of Table 5, which the published metric code cannot give.",
)
"""Where the paper's own tables disagree; the numbers above are kept as each table prints them."""


def printed(table: dict[str, dict[str, float]], technique: str, corpus: str, unlabelled: bool) -> float | None:
    """The paper's number for a technique on a corpus, None where it has no such row.

    The paper trains its VAT rows with unlabelled text and all others without.
    """
    if technique.endswith("vat") != unlabelled:
        return None
    return table.get(technique, {}).get(corpus)
