"""attnvat: attention-based text classifiers made robust and interpretable by virtual adversarial training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnvat.estimator import TextClassifier

__version__ = "0.1.0"
__all__ = ["TextClassifier", "__version__"]


def __getattr__(name: str) -> Any:
    """`attnvat.TextClassifier`, imported when first asked for: a light import should not wait for torch."""
    if name == "TextClassifier":
        from attnvat.estimator import TextClassifier

        return TextClassifier
    raise AttributeError(f"module 'attnvat' has no attribute {name!r}")
