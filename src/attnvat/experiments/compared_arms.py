"""The arms that each experiment compares, by what they vary."""

from __future__ import annotations

from dataclasses import replace

from attnvat.experiments.arms import Arm
from attnvat.techniques.catalogue import TECHNIQUES
from attnvat.techniques.difference import READINGS

VANILLA = Arm("vanilla")
UNTUNED = Arm("vanilla", searched=False)
WIDE_VANILLA = Arm("vanilla", wide=True)
"""What arms that bring words of other text are held against: vanilla that knows as many."""
VIRTUAL = ("word-vat", "word-ivat", "attention-vat", "attention-ivat")
AMOUNTS = (10_000, 50_000, 100_000)
"""N_u of the amount curve besides 0 (the supervised runs)."""
STRENGTHS = (0.1, 0.5, 2.0, 10.0)
"""ε of the curve of strengths besides 0 (vanilla with the techniques' dropout)."""
PENALTIES = (0.1, 1.0)
"""Weights of the penalty on context."""
RECIPE = Arm("attention-vat", unlabelled=True, epsilon=1.3, context_penalty=0.2)
"""Our recipe for truthful and robust attention with unlabelled text, found on one seed of the validation split."""
STRICTER = 0.3
"""Weight of the penalty with which attention-vat, too, is to reach the paper's correlation; chosen on such a seed."""
STRATEGIES = ("random", "bow", "embedding")
LABELS = (100, 500, 1_000)
PASSES, EPOCHS = 3, 12
"""Passes of the language model and epochs of the classifier where IMDB is trained for long."""

REVIEWS = 40_000
"""Unlabelled reviews of under 400 words that IMDB has, nearly."""
BEGUN = Arm("attention-vat", unlabelled=True, pretrained="near", passes=PASSES, averaged=True, same_dropout=True)
"""VAT on long reviews that starts from a language model of them."""
TAUGHT = replace(BEGUN, near=True, amount=REVIEWS, epochs=3, learning_rate=2e-3, calibrated=True)
"""The same that reads reviews as its teachers do: it sees three texts for each label, so in fewer epochs."""
BEGUN_VANILLA = replace(VANILLA, pretrained="near", passes=PASSES, averaged=True, epochs=3, learning_rate=2e-3)
"""Plain training from where these begin, in as few epochs."""
TEACHERS = "vanilla:2,linear"
"""Who teaches the first generation, whose runs then teach the second."""
SECOND_TEACHERS = "pupil:2,linear"
TAUGHT_EPOCHS = 5
"""Epochs of the second generation, and with phrases: in the third and last of others validation scores still rose."""
TRUTHFUL = 0.07
"""Weight of the penalty on context that is to cost little of the F1 on IMDB."""
PHRASES = 100_000
"""Pairs of words that have a vector of their own, at most."""
TAUGHT_PHRASES = replace(TAUGHT, teacher=TEACHERS, context_penalty=TRUTHFUL, phrases=PHRASES)
"""The first generation with phrases, and with attention that is to be truthful."""
WORD_EPSILON, WORD_EPOCHS = 1.5, 4
"""ε and epochs of word-vat on reviews; of ε 1.5 and 4 the one whose validation score was higher after an epoch."""
WORD_VAT = replace(BEGUN, technique="word-vat", near=True, amount=REVIEWS, learning_rate=2e-3, phrases=PHRASES)
WORD_VAT = replace(WORD_VAT, epochs=WORD_EPOCHS, epsilon=WORD_EPSILON)
"""VAT of words on reviews, after a language model of them, with phrases."""
WORD_TEACHERS = "word-vat,vanilla:2,linear"
"""Who teaches where VAT of words has learnt from the unlabelled texts before."""
WIDEST_TEACHERS, WIDEST_EPOCHS = "word-vat,vanilla:2,minilm,linear", (4, 5)
"""The same with a transformer that has read much else before. In a fifth epoch they gain nothing."""
BEST_TEACHERS = "word-vat,vanilla:2,minilm-long,linear"
"""The same with a transformer that was fine-tuned for longer."""
STARTED_EPOCHS = 2
"""Epochs of runs that go on from such a run: they have less to learn."""
LARGER = 512
"""Size of a state, of both directions together, that is twice the usual one."""


def supervised(*techniques: str) -> list[Arm]:
    """Arms without unlabelled text."""
    return [Arm(name) for name in techniques]


def semi_supervised(*techniques: str) -> list[Arm]:
    """Arms with unlabelled text, of the usual amount and drawn at random."""
    return [Arm(name, unlabelled=True) for name in techniques]


