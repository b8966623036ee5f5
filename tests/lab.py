"""A real JupyterLab for tests: a server in a folder of its own, and one page in which notebooks run; no test in here.

Notebooks are driven through Lab's own commands, so that nothing depends on menus or waits. Only the server that was started
here is stopped, with its kernels; it also stops when the tests are killed.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

FOLDERS = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True},
    "docmanager-extension/plugin": {"autosave": False},
}
OPTIONS = [
    "--no-browser",
    "--allow-root",
    "--ip=127.0.0.1",
    "--ServerApp.port_retries=0",
    "--ServerApp.terminals_enabled=False",
    "--IdentityProvider.token=",
    "--LabApp.expose_app_in_browser=True",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
]
# The server's standard input is a pipe of ours that nobody writes to: it ends when we do, however that comes about.
SERVER = """
import os, signal, threading
def follow():
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
threading.Thread(target=follow, daemon=True).start()
from jupyterlab.labapp import main
main()
"""
STARTS_WITHIN = 90  # seconds
STOPS_WITHIN = 20
ENDS_WITHIN = 90_000  # ms, for a notebook

OPEN = """async path => {
    const panel = await jupyterapp.commands.execute('docmanager:open', {path, kernel: {name: 'python3'}});
    await panel.context.ready;
    await panel.sessionContext.ready;
    return true;
}"""
PANEL = "const panel = [...jupyterapp.shell.widgets('main')].find(one => one.context && one.context.path === path);"
RUN = f"""async path => {{
    {PANEL}
    jupyterapp.shell.activateById(panel.id);
    await jupyterapp.commands.execute('notebook:run-all-cells');
    return true;
}}"""
RESTART = f"async path => {{ {PANEL} await panel.sessionContext.session.kernel.restart(); return true; }}"
SAVE = f"async path => {{ {PANEL} await panel.context.save(); return true; }}"
CLOSE = f"async path => {{ {PANEL} await panel.sessionContext.shutdown(); panel.dispose(); return true; }}"
CELLS = f"path => {{ {PANEL} return panel.context.model.toJSON().cells; }}"
THEME = "async theme => { await jupyterapp.commands.execute('apputils:change-theme', {theme}); return true; }"


@contextmanager
def server(root, own):
    """Yield the address of a JupyterLab that serves a folder; its own files go to another one."""
    port = free_port()
    command = [sys.executable, "-c", SERVER, *OPTIONS, f"--port={port}", f"--ServerApp.root_dir={root}"]
    log = own / "lab.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=root, env=environment(own), stdin=subprocess.PIPE, stdout=out, stderr=out, start_new_session=True
        )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(address, process, log)
        yield address
    finally:
        stop(process)


def free_port():
    """Return a port of the loopback address that nobody has now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def environment(own):
    """Return the environment in which Jupyter keeps to a folder, with settings that ask nothing of anybody."""
    places = {f"JUPYTER_{name}": own / name.lower() for name in FOLDERS}
    places |= {"JUPYTERLAB_SETTINGS_DIR": own / "settings", "JUPYTERLAB_WORKSPACES_DIR": own / "workspaces"}
    places |= {"IPYTHONDIR": own / "ipython"}
    for name, settings in SETTINGS.items():
        path = places["JUPYTERLAB_SETTINGS_DIR"] / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings), encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "JPY_"))}
    fixed = {"JUPYTER_PLATFORM_DIRS": "1", "LC_ALL": "C.UTF-8"}  # the explorer speaks English on any machine
    return {**kept, **{name: str(place) for name, place in places.items()}, **fixed}


def wait_for(address, process, log):
    """Return when the server answers; what it wrote is in the error if it does not."""
    until = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/api/status", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise AssertionError(f"JupyterLab does not answer at {address}:\n{log.read_text(encoding='utf-8')[-4000:]}")


def stop(process):
    """End the server: asked to stop it ends its kernels too, which also end by themselves once it is gone."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(number)
            try:
                process.wait(STOPS_WITHIN)
            except subprocess.TimeoutExpired:
                continue
    process.stdin.close()


class Lab:
    """One page with JupyterLab in it. Paths are relative to the served folder, such as `notebooks/01-volume.ipynb`."""

    def __init__(self, page, address, root):
        self.page, self.address, self.root = page, address, Path(root)
        self.load()

    def load(self):
        """Load the page, for the first time or again; notebooks that were open are closed then, kernels stay."""
        self.page.goto(f"{self.address}/lab?reset")
        self.page.wait_for_function("window.jupyterapp")
        self.do("async () => { await jupyterapp.restored; return true; }")
        self._unveil()

    def do(self, script, *given):
        """Run a script that answers true when it is done; unlike `evaluate`, it does not wait for a page that hangs."""
        self.page.wait_for_function(script, arg=given[0] if given else None, timeout=ENDS_WITHIN)

    def write(self, path, *sources):
        """Write a notebook of code cells."""
        cells = [
            {"cell_type": "code", "id": f"cell-{n}", "metadata": {}, "execution_count": None, "outputs": [], "source": source}
            for n, source in enumerate(sources)
        ]
        metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        whole = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
        (self.root / path).write_text(json.dumps(whole, ensure_ascii=False), encoding="utf-8")
        return path

    def open(self, path):
        """Open a notebook and wait for its kernel; return its panel, a locator."""
        self.do(OPEN, path)
        return self.panel()

    def run(self, path):
        """Open a notebook, run it from top to bottom, and return its panel; it ends when all cells are done."""
        panel = self.open(path)
        self.do(RUN, path)
        return panel

    def panel(self):
        """Return the notebook in front, a locator."""
        return self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")

    def output(self, number):
        """Return the output area of a cell of the notebook in front, counted from 0 (text cells too)."""
        return self.panel().locator(".jp-Cell").nth(number).locator(".jp-Cell-outputArea")

    def outputs(self, path):
        """Return all outputs of an open notebook as they lie in its model."""
        return [output for cell in self.page.evaluate(CELLS, path) for output in cell.get("outputs", [])]

    def restart(self, path):
        """Restart the kernel of an open notebook; its outputs stay."""
        self.do(RESTART, path)

    def save(self, path):
        """Save an open notebook with its outputs."""
        self.do(SAVE, path)

    def close(self, path):
        """End the kernel of a notebook and close it."""
        self.do(CLOSE, path)

    def theme(self, name):
        """Switch Lab to `JupyterLab Light` or `JupyterLab Dark`; ends when all of it has switched."""
        self.do(THEME, name)
        light = "false" if name.endswith("Dark") else "true"
        self.page.locator(f"body[data-jp-theme-light='{light}']").wait_for(state="attached")
        self._unveil()

    def _unveil(self):
        """Wait until Lab has taken its veil away: raised again while it fades, it fails at the second time."""
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")
