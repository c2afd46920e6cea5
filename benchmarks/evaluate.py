"""Times the evaluation: gradient correlation of IMDB against one backward pass a sentence, and every suite on SST.

    ATTNVAT_DATA=/path/to/data python benchmarks/evaluate.py [--quick] [--check]

The model has the paper's sizes (hidden 256, 300-d vectors) and the vocabulary of the corpus' training texts; its
weights are random, which changes no time. The one-sentence peers are measured on a sample of the same reviews in the
same run (every k-th in the order of length) and scaled to all of them by their number; the table says so.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from scipy.stats import kendalltau, pearsonr
from torch import Tensor

from attnvat.corpora.corpus import Corpus
from attnvat.corpora.example import Example
from attnvat.corpora.registry import load_corpus
from attnvat.evaluation.correlation import kendall, pearson
from attnvat.evaluation.importance import gradient_importance
from attnvat.evaluation.subject import Subject
from attnvat.evaluation.suite import SUITES, evaluate
from attnvat.models import ModelConfig, Pretrained, SequenceClassifier, build_model, masked_softmax
from attnvat.models.probability import probabilities
from attnvat.text.batch import Batch
from attnvat.text.encoding import EncodedDataset
from attnvat.text.tokenizer import Tokenizer
from attnvat.text.vocabulary import build_vocabulary
from goals import Goals
from usual_way import UsualModel

GOAL_RATIO, GOAL_SECONDS = 20.0, 120.0
Way = Callable[[Batch], tuple[Tensor, Tensor]]
"""Attention and importance of the words of one text."""


def pretrained_for(corpus: Corpus) -> Pretrained:
    """A model of the paper's sizes over the words of the training texts."""
    tokenizer = Tokenizer()
    vocabulary = build_vocabulary(tokenizer.words(example.text) for example in corpus.train)
    torch.manual_seed(0)
    model = build_model(ModelConfig(len(vocabulary), 300, classes=len(corpus.labels)))
    with torch.no_grad():
        # Fresh weights give nearly equal attention; larger ones make it, and the predictions, differ.
        model.embedding.weight[2:].mul_(0.4)
        model.get_submodule("attention.score").weight.mul_(5)  # type: ignore[operator]
        model.get_submodule("decoder").weight.mul_(10)  # type: ignore[operator]
    return Pretrained(model.eval(), vocabulary, tokenizer, corpus.labels)


