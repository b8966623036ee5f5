"""A front-matter block as a mapping of plain text; bad YAML is a Problem, never an exception."""

from __future__ import annotations

from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler

from memkit.model import Problem
from memkit.text import FrontMatter

_HANDLER = YAMLHandler()


def mapping(cut: FrontMatter) -> tuple[dict[str, Any], list[Problem]]:
    """Return what a block says, every scalar as text as written (`10:00`, `0123`, `no`), and its YAML error if any."""
    try:
        values = _HANDLER.load("\n".join(cut.lines), Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = min(cut.first + 1 + (mark.line if mark else 0), cut.last)
        return {}, [Problem("yaml-invalid", line, "the front matter is no valid YAML")]
    return (values if isinstance(values, dict) else {}), []
