"""Text as numbers: tokens with character offsets, vocabularies, word vectors and length-bucketed batches."""
