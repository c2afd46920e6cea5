"""The sections of a report, one a suite: each turns its part of the evaluation into measures, plots and tables."""
