"""The words that a run is to know, and their vectors: from its texts, files of vectors, language models, other runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence

from attnvat.corpora import Example
from attnvat.text.tokenizer import Tokenizer
from attnvat.text.vectors import Vectors, load_vectors, vector_words
from attnvat.text.vocabulary import Vocabulary, build_vocabulary
from attnvat.training.config import Config
from attnvat.training.learnt_language import LearntLanguage
from attnvat.training.unlabelled import Unlabelled

DIMENSION = 100
"""Size of word vectors that are not read from a file."""
LEARN_MIN_FREQUENCY = 3
"""A word must be seen so often for its vector to be learnt."""


def words_and_vectors(
    config: Config,
    tokenizer: Tokenizer,
    train: Sequence[Example],
    pool: Unlabelled | None,
    languages: Sequence[LearntLanguage] = (),
) -> tuple[Vocabulary, Vectors | None]:
    """The vocabulary and the vectors of its words; those of languages go before others, of the last before all."""
    pair = train[0].pair is not None
    labelled = words_of(train, tokenizer)
    learn, _, learn_from = (config.vectors or "").partition(":")
    if learn == "learn":
        more = Unlabelled.named(learn_from, config) if learn_from else pool
        texts = [*more.all_words(tokenizer, pair), *labelled] if more else labelled
        known: Container[str] = {word for word, n in counted(texts).items() if n >= LEARN_MIN_FREQUENCY}
    elif config.vectors and (config.vector_words or (pool and config.pool_words)):
        in_file = vector_words(config.vectors, data_dir=config.data_dir)
        known = set(in_file)
    joining: list[str] = []
    if config.vectors and pool and config.pool_words:
        seen = counted(pool.all_words(tokenizer, pair))
        joining = [word for word, n in seen.most_common() if n >= config.min_frequency and word in known]
    for language in languages:
        # A run that goes on from another keeps all its words: else it would not begin with what that one predicts.
        if config.pool_words or language.source == config.start:
            joining += language.vectors.words
    if config.vector_words:
        joining += list(dict.fromkeys(tokenizer.normalise(in_file)))[: config.vector_words]
    vocabulary = build_vocabulary(labelled, config.min_frequency, config.max_vocabulary, joining)
    vectors = None
    if learn == "learn":
        # gensim takes as long to import as torch: only those who learn vectors wait for it.
        from attnvat.text.learned_vectors import learn_vectors

        size = config.dimension or DIMENSION
        vectors = learn_vectors(texts, vocabulary.words, dimension=size, min_frequency=LEARN_MIN_FREQUENCY)
    elif config.vectors:
        vectors = load_vectors(config.vectors, vocabulary.words, data_dir=config.data_dir)
    for language in languages:
        language.refuse_misfits(config.hidden, tokenizer, vectors)
        vectors = language.over(vectors, vocabulary.words)
    return vocabulary, vectors


def words_of(examples: Sequence[Example], tokenizer: Tokenizer) -> list[list[str]]:
    """The words of each text, and then of each text that goes with one."""
    texts = [tokenizer.words(example.text) for example in examples]
    return texts + [tokenizer.words(example.pair) for example in examples if example.pair is not None]


def counted(texts: Iterable[Sequence[str]]) -> Counter[str]:
    """How often each word occurs."""
    counts: Counter[str] = Counter()
    for words in texts:
        counts.update(words)
    return counts
