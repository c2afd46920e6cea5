"""What an evaluation looks like: self-contained HTML pages, terminal tables, figures, comparisons of runs."""
