"""The report of one evaluation: a single HTML file that needs nothing else, no network and no script.

The page's own policy (Content-Security-Policy in `templates/base.html`) lets a browser run no script and load nothing
at all, so text that escaped escaping would still do nothing. Theme and filters work by style alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from attnvat.evaluation.explanations import Explanation
from attnvat.report.examples import shown_examples
from attnvat.report.section import Section
from attnvat.report.sections import correlation, prediction, rationales, robustness
from attnvat.report.visible import visible
from attnvat.storage import atomic_write

Theme = Literal["auto", "light", "dark"]
SECTIONS: Mapping[str, tuple[str, Callable[[dict[str, Any]], Section]]] = {
    "prediction": ("Prediction", prediction.section),
    "correlation": ("Attention", correlation.section),
    "rationales": ("Rationales", rationales.section),
    "robustness": ("Robustness", robustness.section),
}
"""Suite → its name in the table of contents, and what makes its section."""
EXAMPLES_LEDE = (
    "Texts as the model read them. Where the bars above and below a word agree, attention points at what moved the "
    "prediction. The tallest bar of a text is its largest weight; hover over a word for its numbers."
)


@cache
def environment() -> Environment:
    """The templates, escaping everything that is not markup made here."""
    made = Environment(
        loader=PackageLoader("attnvat.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Values from evaluations and examples pass here on their way out, whatever they are.
    made.finalize = lambda value: visible(value) if type(value) is str else value
    return made


def render(template: str, **values: object) -> str:
    """The finished page of a template, its style inline."""
    folder = files("attnvat.report") / "templates"
    css = "\n".join((folder / name).read_text("utf-8") for name in ("page.css", "heatmap.css"))
    return environment().get_template(template).render(css=Markup(css), **values)


def report_sections(evaluation: Mapping[str, Any]) -> list[Section]:
    """A section for each suite the evaluation holds."""
    return [make(evaluation[suite]) for suite, (_, make) in SECTIONS.items() if evaluation.get(suite)]


def report_html(
    title: str,
    evaluation: Mapping[str, Any],
    explanations: Sequence[Explanation] = (),
    *,
    facts: Mapping[str, object] | None = None,
    foot: Sequence[str] = (),
    theme: Theme = "auto",
) -> str:
    """The page as text: a section for each suite the evaluation holds, then the examples."""
    parts = report_sections(evaluation)
    examples, filters = shown_examples(explanations)
    contents = [(part.id, SECTIONS[part.id][0]) for part in parts] + ([("examples", "Examples")] if examples else [])
    return render(
        "report.html",
        title=title,
        facts=[(name, str(value)) for name, value in (facts or {}).items()],
        headlines=[measure for part in parts for measure in part.headline],
        contents=contents,
        chosen_theme=theme,
        sections=parts,
        examples=examples,
        filters=filters,
        examples_lede=EXAMPLES_LEDE,
        method=next(iter(explanations[0].importance), "") if explanations else "",
        any_rationale=any(explanation.rationale for explanation in explanations),
        foot=foot,
    )


def write_report(
    path: Path | str,
    title: str,
    evaluation: Mapping[str, Any],
    explanations: Sequence[Explanation] = (),
    *,
    facts: Mapping[str, object] | None = None,
    foot: Sequence[str] = (),
    theme: Theme = "auto",
) -> Path:
    """Write the report of an evaluation as one self-contained HTML file, and give its path.

    `evaluation` is what `evaluate` gives, with any of its suites; `facts` stand below the title; `theme` is the one the
    page opens with (`auto` follows the reader's system).
    """
    page = report_html(title, evaluation, explanations, facts=facts, foot=foot, theme=theme)
    with atomic_write(path) as handle:
        handle.write(page)
    return Path(path)
