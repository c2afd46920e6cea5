import torch

from attnvat.evaluation.lstm_gradient import BiLSTMTrace, Buffers, Steps, Weights, WordTable
from attnvat.models.lstm import BiLSTM
from batches import make_batch


def test_steps_by_hand() -> None:
    # Two texts in a batch of width 3: a b c and d. Longest first: a b c (row 1 of the batch), d (row 0).
    # Step 0 holds both: forwards a d, backwards c d. Steps 1 and 2 only the first: b, b; then c, a.
    steps = Steps.of(torch.tensor([1, 3]), 3)
    a, b, c, d = 3, 4, 5, 0
    assert steps.sizes == [2, 1, 1]
    assert steps.place.tolist() == [a, d, c, d, b, b, c, a]
    assert steps.direction.tolist() == [0, 0, 1, 1, 0, 1, 0, 1]


def test_states_and_gradient_are_those_of_the_model() -> None:
    torch.manual_seed(0)
    lstm = BiLSTM(6, 4)
    table = torch.randn(40, 6)
    weights, buffers = Weights(lstm), Buffers()
    # Twice, the second time smaller: memory taken over from the first batch must not shine through.
    for lengths in ([3, 9, 1, 5], [2, 4]):
        batch = make_batch(lengths)
        vectors = table[batch.ids].requires_grad_()
        expected = lstm(vectors, batch.lengths, batch.mask)
        words = torch.unique(batch.ids)
        trace = BiLSTMTrace(weights, buffers, batch.ids, batch.lengths, WordTable(weights, words, table[words]))
        torch.testing.assert_close(trace.padded(), expected.detach())
        attention, of_sum = torch.rand(batch.ids.shape) * batch.mask, torch.randn(len(lengths), 8)
        scored = torch.randn_like(expected) if len(lengths) == 2 else None
        above = attention[:, :, None] * of_sum[:, None] + (0 if scored is None else scored)
        (slope,) = torch.autograd.grad((expected * above).sum(), vectors)
        found = trace.gradient_times_input(attention, of_sum, scored)
        torch.testing.assert_close(found, (slope * vectors).sum(-1).detach(), atol=1e-5, rtol=1e-4)
