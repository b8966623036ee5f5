// Shows the HTML that Python makes, and tells Python what people do; it knows no tab, no store and no text of its own.
//
// The parts of the page, and the attributes that it understands:
//   data-slot="x"          holds the trait x as HTML          data-trait="x"     a field that is the trait x
//   data-tab, data-panel   a tab's button, and what it shows  data-do="x.y"      asks Python for an action, with data-value
//   data-form              fields that go with an action      data-more="x.y"    asks for an action once it is shown
//   data-brush             bars to choose a span of days from data-nav           arrow keys move among its data-do elements
//   data-key               names what keeps focus or is open  data-keep          keeps how far it is scrolled
//   data-escape            what the Escape key presses        data-end           shows its end first, not its start
//   data-silent            what is told while Python does not answer

const QUIET = 120; // ms without a key before what was typed is sent
const SILENT = 6000; // ms without an answer before people are told that there is none

export default { render };

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "mk mkx mathjax_ignore tex2jax_ignore";
  root.setAttribute("data-lm-suppress-shortcuts", "true"); // JupyterLab's one-letter commands, while the focus is in here
  root.lang = model.get("lang");
  root.innerHTML = model.get("shell_html");
  el.append(root);

  const all = (query, within = root) => [...within.querySelectorAll(query)];
  const focused = () => root.getRootNode().activeElement;
  const gone = []; // what is undone when the view goes
  let composing = false;
  let waiting = 0; // timer of what was typed and not sent
  let typed = null; // the field it was typed into
  const drafts = new Map(); // by key, what was typed into the fields of forms and not sent

  // While a button is held down nothing is drawn anew: a press that ends on another element is no click.
  let pressed = false;
  const held = new Set();
  const hold = (event) => (pressed = !event.button && !event.target.closest("input,select,textarea")); // their lists keep the end of a press
  const letGo = (event) => pressed && (event.type !== "blur" || event.target === window) && setTimeout(redraw);
  root.addEventListener("pointerdown", hold, true);
  root.addEventListener("keydown", (event) => event.key === " " && hold(event), true);
  root.addEventListener("keyup", (event) => event.key === " " && letGo(event), true);
  for (const name of ["pointerup", "pointercancel", "blur"]) {
    window.addEventListener(name, letGo, true);
    gone.push(() => window.removeEventListener(name, letGo, true));
  }

  function redraw() {
    pressed = false;
    const late = [...held];
    held.clear();
    late.forEach(fill);
  }

  // ---- from Python ----

  const listen = (name, then) => {
    model.on(`change:${name}`, then);
    gone.push(() => model.off(`change:${name}`, then));
  };

  function fill(slot) {
    const inside = slot.contains(focused()) ? focused() : null;
    if (pressed || (composing && inside)) return void held.add(slot);
    const html = model.get(slot.dataset.slot);
    const caret = inside?.matches("input:not([type]),textarea") ? [inside.selectionStart, inside.selectionEnd] : null;
    const open = new Map(all("details[data-key]", slot).map((one) => [one.dataset.key, one.open]));
    const far = new Map(all("[data-keep]", slot).map((one) => [one.dataset.keep, [one.scrollLeft, one.scrollTop]]));
    slot.innerHTML = html;
    for (const one of all("[name][data-key]", slot)) if (drafts.has(one.dataset.key)) typeIn(one, drafts.get(one.dataset.key));
    for (const one of all("details[data-key]", slot)) if (open.has(one.dataset.key)) one.open = open.get(one.dataset.key);
    for (const one of all("[data-keep]", slot)) {
      if (far.has(one.dataset.keep)) [one.scrollLeft, one.scrollTop] = far.get(one.dataset.keep);
      else if ("end" in one.dataset) requestAnimationFrame(() => atEnd(one));
    }
    requestAnimationFrame(() => all("[data-keep] [aria-selected=true]", slot).forEach(inSight)); // other parts may have moved it
    all("[data-nav]", slot).forEach((nav) => oneStop(nav));
    if (inside) refocus(slot, inside.dataset.key);
    if (caret && focused()?.dataset.key === inside.dataset.key) focused().setSelectionRange(...caret);
    for (const one of all("[data-more]", slot)) {
      setTimeout(() => one.isConnected && ask(one, true), Number(one.dataset.wait ?? 0));
    }
  }

  const written = (field) => (field.type === "checkbox" ? (field.checked ? "1" : "") : field.value);
  const typeIn = (field, text) => (field.type === "checkbox" ? (field.checked = Boolean(text)) : (field.value = text));

  function atEnd(box) {
    const last = all("[data-do]", box).at(-1);
    if (last) box.scrollLeft = last.offsetLeft + last.offsetWidth - box.clientWidth * 0.8;
  }

  function inSight(one) {
    const box = one.closest("[data-keep]");
    const [top, bottom] = [one.offsetTop, one.offsetTop + one.offsetHeight];
    if (top < box.scrollTop || bottom > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 3;
  }

  function refocus(slot, key) {
    const same = key && all("[data-key]", slot).find((one) => one.dataset.key === key && !one.disabled);
    const other = same || slot.querySelector("[data-do]:not(:disabled)") || root.querySelector("[data-trait]");
    other?.focus({ preventScroll: true });
    other?.closest("[data-nav]") && oneStop(other.closest("[data-nav]"), other);
  }

  function follow(field) {
    const value = model.get(field.dataset.trait);
    const busy = (composing && field === focused()) || (waiting && field === typed);
    if (!busy && field.value !== value) field.value = value;
  }

  function front() {
    const tab = model.get("tab");
    for (const one of all("[data-tab]")) {
      one.setAttribute("aria-selected", one.dataset.tab === tab);
      one.tabIndex = one.dataset.tab === tab ? 0 : -1;
    }
    for (const one of all("[data-panel]")) one.hidden = one.dataset.panel !== tab;
  }

  // ---- to Python ----

  function put(values) {
    const whole = waiting ? { [typed.dataset.trait]: typed.value, ...values } : values;
    clearTimeout(waiting);
    waiting = 0;
    for (const [name, value] of Object.entries(whole)) model.set(name, value.toWellFormed?.() ?? value);
    model.save_changes();
    listenFor();
  }

  let answer = 0; // timer of a question that is not answered yet
  function listenFor() {
    answer ||= setTimeout(() => (root.querySelector("[data-silent]").hidden = false), SILENT);
  }
  listen("turn", () => {
    clearTimeout(answer);
    answer = 0;
    root.querySelector("[data-silent]").hidden = true;
  });

  function ask(one, unasked = false) {
    if (waiting) put({});
    const form = {};
    for (const field of all("input[name],select[name],textarea[name]", one.closest("[data-form]") ?? one)) {
      const value = written(field);
      form[field.name] = value.toWellFormed?.() ?? value;
      drafts.delete(field.dataset.key);
    }
    model.send({ do: unasked ? one.dataset.more : one.dataset.do, value: one.dataset.value ?? "", form, unasked });
    listenFor();
  }

  // An input method writes its letters into the field long before there is a word: nothing is asked for until there is one.
  root.addEventListener("compositionstart", () => (composing = true));
  root.addEventListener("compositionend", (event) => {
    composing = false;
    later(event.target);
    if (!pressed) redraw();
  });
  root.addEventListener("input", ({ target, isComposing }) => {
    if (target.name && target.dataset.key) drafts.set(target.dataset.key, written(target));
    if (!isComposing && !composing) later(target);
  });
  root.addEventListener("change", (event) => event.target.matches("select[data-trait],input[type=date]") && now(event.target));

  function later(field) {
    if (!field.dataset.trait) return;
    if (field.matches("select,[type=date]")) return; // these tell when they are done
    clearTimeout(waiting);
    typed = field;
    waiting = setTimeout(() => now(field), QUIET);
  }

  const now = (field) => field.dataset.trait && field.validity.valid && put({ [field.dataset.trait]: field.value });

  root.addEventListener("click", (event) => {
    const one = event.target.closest("[data-do],[data-tab]");
    if (!one || one.disabled || event.target.closest("a,input,select,textarea,summary")) return;
    if (one.dataset.tab) put({ tab: one.dataset.tab });
    else if (String(getSelection()) === "" || one.tagName === "BUTTON") ask(one); // text of a row may be selected
  });

  // ---- keys ----

  root.addEventListener("keydown", (event) => {
    if (event.isComposing || composing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (KEYS[event.key]?.(event.target, event)) {
      event.preventDefault();
      event.stopPropagation();
    }
  });

  const KEYS = {
    Enter: (at) => (at.dataset.trait ? (now(at), true) : press(at) || submit(at)),
    " ": press,
    Escape: () => {
      const out = all("[data-escape]").find((one) => one.offsetParent);
      out?.click();
      return Boolean(out);
    },
    ArrowDown: (at) => (at.type === "search" ? enter() : step(at, 1, 0)),
    ArrowUp: (at) => step(at, -1, 0),
    ArrowRight: (at) => step(at, 0, 1),
    ArrowLeft: (at) => step(at, 0, -1),
    Home: (at) => jump(at, 0),
    End: (at) => jump(at, -1),
  };

  function press(at) {
    if (!at.dataset.do || at.tagName === "BUTTON") return false; // a button presses itself
    ask(at);
    return true;
  }

  function submit(at) {
    const main = at.matches("input[name]") && at.closest("[data-form]")?.querySelector("button.primary:not(:disabled)");
    main && main.click();
    return Boolean(main);
  }

  function enter() {
    const first = all("[data-panel]:not([hidden]) [data-nav=list] [data-do]")[0];
    first?.focus();
    return Boolean(first);
  }

  const stops = (nav) => all("[data-do],[data-tab]", nav).filter((one) => !one.disabled);

  function oneStop(nav, current) {
    const found = stops(nav);
    const stop = found.includes(current) ? current : (found.find((one) => one.ariaSelected === "true") ?? found[0]);
    for (const one of found) one.tabIndex = one === stop ? 0 : -1;
  }

  function step(at, down, right) {
    const nav = at.closest("[data-nav]");
    if (!nav || at.matches("input,textarea,select")) return false;
    const found = stops(nav);
    const place = found.indexOf(at);
    const grid = nav.dataset.nav === "grid";
    if (place < 0 || (nav.dataset.nav === "list" && right) || (nav.dataset.nav === "tabs" && down)) return false;
    const next = grid ? cell(found, at, down, right) : found[place + down + right];
    if (next) moveTo(nav, next);
    return true;
  }

  function cell(found, at, down, right) {
    const [row, col] = [Number(at.dataset.row), Number(at.dataset.col)];
    const ahead = (one) => (down ? (one.dataset.row - row) * down : (one.dataset.col - col) * right);
    const aside = (one) => Math.abs(down ? one.dataset.col - col : one.dataset.row - row);
    const far = (one) => (down ? aside(one) + ahead(one) * 1000 : ahead(one) + aside(one) * 1000);
    return found.filter((one) => ahead(one) > 0).sort((a, b) => far(a) - far(b))[0];
  }

  function jump(at, place) {
    const nav = at.closest("[data-nav]");
    if (!nav || at.matches("input,textarea,select")) return false;
    moveTo(nav, stops(nav).at(place));
    return true;
  }

  function moveTo(nav, one) {
    one.focus();
    oneStop(nav, one);
    if (one.dataset.tab) put({ tab: one.dataset.tab });
  }

  // ---- the brush ----

  let from = null; // [the chart, the bar under the first touch]

  const bars = (chart) => all("[data-from]", chart);
  function barAt(chart, event) {
    const { left, width } = chart.getBoundingClientRect();
    const number = bars(chart).length;
    return Math.max(0, Math.min(number - 1, Math.floor(((event.clientX - left) / width) * number)));
  }
  root.addEventListener("pointerdown", (event) => {
    const chart = event.target.closest("[data-brush]");
    if (!chart || !bars(chart).length || event.button) return;
    from = [chart, barAt(chart, event)];
    chart.setPointerCapture(event.pointerId);
    paint(event);
    event.preventDefault();
  });
  root.addEventListener("pointermove", (event) => from && paint(event));
  root.addEventListener("pointerup", (event) => {
    if (!from) return;
    const [first, last] = span(event);
    const chosen = bars(from[0]);
    from = null;
    const whole = { date_from: chosen[first].dataset.from, date_to: chosen[last].dataset.to };
    const again = whole.date_from === model.get("date_from") && whole.date_to === model.get("date_to");
    put(again ? { date_from: "", date_to: "" } : whole); // the same span again lets go of it
  });
  root.addEventListener("pointercancel", () => (from = null));

  const span = (event) => [from[1], barAt(from[0], event)].sort((a, b) => a - b);
  function paint(event) {
    const [first, last] = span(event);
    bars(from[0]).forEach((one, place) => one.classList.toggle("in", first <= place && place <= last));
  }

  // ---- at first ----

  for (const slot of all("[data-slot]")) {
    fill(slot);
    listen(slot.dataset.slot, () => fill(slot));
  }
  for (const name of ["query", "kind", "date_from", "date_to"]) {
    listen(name, () => all(`[data-trait=${name}]`).forEach(follow));
  }
  all("[data-trait]").forEach(follow);
  all("[data-nav]").forEach((nav) => oneStop(nav));
  listen("tab", front);
  front();
  return () => {
    clearTimeout(waiting);
    clearTimeout(answer);
    gone.forEach((undo) => undo());
  };
}
