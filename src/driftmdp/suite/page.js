/* The filters: what the reader chose decides which contests count. Numbers come from the element "data". The
   standings and the ranks by group are computed again from them, as Python did for the whole family, and rows of
   contests that do not fit are hidden. Texts enter the page as text only. */
(() => {
  "use strict";

  const { agents, contests } = JSON.parse(document.getElementById("data").textContent);
  const form = document.getElementById("filters");
  const NAMES = ["group", "noise", "drift", "horizon"];
  const NONE = "–";

  const rowsOf = (table) => [...document.querySelectorAll(`#table-${table} tbody tr`)];
  const keyOf = (row) => row.dataset.key.slice(row.dataset.key.indexOf(":") + 1);
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const present = (values) => values.filter((value) => value !== null);

  function median(values) {
    const sorted = [...values].sort((a, b) => a - b);
    const half = sorted.length / 2;
    return Number.isInteger(half) ? (sorted[half - 1] + sorted[half]) / 2 : sorted[Math.floor(half)];
  }

  // As the package writes numbers: some significant digits, but never fewer than the whole number has.
  function number(value, digits) {
    const places = value ? Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value)))) : 0;
    return value.toLocaleString("en-US", { maximumFractionDigits: Math.min(places, 20) });
  }

  // ---- Choices, and the address that remembers them ----

  const choice = () => Object.fromEntries(NAMES.map((name) => [name, form.elements[name].value]));
  const fits = (contest, wanted) => NAMES.every((name) => !wanted[name] || contest[name] === wanted[name]);

  function readAddress() {
    const address = new URLSearchParams(location.hash.slice(1));
    for (const name of NAMES) {
      const select = form.elements[name];
      const value = address.get(name) ?? "";
      select.value = [...select.options].some((option) => option.value === value) ? value : "";
    }
  }

  function writeAddress(wanted) {
    const chosen = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value));
    const page = location.href.split("#")[0];
    history.replaceState(null, "", chosen.size ? `${page}#${chosen}` : page);
  }

  // ---- Cells ----

  // A mark is copied from a cell that has one, so that the page says in one place what it looks like.
  const marks = [...(document.querySelector('[data-kind="least"]')?.querySelectorAll(".sign, .unseen") ?? [])];

  function fill(cell, text, value = null, least = false) {
    cell.replaceChildren(...(least ? marks.map((mark) => mark.cloneNode(true)) : []), text);
    if (value === null) delete cell.dataset.value;
    else cell.dataset.value = value;
    if (least) cell.dataset.kind = "least";
    else delete cell.dataset.kind;
  }

  // ---- Standings ----

  function standing(agent, chosen) {
    const place = agents.indexOf(agent);
    const met = chosen.filter((contest) => contest.ratios[place] !== null);
    if (!met.length) return null;
    const ratios = met.map((contest) => contest.ratios[place]);
    const ranks = present(met.map((contest) => contest.ranks[place]));
    const worst = ratios.reduce((most, ratio, i) => (ratio > ratios[most] ? i : most), 0);
    return {
      n: met.length,
      median: median(ratios),
      worst: ratios[worst],
      on: met[worst].title,
      rank: ranks.length ? mean(ranks) : null,
      wins: ranks.filter((rank) => rank === 1).length,
      everywhere: ranks.length === chosen.length,
    };
  }

  function fillStanding(row, one, total, least) {
    const [, , middle, wins, rank, worst, on, met] = row.children;
    const share = one.wins / one.n;
    fill(middle, number(one.median, 3), one.median, least);
    if (one.rank !== null) {
      fill(wins, `${one.wins.toLocaleString("en-US")} (${Math.round(100 * share)}%)`, share);
      fill(rank, one.rank.toFixed(2), one.rank);
    }
    fill(worst, number(one.worst, 3), one.worst);
    fill(on, one.on);
    fill(met, one.n === total ? `${one.n}` : `${one.n} of ${total}`, one.n);
  }

  function showStandings(table, chosen) {
    const rows = rowsOf(table);
    const found = new Map(rows.map((row) => [row, standing(keyOf(row), chosen)]));
    const order = (row) => found.get(row)?.median ?? Infinity;
    rows.sort((a, b) => order(a) - order(b));
    const least = rows.find((row) => found.get(row)?.everywhere);
    for (const row of rows) {
      const one = found.get(row);
      row.hidden = one === null;
      if (one) fillStanding(row, one, chosen.length, row === least);
      row.parentNode.append(row);
    }
  }

  // ---- Ranks by group ----

  function showRanks(chosen) {
    for (const row of rowsOf("ranks")) {
      const group = keyOf(row);
      const these = group ? chosen.filter((contest) => contest.group === group) : chosen;
      row.hidden = !these.length;
      if (these.length) fillRanks(row, these);
    }
  }

  function fillRanks(row, these) {
    const [, count, ...cells] = row.children;
    const ranks = cells.map((cell, place) => present(these.map((contest) => contest.ranks[place])));
    const means = ranks.map((found) => (found.length ? mean(found) : null));
    const least = Math.min(...means.filter((_, place) => ranks[place].length === these.length));
    fill(count, `${these.length}`, these.length);
    cells.forEach((cell, place) => {
      if (means[place] === null) return fill(cell, NONE);
      const best = means[place] === least && ranks[place].length === these.length;
      fill(cell, means[place].toFixed(2), means[place], best);
    });
  }

  // ---- All of it ----

  // What Python wrote has intervals. It is kept, and shown again when nothing is filtered.
  const computed = ["standing-reported", "standing-tuning", "ranks"].map((name) => document.querySelector(`#table-${name} tbody`));
  const originals = computed.map((body) => body?.cloneNode(true));

  function restore() {
    computed.forEach((body, i) => body?.replaceChildren(...originals[i].cloneNode(true).children));
  }

  function showRows(wanted) {
    const shown = new Set(contests.filter((contest) => fits(contest, wanted)).map((contest) => contest.slug));
    for (const row of document.querySelectorAll('tr[data-key^="contest:"]')) row.hidden = !shown.has(keyOf(row));
    for (const table of document.querySelectorAll(".table")) {
      const rows = [...table.querySelectorAll("tbody tr")];
      table.classList.toggle("empty", rows.length > 0 && rows.every((row) => row.hidden));
    }
  }

  function sentence(chosen, total, isFiltered) {
    if (!isFiltered) return `All ${total} reported problems and horizons.`;
    if (!chosen.length) return "No problem fits. Choose less.";
    return `${chosen.length} of ${total} problems and horizons. Medians of a part have no interval. Figures and tests are of all.`;
  }

  function show() {
    const wanted = choice();
    const isFiltered = NAMES.some((name) => wanted[name]);
    const fitting = contests.filter((contest) => fits(contest, wanted));
    const of = (family, among) => among.filter((contest) => contest.family === family);
    const chosen = of("reported", fitting);
    restore();
    if (isFiltered) {
      showStandings("standing-reported", chosen);
      showStandings("standing-tuning", of("tuning", fitting));
      showRanks(chosen);
    }
    showRows(wanted);
    document.body.classList.toggle("filtered", isFiltered);
    document.getElementById("shown").value = sentence(chosen, of("reported", contests).length, isFiltered);
  }

  function onChoice() {
    writeAddress(choice());
    show();
  }

  form.hidden = false;
  form.addEventListener("change", onChoice);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(onChoice));
  window.addEventListener("hashchange", () => {
    if (!location.hash.includes("=")) return; // a place on the page, not a choice
    readAddress();
    show();
  });
  readAddress();
  show();
  window.driftmdp = { ready: Promise.resolve(true), choice };
})();
