"""Measures of a model: does it predict, does its attention tell the truth, does it hold under attack."""