def usual_model(model: SequenceClassifier) -> UsualModel:
    """The same weights in a model written the usual way."""
    usual = UsualModel(model.embedding_table().detach(), model.config.hidden // 2)
    ours = model.state_dict()
    named = {"embedding.weight": ours["embedding.weight"], "score.weight": ours["attention.score.weight"]}
    for kind in ("weight", "bias"):
        named[f"project.{kind}"] = ours[f"attention.project.{kind}"]
        named[f"output.{kind}"] = ours[f"decoder.{kind}"]
        for part in ("ih", "hh"):
            named[f"lstm.{kind}_{part}_l0"] = ours[f"encoder.forwards.{kind}_{part}_l0"]
            named[f"lstm.{kind}_{part}_l0_reverse"] = ours[f"encoder.backwards.{kind}_{part}_l0"]
    usual.load_state_dict(named)
    return usual.eval()


def packed_backward(model: SequenceClassifier) -> Way:
    """The usual way: packed LSTM, `backward()` from the predicted probability, every parameter's gradient with it."""
    usual = usual_model(model)

    def way(batch: Batch) -> tuple[Tensor, Tensor]:
        vectors = usual.embedding(batch.ids)
        vectors.retain_grad()
        states, scores = usual.encode(vectors, batch.lengths)
        attention = scores.softmax(dim=1).detach()
        p = torch.sigmoid(usual.decode(states, attention))
        torch.maximum(p, 1 - p).sum().backward()  # type: ignore[no-untyped-call]
        importance = (vectors.grad * vectors.detach()).sum(dim=-1).abs()
        usual.zero_grad()
        return attention, importance

    return way


def input_gradient(model: SequenceClassifier) -> Way:
    """The careful way: attnvat's own model, and the gradient of one sentence's word vectors alone."""

    def way(batch: Batch) -> tuple[Tensor, Tensor]:
        vectors = model.embed(batch).detach().requires_grad_()
        states, scores = model.encode(vectors, batch)
        p = probabilities(model.decode(states, scores.detach(), batch)).amax()
        (gradient,) = torch.autograd.grad(p, vectors)
        return masked_softmax(scores.detach(), batch.mask), (gradient * vectors.detach()).sum(dim=-1).abs()

    return way


def one_by_one(data: EncodedDataset, rows: list[int], way: Way) -> tuple[float, list[tuple[float, float]]]:
    """Seconds for these rows one at a time, and each one's Pearson and Kendall correlation."""
    way(data.batch(rows[:1]))
    start, found = time.perf_counter(), []
    for row in rows:
        attention, importance = way(data.batch([row]))
        a, b = attention[0].double().numpy(), importance[0].double().numpy()
        found.append((float(pearsonr(a, b)[0]), float(kendalltau(a, b)[0])))
    return time.perf_counter() - start, found


def batched(model: SequenceClassifier, data: EncodedDataset) -> tuple[float, np.ndarray, np.ndarray]:
    """Seconds for the whole data, with all Pearson and Kendall correlations."""
    start = time.perf_counter()
    reading, importance = gradient_importance(model, data)
    r, tau = pearson(reading.attention, importance), kendall(reading.attention, importance)
    return time.perf_counter() - start, r, tau


def imdb(quick: bool) -> tuple[list[str], float]:
    """The table's lines for IMDB and how many times faster the batched way is than the usual one."""
    corpus = load_corpus("imdb", reduced=False)
    pretrained = pretrained_for(corpus)
    examples: list[Example] = corpus.test
    rng = np.random.default_rng(0)
    if quick:
        examples = [examples[i] for i in np.sort(rng.choice(len(examples), 1000, replace=False))]
    data = Subject(pretrained, examples, corpus.metric, "imdb").data
    model = pretrained.model
    # A sample with the lengths of the whole: every k-th review in the order of length.
    count = 40 if quick else 300
    order = np.argsort(data.lengths, kind="stable")
    rows = [int(order[i]) for i in np.linspace(0, len(order) - 1, count).round().astype(int)]
    scale = len(data) / len(rows)
    warm = data.select(np.array(rows))
    batched(model, warm)
    seconds, r, tau = batched(model, data)
    lines = [f"| IMDB, {len(data):,} reviews, batched | {seconds:.1f} s | 1 |"]
    ratios = []
    ways = {"packed LSTM and `backward()`": packed_backward, "attnvat's LSTM, input gradient only": input_gradient}
    for name, way in ways.items():
        spent, found = one_by_one(data, rows, way(model))
        ratios.append(spent * scale / seconds)
        lines.append(
            f"| one sentence at a time, {name} | {spent * scale:.0f} s (scaled from {count} reviews) "
            f"| {ratios[-1]:.1f} × slower |"
        )
        apart = np.nanmax(np.abs(np.array(found) - np.stack([r[rows], tau[rows]], axis=1)), axis=0)
        lines.append(f"| – largest difference of a correlation | Pearson {apart[0]:.1e}, Kendall {apart[1]:.1e} | |")
    return lines, ratios[0]


def sst(quick: bool) -> tuple[list[str], float]:
    """The table's lines for SST and the seconds of all suites together."""
    corpus = load_corpus("sst")
    examples = corpus.test[:300] if quick else corpus.test
    subject = Subject(pretrained_for(corpus), examples, corpus.metric, "sst")
    lines, total = [], 0.0
    for suite in SUITES:
        start = time.perf_counter()
        evaluate(subject, (suite,))
        spent = time.perf_counter() - start
        total += spent
        lines.append(f"| SST, {len(examples):,} sentences, {suite} | {spent:.1f} s | |")
    return [*lines, f"| SST, all suites | {total:.1f} s | |"], total


def main() -> None:
    """Print the table; with --check fail by name on each missed goal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="exit 1 naming each missed goal")
    parser.add_argument("--quick", action="store_true", help="less data, under a minute")
    arguments = parser.parse_args()
    goals = Goals()
    print(f"{torch.get_num_threads()} threads, torch {torch.__version__}\n\n| what | time | ratio |\n|---|---|---|")
    imdb_lines, ratio = imdb(arguments.quick)
    print("\n".join(imdb_lines), flush=True)
    sst_lines, seconds = sst(arguments.quick)
    print("\n".join(sst_lines))
    goals.at_least("gradient correlation of IMDB against one backward a sentence", ratio, GOAL_RATIO)
    goals.at_most("seconds of all suites on SST", seconds, GOAL_SECONDS)
    goals.finish(arguments.check)


if __name__ == "__main__":
    main()
