/* The charts: what the reader chose (state) decides what each panel draws. Numbers come from the element "data",
   drawings from its Vega-Lite specifications; texts enter the page as text only. */
(() => {
  "use strict";

  const data = JSON.parse(document.getElementById("data").textContent);
  const find = (selector, root = document) => root.querySelector(selector);
  const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];

  // ---- State, and the address that remembers it ----

  const CHOICES = {
    metric: ["reward", "regret"],
    scale: ["linear", "log"],
    time: ["linear", "log"],
    setting: data.settings.map((setting) => setting.id),
  };
  const state = { hidden: new Set() };

  function readAddress() {
    const address = new URLSearchParams(location.hash.slice(1));
    for (const [name, values] of Object.entries(CHOICES)) {
      const wanted = address.get(name);
      state[name] = values.includes(wanted) ? wanted : values[0];
    }
    const lineIds = new Set(data.lines.map((line) => line.id));
    state.hidden = new Set(address.getAll("hide").filter((id) => lineIds.has(id)));
  }

  function writeAddress() {
    const address = new URLSearchParams();
    for (const [name, values] of Object.entries(CHOICES)) {
      if (state[name] !== values[0]) address.set(name, state[name]);
    }
    for (const id of state.hidden) address.append("hide", id);
    const page = location.href.split("#")[0];
    history.replaceState(null, "", address.size ? `${page}#${address}` : page);
  }

  // An address such as "#charts" is a place on the page, not a view.
  const isView = () => location.hash.includes("=");

  // ---- Controls ----

  const controls = document.getElementById("controls");

  function showControls() {
    for (const input of findAll("input[type=radio]", controls)) input.checked = state[input.name] === input.value;
    for (const input of findAll("input[type=checkbox]", controls)) input.checked = !state.hidden.has(input.value);
    const select = find("select", controls);
    if (select) select.value = state.setting;
  }

  function readControls() {
    for (const input of findAll("input[type=radio]:checked", controls)) state[input.name] = input.value;
    const boxes = findAll("input[type=checkbox]:not(:checked)", controls);
    state.hidden = new Set(boxes.map((box) => box.value));
    const select = find("select", controls);
    if (select) state.setting = select.value;
  }

  function showSetting() {
    for (const element of findAll("[data-setting]")) {
      element.hidden = CHOICES.setting.includes(element.dataset.setting) && element.dataset.setting !== state.setting;
    }
  }

  function onControl() {
    readControls();
    writeAddress();
    showAll();
  }

  function onButton(event) {
    const wanted = event.target.name;
    if (wanted !== "all" && wanted !== "none") return;
    for (const box of findAll("input[type=checkbox]", controls)) box.checked = wanted === "all";
    onControl();
  }

  // ---- From curves to rows ----

  function curveOf(panelId, lineId) {
    const setting = data.settings.find((candidate) => candidate.id === state.setting);
    const key = setting?.curves[panelId]?.[lineId];
    return key === undefined ? undefined : data.curves[key];
  }

  function visibleCurves(panelId) {
    return data.lines
      .filter((line) => !state.hidden.has(line.id))
      .map((line) => ({ line, curve: curveOf(panelId, line.id) }))
      .filter(({ curve }) => curve !== undefined);
  }

  // A log scale has no place for 0; beside large values, what is left of 0 by rounding is 0 too.
  const LEAST = 1e-6;

  function largest(curves) {
    const most = (values, start) => values.reduce((sofar, value) => Math.max(sofar, value), start);
    return curves.reduce((sofar, { curve }) => most(curve[state.metric].mean, sofar), 0);
  }

  function leastDrawn(curves) {
    return state.scale === "linear" ? -Infinity : LEAST * largest(curves);
  }

  const drawn = (value, least) => value !== null && value > least;

  // What cannot be drawn is null.
  function rowAt(line, curve, i, least) {
    const { mean, low, high } = curve[state.metric];
    const banded = low[i] !== null && drawn(high[i], least);
    return {
      line: line.id,
      t: curve.t[i],
      mean: drawn(mean[i], least) ? mean[i] : null,
      low: banded ? low[i] : null,
      high: banded ? high[i] : null,
    };
  }

  function lineRows({ line, curve }, least) {
    const first = state.time === "log" ? 0 : -Infinity;
    const places = curve.t.map((t, i) => i).filter((i) => curve.t[i] > first);
    return places.map((i) => rowAt(line, curve, i, least));
  }

  // On a log scale an interval that goes below every mean ends at the lowest one, and does not stretch the scale.
  function cutIntervals(rows) {
    const lowest = rows.reduce((least, { mean }) => (mean === null ? least : Math.min(least, mean)), Infinity);
    for (const row of rows) {
      if (row.low !== null) row.low = Math.max(row.low, lowest);
      if (row.high !== null) row.high = Math.max(row.high, lowest);
    }
  }

  function rowsOf(curves) {
    const least = leastDrawn(curves);
    const rows = curves.flatMap((item) => lineRows(item, least));
    if (state.scale === "log") cutIntervals(rows);
    return rows;
  }

  // The rows that have a field, those of one line without a gap in one part. Parts are numbered within their line,
  // so that Vega keeps those of the other lines when one goes.
  function unbroken(rows, field) {
    const parts = [];
    let number = 0;
    rows.forEach((row, i) => {
      const before = i > 0 && rows[i - 1].line === row.line ? rows[i - 1] : null;
      if (!before) number = 0;
      if (row[field] === null) return;
      if (!before || before[field] === null) parts.push([]);
      if (before && before[field] === null) number += 1;
      parts.at(-1).push({ ...row, part: number });
    });
    return parts;
  }

  function datasetsOf(rows) {
    const [lines, bands] = [unbroken(rows, "mean"), unbroken(rows, "low")];
    const long = (part) => part.length > 1;
    const points = lines.filter((part) => !long(part)).flat();
    for (const point of points) Object.assign(point, { low: point.low ?? point.mean, high: point.high ?? point.mean });
    return { lines: lines.filter(long).flat(), bands: bands.filter(long).flat(), points };
  }

  function valueAt(panelId, lineId, t) {
    const curve = curveOf(panelId, lineId);
    const i = curve ? curve.t.indexOf(t) : -1;
    if (i < 0) return null;
    const { mean, low, high } = curve[state.metric];
    return { mean: mean[i], low: low[i], high: high[i] };
  }

  // ---- Words ----

  const METRICS = { reward: "cumulative reward", regret: "dynamic regret" };

  function show(number) {
    if (number === null) return "–";
    const size = Math.abs(number);
    if (size !== 0 && (size < 1e-3 || size >= 1e9)) return number.toExponential(2);
    const digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
    return number.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })
      .replace("-", "\u2212");
  }

  const showTime = (t) => t.toLocaleString("en-US");
  const plural = (n, word) => `${n.toLocaleString("en-US")} ${word}${n === 1 ? "" : "s"}`;

  function describe(curves) {
    const seeds = curves.map(({ curve }) => curve.n_seeds);
    if (!seeds.length) return METRICS[state.metric];
    const [least, most] = [Math.min(...seeds), Math.max(...seeds)];
    return `${METRICS[state.metric]}, ${least === most ? "" : `${least} to `}${plural(most, "seed")}`;
  }

  function noteOn(rows) {
    if (state.scale === "linear") return "";
    const left = rows.filter((row) => row.mean === null).length;
    return left ? `Not drawn on a log scale: ${plural(left, "point")} near or below 0.` : "";
  }

  function emptiness(curves, rows) {
    if (curves.length === 0) {
      return state.hidden.size === data.lines.length ? "No agent is chosen." : "No results in this setting.";
    }
    return rows.some((row) => row.mean !== null) ? "" : "Nothing to draw.";
  }

  // ---- Panels ----

  const panels = findAll(".panel").map((element, i) => ({
    id: data.panels[i].id,
    element,
    plot: find(".plot", element),
    canvas: find(".canvas", element),
    cursor: find(".cursor", element),
    readout: find(".readout", element),
    view: null, // the Vega view, and which specification it was made from
    form: "",
    near: false, // on the screen or close to it
    stale: true,
    at: -1, // the cursor's place in `times`
    times: [],
  }));

  // Charts hold no numbers until they are filled, so panels share what Vega made of a specification.
  const runtimes = new Map();

  function runtimeOf(form) {
    if (!runtimes.has(form)) {
      const compiled = vegaLite.compile(data.specs[state.scale][state.time]);
      runtimes.set(form, vega.parse(compiled.spec, null, { ast: true }));
    }
    return runtimes.get(form);
  }

  function prepareView(panel) {
    const form = `${state.scale}/${state.time}`;
    if (panel.form === form) return;
    panel.view?.finalize();
    panel.canvas.replaceChildren();
    panel.view = new vega.View(runtimeOf(form), {
      container: panel.canvas,
      renderer: "svg",
      expr: vegaInterpreter, // no eval, so the page's policy can forbid it
      hover: false,
    });
    panel.form = form;
  }

  function setText(element, text) {
    element.textContent = text;
    element.hidden = text === "";
  }

  function draw(panel) {
    const curves = visibleCurves(panel.id);
    const rows = rowsOf(curves);
    const nothing = emptiness(curves, rows);
    setText(find(".what", panel.element), describe(curves));
    setText(find(".note", panel.element), noteOn(rows));
    setText(find(".empty", panel.element), nothing);
    panel.canvas.style.visibility = nothing ? "hidden" : ""; // it keeps its width
    panel.times = nothing ? [] : [...new Set(rows.map((row) => row.t))].sort((a, b) => a - b);
    panel.stale = false;
    clearCursor(panel);
    if (nothing) return;
    prepareView(panel);
    for (const [name, values] of Object.entries(datasetsOf(rows))) panel.view.data(name, values);
    panel.view.run();
  }

  function drawNear() {
    for (const panel of panels) if (panel.near && panel.stale) draw(panel);
  }

  function drawAll() {
    for (const panel of panels) if (panel.stale) draw(panel);
  }

  function showAll() {
    showControls();
    showSetting();
    for (const panel of panels) panel.stale = true;
    drawNear();
  }

  // ---- The cursor: a time in a panel, and what every line was worth then ----

  function valuesAt(panel, t) {
    return visibleCurves(panel.id)
      .map(({ line }) => ({ line, ...valueAt(panel.id, line.id, t) }))
      .filter((value) => value.mean !== undefined)
      .sort((a, b) => b.mean - a.mean);
  }

  function clearCursor(panel) {
    panel.at = -1;
    panel.readout.hidden = true;
    panel.cursor.replaceChildren();
  }

  function moveCursor(panel, at) {
    if (at === panel.at || !panel.times.length) return;
    panel.at = at;
    const t = panel.times[at];
    const values = valuesAt(panel, t);
    drawCursor(panel, t, values);
    fillReadout(panel.readout, t, values);
    placeReadout(panel, t);
  }

  function shape(name, attributes) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  }

  // It lies above the chart: moving it draws no line again.
  function drawCursor(panel, t, values) {
    const { view } = panel;
    const [left, top] = corner(view);
    const x = left + view.scale("x")(t);
    const least = leastDrawn(visibleCurves(panel.id));
    const rule = shape("line", { x1: x, x2: x, y1: top, y2: top + view.signal("height") });
    const dots = values.filter(({ mean }) => drawn(mean, least)).map(({ line, mean }) => {
      return shape("circle", { cx: x, cy: top + view.scale("y")(mean), r: 4, fill: view.scale("color")(line.id) });
    });
    panel.cursor.replaceChildren(rule, ...dots);
  }

  const interval = ({ low, high }) => (low === null || high === null ? "" : `${show(low)} to ${show(high)}`);

  function fillReadout(readout, t, values) {
    const title = document.createElement("p");
    title.textContent = `t = ${showTime(t)}`;
    const table = document.createElement("table");
    for (const value of values) {
      const row = table.insertRow();
      row.insertCell().append(swatchOf(value.line.id));
      for (const text of [value.line.label, show(value.mean), interval(value)]) row.insertCell().textContent = text;
    }
    readout.replaceChildren(title, table);
    readout.hidden = false;
  }

  function swatchOf(lineId) {
    const box = findAll("input[type=checkbox]", controls).find((input) => input.value === lineId);
    return find(".swatch", box.parentElement).cloneNode(true);
  }

  // Beside the rule, on the wider side, and inside the plot.
  function placeReadout(panel, t) {
    const x = corner(panel.view)[0] + panel.view.scale("x")(t);
    const [plotWidth, width] = [panel.plot.clientWidth, panel.readout.offsetWidth];
    const left = x < plotWidth / 2 ? Math.min(x + 12, plotWidth - width) : Math.max(0, x - 12 - width);
    panel.readout.style.left = `${left}px`;
  }

  // Where the plotted area begins, inside the drawing.
  function corner(view) {
    const [padding, origin] = [view.padding(), view.origin()];
    return [padding.left + origin[0], padding.top + origin[1]];
  }

  function nearest(times, t) {
    const after = times.findIndex((time) => time >= t);
    if (after < 0) return times.length - 1;
    return after > 0 && t - times[after - 1] < times[after] - t ? after - 1 : after;
  }

  function onPointer(panel, event) {
    if (!panel.times.length) return;
    const x = event.clientX - panel.plot.getBoundingClientRect().left - corner(panel.view)[0];
    moveCursor(panel, nearest(panel.times, panel.view.scale("x").invert(x)));
  }

  function target(key, at, last) {
    switch (key) {
      case "ArrowRight": return Math.min(last, at + 1);
      case "ArrowLeft": return at < 0 ? last : Math.max(0, at - 1);
      case "PageUp": return Math.max(0, at - 20);
      case "PageDown": return Math.min(last, at + 20);
      case "Home": return 0;
      case "End": return last;
      default: return null;
    }
  }

  function onKey(panel, event) {
    if (event.key === "Escape") return clearCursor(panel);
    const at = target(event.key, panel.at, panel.times.length - 1);
    if (at === null || !panel.times.length || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    moveCursor(panel, at);
    speak(panel);
  }

  function speak(panel) {
    const t = panel.times[panel.at];
    const values = valuesAt(panel, t).map((value) => {
      const range = interval(value);
      return `${value.line.label} ${show(value.mean)}${range && ` (${range})`}`;
    });
    document.getElementById("spoken").textContent = `t = ${showTime(t)}: ${values.join("; ")}`;
  }

  // ---- Start ----

  function listen() {
    controls.addEventListener("change", onControl);
    controls.addEventListener("click", onButton);
    controls.addEventListener("submit", (event) => event.preventDefault());
    addEventListener("hashchange", () => (isView() ? start() : writeAddressUnlessPlain()));
    addEventListener("beforeprint", drawAll);
    for (const panel of panels) {
      panel.plot.addEventListener("pointermove", (event) => onPointer(panel, event));
      panel.plot.addEventListener("pointerdown", (event) => onPointer(panel, event));
      panel.plot.addEventListener("pointerleave", () => clearCursor(panel));
      panel.plot.addEventListener("keydown", (event) => onKey(panel, event));
      panel.plot.addEventListener("blur", () => clearCursor(panel));
    }
  }

  // After a jump to a place, the address is again that of the view, if the reader changed it.
  function writeAddressUnlessPlain() {
    const plain = !state.hidden.size && Object.entries(CHOICES).every(([name, values]) => state[name] === values[0]);
    if (!plain) writeAddress();
  }

  function start() {
    readAddress();
    showAll();
  }

  // Panels are drawn when they come near the screen; `ready` waits for the first of them.
  function watch(onFirst) {
    const observer = new IntersectionObserver((entries) => {
      for (const entry of entries) panels.find(({ element }) => element === entry.target).near = entry.isIntersecting;
      drawNear();
      onFirst();
    }, { rootMargin: "400px" });
    for (const panel of panels) observer.observe(panel.element);
  }

  document.getElementById("interactive").hidden = false;
  listen();
  start();
  window.driftmdp = {
    ready: new Promise(watch),
    get state() { return { ...state, hidden: [...state.hidden] }; },
    valueAt,
    drawAll,
    view: (panelId) => panels.find((panel) => panel.id === panelId).view,
  };
})();