ALL = [VANILLA, UNTUNED, WIDE_VANILLA, *supervised(*list(TECHNIQUES)[1:]), *semi_supervised(*VIRTUAL)]
# Of IMDB's validation tokens only 0.3% are words that training does not have and the vectors do: no second vanilla. Nor
# an untuned one, for a run takes a quarter of an hour.
MANY = [VANILLA, *supervised("attention-at", "attention-iat"), *semi_supervised(*VIRTUAL)]
SOME = [VANILLA, WIDE_VANILLA, *semi_supervised("word-vat", "attention-vat", "attention-ivat")]
COMPARISON = {"sst": ALL, "imdb": MANY, "agnews": SOME, "snli": SOME, "multinli": SOME, "cnn": SOME}
"""The arms of the tables on prediction, correlation and robustness, by corpus."""


def amount_arms() -> list[Arm]:
    """Every VAT technique with growing N_u; the corpus' usual amount is that of the other tables."""
    return [
        VANILLA,
        WIDE_VANILLA,
        *supervised(*VIRTUAL),
        *(Arm(name, unlabelled=True, amount=amount) for name in VIRTUAL for amount in AMOUNTS),
    ]


def selection_arms() -> list[Arm]:
    """The paper's two techniques with each way of choosing the unlabelled texts."""
    names = ("attention-vat", "attention-ivat")
    arms = [Arm(name, unlabelled=True, strategy=strategy) for name in names for strategy in STRATEGIES]
    return [VANILLA, WIDE_VANILLA, *arms]


def mixing_arms() -> list[Arm]:
    """The paper's two techniques with a part of the news an epoch, and with all of it."""
    arms = semi_supervised("attention-vat", "attention-ivat")
    return [VANILLA, UNTUNED, WIDE_VANILLA, *(one for arm in arms for one in (arm, replace(arm, whole=True)))]


def dropout_arms() -> list[Arm]:
    """The paper's two techniques, without and with news, with the default dropout and with the one vanilla is given."""
    arms = [arm for kind in (supervised, semi_supervised) for arm in kind("attention-vat", "attention-ivat")]
    return [VANILLA, UNTUNED, WIDE_VANILLA, *(one for arm in arms for one in (arm, replace(arm, same_dropout=True)))]


def reading_arms() -> list[Arm]:
    """Every reading of the difference basis with its own search, beside the techniques without a basis.

    The reading `paper` is left out: its perturbation is that of the technique without a basis. With unlabelled text so
    is `released`, which lowers what the others raise.
    """
    readings = [reading for reading in READINGS if reading != "paper"]
    arms = [VANILLA, WIDE_VANILLA, *supervised("attention-at", "attention-vat"), *semi_supervised("attention-vat")]
    alone = [Arm(name, reading=reading) for name in ("attention-iat", "attention-ivat") for reading in readings]
    semi = [Arm("attention-ivat", unlabelled=True, reading=reading) for reading in readings if reading != "released"]
    return [*arms, *alone, *semi]


def strength_arms() -> list[Arm]:
    """Attention techniques without unlabelled text at growing ε; vanilla with their dropout is ε = 0."""
    names = ("attention-at", "attention-vat", "attention-ivat")
    return [UNTUNED, *(Arm(name, epsilon=epsilon) for name in names for epsilon in STRENGTHS)]


def context_arms() -> list[Arm]:
    """Vanilla and the paper's two techniques without and with a penalty on context, the latter also with news.

    With news the searched ε is next to nothing; the recipe sets one that perturbs, and attention-vat also has it with a
    stricter penalty. With that penalty both also have averaged weights, which are to give back what it costs in F1.
    """
    names = ("vanilla", "attention-vat", "attention-ivat")
    alone = [Arm(name, context_penalty=penalty) for name in names for penalty in (0.0, *PENALTIES)]
    semi = [Arm(n, unlabelled=True, whole=True, context_penalty=p) for n in names[1:] for p in (0.0, PENALTIES[0])]
    stricter = replace(RECIPE, context_penalty=STRICTER)
    averaged = [replace(stricter, technique=name, averaged=True) for name in names[1:]]
    recipes = [RECIPE, stricter, replace(RECIPE, technique="attention-ivat"), *averaged]
    return [*alone, WIDE_VANILLA, *semi, *recipes]


def pretraining_arms() -> list[Arm]:
    """Vanilla without and with a language model to start from, of news or of reviews; techniques: see averaged weights.

    The last also has a penalty on context: a language model teaches states to know their context.
    """
    begun = [replace(VANILLA, pretrained=kind) for kind in ("far", "near")]
    return [VANILLA, WIDE_VANILLA, *begun, replace(begun[-1], context_penalty=PENALTIES[0])]


