"""A front-matter block as a mapping of plain text; bad YAML is a Problem, never an exception."""

from __future__ import annotations

from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler

from memkit.model import Problem
from memkit.text import FrontMatter

_HANDLER = YAMLHandler()
_MOST = 32_768  # characters; what is longer is no front matter that anybody wrote, and YAML takes seconds over it


def mapping(cut: FrontMatter) -> tuple[dict[str, Any], list[Problem]]:
    """Return what a block says, every scalar as text as written (`10:00`, `0123`, `no`), and its YAML error if any."""
    if sum(map(len, cut.lines)) > _MOST:
        return {}, [Problem("yaml-invalid", cut.first, f"the front matter has more than {_MOST:,} characters")]
    try:
        values = _HANDLER.load("\n".join(cut.lines), Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        merge = next((n for n, text in enumerate(cut.lines, cut.first + 1) if text.startswith("<<<<<<< ")), 0)
        if merge:
            return {}, [Problem("merge-marker", merge, "an unresolved merge: both sides are still in the file")]
        mark = getattr(error, "problem_mark", None)
        line = min(cut.first + 1 + (mark.line if mark else 0), cut.last)
        return {}, [Problem("yaml-invalid", line, "the front matter is no valid YAML")]
    return (values if isinstance(values, dict) else {}), []
