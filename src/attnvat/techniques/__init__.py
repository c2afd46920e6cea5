"""The nine training techniques: vanilla, and {word, attention} × {AT, VAT} × {plain, interpretable}."""

from attnvat.techniques.catalogue import TECHNIQUES, options_of, technique
from attnvat.techniques.difference import DEFAULT_READING, READINGS
from attnvat.techniques.technique import Perturbation, PerturbationTechnique, StepLoss, Technique, Vanilla

__all__ = [
    "DEFAULT_READING",
    "READINGS",
    "TECHNIQUES",
    "Perturbation",
    "PerturbationTechnique",
    "StepLoss",
    "Technique",
    "Vanilla",
    "options_of",
    "technique",
]
