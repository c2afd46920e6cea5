"""The ERASER movies corpus, whose documents are longer than training texts and come tokenised."""

from pathlib import Path

import numpy as np
import pytest
from measured import tiny

from attnvat.corpora.example import Example
from attnvat.corpora.registry import load_corpus
from attnvat.evaluation.rationale_report import rationale_report
from attnvat.evaluation.spans import marks_of
from attnvat.evaluation.subject import Subject
from attnvat.models import Pretrained


@pytest.mark.real_data
def test_movies_line_up_token_by_token(real_data: Path) -> None:
    corpus = load_corpus("eraser-movies", data_dir=real_data)
    bundle = tiny().pretrained
    pretrained = Pretrained(bundle.model, bundle.vocabulary, bundle.tokenizer, corpus.labels)
    documents: list[Example] = corpus.test[:40]
    subject = Subject(pretrained, documents, corpus.metric, "eraser-movies")
    assert subject.data.lengths.tolist() == [len(document.text) for document in documents]
    assert subject.data.lengths.max() > 1000
    found = rationale_report(subject, [0], None)
    shares = [marks_of(e.rationale or (), len(e.text)).mean() for e in documents if e.rationale]
    assert found["share"] == pytest.approx(np.mean(shares))
    # People marked 31% of the words of test documents.
    assert 0.2 < found["share"] < 0.4
    # A random model's attention is no better than chance.
    assert 0.4 < found["attention"]["roc_auc"] < 0.6
