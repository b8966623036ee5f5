"""The tab Add: one form for each verb that people type by hand, and its plan before anything is written."""

from __future__ import annotations

import html
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING

from memkit.edits import Plan
from memkit.errors import BadArgument, MemkitError
from memkit.explorer.planned import Planned
from memkit.explorer.tab import Place, button, esc, notice
from memkit.explorer.words import Words
from memkit.model import clean

if TYPE_CHECKING:
    from memkit.store import Store

# The fields of each form, and what kind of element each is.
FORMS: dict[str, dict[str, str]] = {
    "append": {"text": "lines", "tag": "tag", "important": "check"},
    "correct": {"date": "date", "subject": "line", "text": "line"},
    "forget": {"text": "lines", "date": "date", "replacement": "line"},
}
TAGS = 200  # tags that are offered
CALL = "mem.explore(write=True)"


class AddTab:
    """What is typed into the forms, and the plan of it. `verb` names the form that is shown, `fields` what is in each."""

    def __init__(self, store: Store, say: Words, *, write: bool = False) -> None:
        self._store, self._say, self._write = store, say, write
        self.verb = "append"
        self.fields: dict[str, dict[str, str]] = {verb: {} for verb in FORMS}
        self.remark, self.kind = "", "warning"
        self.planned = Planned(store, say, "add")
        self._of: dict[str, str] = {}  # the fields that the plan was made of
        self._tags: list[str] = []
        self._list = f"mkx-{secrets.token_hex(4)}"  # a list of choices is found by its id in the whole page

    # ---- what can be done ----

    def opened(self) -> None:
        """Look which tags there are now; an old plan is dropped."""
        if not self._write:
            return
        self._tell("")
        if self.planned.is_old():
            self.planned.discard()
            self._tell(self._say("plan_old"))
        self._tags = self._store.tags()["tag"].value_counts().head(TAGS).index.tolist()

    def choose(self, verb: str) -> None:
        """Show the form of a verb: append, correct or forget; a plan of another is dropped.

        Raises: BadArgument for any other.
        """
        if verb not in FORMS:
            raise BadArgument(f"verb: {str(verb)[:40]!r}; expected {', '.join(FORMS)}")
        if verb != self.verb:
            self.discard()
        self.verb = verb

    def fill(self, **fields: str) -> None:
        """Put texts into the fields of the form that is shown.

        Raises: BadArgument for a field that it does not have.
        """
        names = self._names()
        wrong = [name for name in fields if name not in names]
        if wrong:
            raise BadArgument(f"{wrong[0][:40]}: {self.verb} has no such field; expected {', '.join(names)}")
        self.fields[self.verb] |= fields

    def plan(self) -> None:
        """Plan what the form says, to be looked at; what cannot be meant is told of, and the fields stay."""
        if not self._write:
            return
        self._tell("")
        try:
            self.planned.make(self._planned, of_all=self.verb == "forget")
        except (MemkitError, OSError) as error:
            self._tell(str(error), "error")
        self._of = self._filled()

    def _filled(self) -> dict[str, str]:
        """Return the fields that hold something: a form also sends those that are empty."""
        return {name: text for name, text in self.fields[self.verb].items() if text}

    def apply(self) -> None:
        """Write what the plan says and clear the form; where that cannot be done, the fields stay."""
        if not self._write:
            return
        if self.planned.plan is not None and self._of != self._filled():
            self.planned.discard()
            self._tell(self._say("add_differs"))
            return
        outcome = self.planned.apply()
        if outcome.done:
            self.fields[self.verb] = {}
            self.opened()
        self._tell(outcome.told, "ok" if outcome.done else "error")

    def discard(self) -> None:
        """Drop the plan; the fields stay."""
        self.planned.discard()
        self._tell("")

    def act(self, action: str, value: str, form: Mapping[str, str]) -> Place | None:
        """Do what a button asks; what it does not know is not done, and nothing at all where writing is off."""
        if not self._write or (action == "apply" and self.planned.plan is None):  # of two clicks, the second finds no plan
            return None
        if form.get("verb") == self.verb:  # a page that still shows another form speaks of that one
            self.fill(**{name: form[name] for name in self._names() if name in form})
        if action == "verb" and value in FORMS:
            self.choose(value)
        elif action == "plan" and value == self.verb:
            self.plan()
        elif action == "apply":
            self.apply()
        elif action == "discard":
            self.discard()
        return None

    def _names(self) -> list[str]:
        """Return the fields of the form that is shown; only `layers` has candidates."""
        return [name for name in FORMS[self.verb] if name != "important" or self._store.layout == "layers"]

    def _planned(self) -> Plan:
        held = {name: self.fields[self.verb].get(name, "") for name in FORMS[self.verb]}
        if self.verb == "append":
            tag, important = held["tag"].strip() or None, bool(held["important"])
            return self._store.append(held["text"], tag, important=important, dry_run=True)
        if self.verb == "correct":
            return self._store.correct(held["date"], held["subject"], held["text"], dry_run=True)
        put = held["replacement"] if held["replacement"].strip() else None
        return self._store.forget(held["text"], date=held["date"] or None, replacement=put)

    def _tell(self, remark: str, kind: str = "warning") -> None:
        self.remark, self.kind = remark, kind

    # ---- how it is shown ----

    def html(self) -> str:
        """Return the form with what is typed in it, its plan below; or how to switch writing on."""
        say = self._say
        if not self._write:
            return f'<p class="q">{esc(say("add_off", call=CALL)).replace(CALL, f"<code>{CALL}</code>")}</p>'
        verbs = "".join(button(say(f"add_{verb}"), "add.verb", verb, pressed=verb == self.verb) for verb in FORMS)
        fields = "".join(self._field(name, FORMS[self.verb][name]) for name in self._names())
        return (
            f'<div class="add" data-form><div class="bar" role="group" aria-label="{esc(say("add_verbs"))}">{verbs}</div>'
            f'<p class="q">{esc(say(f"add_about_{self.verb}"))}</p><input type="hidden" name="verb" value="{self.verb}">'
            f"{fields}<p>{button(say('add_plan'), 'add.plan', self.verb, kind='primary')}</p>"
            f"{notice(self.remark, self.kind)}{self.planned.html()}</div>"
        )

    def _field(self, name: str, kind: str) -> str:
        """Return one field with its label, holding what was typed as it was typed."""
        label = esc(self._say(f"add_{name}_{self.verb}"))
        held = html.escape(clean(self.fields[self.verb].get(name, "")))
        own = f'name="{name}" data-key="add {self.verb} {name}"'
        if kind == "check":
            return f'<label class="check"><input type="checkbox" {own}{" checked" if held else ""}> {label}</label>'
        if kind == "lines":  # the first break after the tag is not part of the text
            return f'<label>{label}<textarea {own} rows="5">\n{held}</textarea></label>'
        if kind == "date":
            return f'<label>{label}<input type="date" {own} value="{held}" min="0001-01-01" max="9999-12-31"></label>'
        if kind == "tag":
            options = "".join(f'<option value="{esc(tag)}"></option>' for tag in self._tags)
            choices = f'<datalist id="{self._list}">{options}</datalist>'
            return f'<label>{label}<input {own} value="{held}" list="{self._list}" autocomplete="off"></label>{choices}'
        return f'<label>{label}<input {own} value="{held}" autocomplete="off"></label>'
