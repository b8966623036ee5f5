"""A widget in a page without Jupyter: its real ES module, its real Python side, and a small stand-in for the model between.

What the page sets or sends is queued, as by a kernel that does one thing after the other, and is answered when `settle` lets
Python work; there is no test in here.
"""

from __future__ import annotations

import json
import re

# JupyterLab's colours, so that pictures look as they do there.
LIGHT = {
    "--jp-layout-color0": "#fff", "--jp-layout-color1": "#fff", "--jp-layout-color2": "#eee",
    "--jp-ui-font-color1": "rgba(0,0,0,.87)", "--jp-ui-font-color2": "rgba(0,0,0,.54)",
    "--jp-ui-font-color3": "rgba(0,0,0,.38)", "--jp-border-color2": "#e0e0e0", "--jp-brand-color1": "#1976d2",
    "--jp-error-color1": "#d32f2f", "--jp-warn-color1": "#f57c00", "--jp-success-color1": "#388e3c",
    "--jp-info-color1": "#0097a7", "--jp-ui-inverse-font-color0": "#fff",
}  # fmt: skip
DARK = {
    "--jp-layout-color0": "#111", "--jp-layout-color1": "#212121", "--jp-layout-color2": "#424242",
    "--jp-ui-font-color1": "rgba(255,255,255,.87)", "--jp-ui-font-color2": "rgba(255,255,255,.54)",
    "--jp-ui-font-color3": "rgba(255,255,255,.38)", "--jp-border-color2": "#424242", "--jp-brand-color1": "#2196f3",
    "--jp-error-color1": "#d32f2f", "--jp-warn-color1": "#f57c00", "--jp-success-color1": "#4caf50",
    "--jp-info-color1": "#00bcd4", "--jp-ui-inverse-font-color0": "#000",
}  # fmt: skip

MODEL = """
window.model = {
  state: {}, listeners: {}, queue: [], dirty: {},
  get(name) { return this.state[name]; },
  set(name, value) { if (this.state[name] !== value) { this.dirty[name] = value; this.take({ [name]: value }); } },
  save_changes() { if (Object.keys(this.dirty).length) this.queue.push({ state: this.dirty }); this.dirty = {}; work(); },
  send(content) { this.queue.push({ content }); work(); },
  on(event, then) { (this.listeners[event] ??= new Set()).add(then); },
  off(event, then) { this.listeners[event]?.delete(then); },
  take(values) {
    const changed = Object.keys(values).filter((name) => JSON.stringify(this.state[name]) !== JSON.stringify(values[name]));
    Object.assign(this.state, values);
    for (const name of changed) this.listeners[`change:${name}`]?.forEach((then) => then());
  },
};
let working = false;
async function work() {
  if (working) return;
  working = true;
  while (model.queue.length) model.take(JSON.parse(await window.python(JSON.stringify(model.queue.shift()))));
  working = false;
}
window.show = async (state, source) => {
  model.state = JSON.parse(state);
  const module = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  window.undo = await module.default.render({ model, el: document.getElementById("here") });
};
"""


def shown(page, widget, *, dark=False, patience=None):
    """Show a widget in a page; from then on Python answers what the page asks.

    `patience` are the ms without an answer before the page says so, if they are not to be its own.
    """

    def state():
        return {name: value for name, value in widget.get_state().items() if not name.startswith("_") and name != "layout"}

    held = state()

    def python(message):
        asked = json.loads(message)
        held.update(asked.get("state", {}))
        if "state" in asked:
            widget.set_state(asked["state"])
        else:
            widget._handle_custom_msg(asked["content"], [])
        now = state()
        changed = {name: value for name, value in now.items() if held[name] != value}
        held.update(changed)
        return json.dumps(changed)

    colours = "".join(f"{name}:{value};" for name, value in (DARK if dark else LIGHT).items())
    page.set_content(
        f"<!doctype html><meta charset=utf-8><style>:root{{{colours}color-scheme:{'dark' if dark else 'light'}}}"
        f"body{{margin:16px;background:var(--jp-layout-color0);color:var(--jp-ui-font-color1);font:13px system-ui}}"
        f"{widget._css}</style><div id=here></div><script>{MODEL}</script>"
    )
    page.expose_function("python", python)
    source = str(widget._esm)
    if patience is not None:
        source = re.sub(r"^const SILENT = [0-9]+;", f"const SILENT = {patience};", source, flags=re.MULTILINE)
    page.evaluate("([state, source]) => window.show(state, source)", [json.dumps(held), source])
    return page