def long_text_pretraining_arms() -> list[Arm]:
    """Where runs take long: vanilla and attention-ivat as they are, and from a language model of reviews.

    From there also with averaged weights. attention-ivat then has vanilla's dropout (with the default one it learns its
    reviews by heart), and with a penalty on context as well. The last ones are trained for long. All VAT reads news.
    """
    virtual = Arm("attention-ivat", unlabelled=True)
    begun = [replace(VANILLA, pretrained="near"), replace(VANILLA, pretrained="near", averaged=True)]
    begun += [replace(virtual, pretrained="near", averaged=True, same_dropout=True)]
    begun += [replace(begun[-1], context_penalty=PENALTIES[0])]
    longer = replace(begun[2], passes=PASSES, epochs=EPOCHS)
    return [VANILLA, virtual, *begun, replace(longer, technique="attention-vat"), longer]


def taught_arms() -> list[Arm]:
    """Vanilla, without and with what the others begin from, VAT trained for long on its own predictions, and taught.

    First by vanilla runs and a linear model, then by runs so taught and a linear model, with a penalty on context. With
    phrases, word-vat on reviews, and the others taught by such a run too, which some also go on from; some have a
    transformer as a further teacher; the last have neither and move words themselves.
    """
    arms = [
        replace(BEGUN, epochs=EPOCHS),
        replace(TAUGHT, teacher=TEACHERS),
        replace(TAUGHT, teacher=SECOND_TEACHERS, epochs=TAUGHT_EPOCHS, context_penalty=TRUTHFUL),
        replace(TAUGHT_PHRASES, teacher=WORD_TEACHERS, epochs=TAUGHT_EPOCHS),
        *(replace(TAUGHT_PHRASES, teacher=WIDEST_TEACHERS, epochs=epochs) for epochs in WIDEST_EPOCHS),
        replace(TAUGHT_PHRASES, teacher=BEST_TEACHERS, epochs=WIDEST_EPOCHS[0]),
        replace(TAUGHT_PHRASES, teacher=WORD_TEACHERS, start=WORD_VAT.technique, epochs=STARTED_EPOCHS),
        replace(TAUGHT_PHRASES, word_epsilon=WORD_EPSILON, epochs=WORD_EPOCHS),
    ]
    virtual = [replace(arm, technique=name) for name in ("attention-vat", "attention-ivat") for arm in arms]
    return [VANILLA, BEGUN_VANILLA, WORD_VAT, *virtual]


def phrase_arms() -> list[Arm]:
    """Vanilla and the paper's two techniques without and with phrases."""
    arms = [VANILLA, *supervised("attention-vat", "attention-ivat")]
    return [*arms, *(replace(arm, phrases=PHRASES) for arm in arms)]


def long_text_phrase_arms() -> list[Arm]:
    """Vanilla without and with phrases, also after a language model, and the paper's two techniques so taught.

    These in as few epochs, and in more.
    """
    vanillas = [one for arm in (VANILLA, BEGUN_VANILLA) for one in (arm, replace(arm, phrases=PHRASES))]
    both = [TAUGHT_PHRASES, replace(TAUGHT_PHRASES, epochs=TAUGHT_EPOCHS)]
    return [*vanillas, *(replace(arm, technique=name) for name in ("attention-vat", "attention-ivat") for arm in both)]


def larger_arms() -> list[Arm]:
    """Plain training with phrases after a language model, and the paper's two techniques taught by it: larger, too."""
    taught = [replace(TAUGHT_PHRASES, technique=name) for name in ("attention-vat", "attention-ivat")]
    usual = [replace(BEGUN_VANILLA, phrases=PHRASES), *taught]
    return [VANILLA, *(one for arm in usual for one in (arm, replace(arm, hidden=LARGER)))]


def averaging_arms() -> list[Arm]:
    """Both vanillas without and with averaged weights, and with them attention-ivat; the last ones after reviews."""
    vanillas = [VANILLA, WIDE_VANILLA]
    begun = [replace(VANILLA, pretrained="near"), Arm("attention-ivat", unlabelled=True, near=True, pretrained="near")]
    averaged = [*vanillas, *semi_supervised("attention-ivat"), *begun]
    return [*vanillas, *(replace(arm, averaged=True) for arm in averaged)]


def few_label_arms() -> list[Arm]:
    """Vanilla, with more words and after language models, and two VAT techniques: alone, with news, with reviews."""
    names = ("word-vat", "attention-ivat")
    arms = []
    for labels in LABELS:
        arms += [Arm("vanilla", labels=labels), Arm("vanilla", labels=labels, wide=True)]
        arms += [Arm(name, labels=labels) for name in names]
        arms += [Arm(name, unlabelled=True, labels=labels, near=near) for near in (False, True) for name in names]
        arms += [Arm("vanilla", labels=labels, pretrained=kind) for kind in ("far", "near")]
    return arms


def long_text_few_label_arms() -> list[Arm]:
    """The same where runs take long: both vanillas, and attention-ivat with news."""
    arms = []
    for labels in LABELS:
        plain = Arm("vanilla", labels=labels)
        arms += [plain, replace(plain, wide=True), Arm("attention-ivat", unlabelled=True, labels=labels)]
    return arms
