"use strict";
// Every state is in the address: this script moves the focus, and sends decisions.
const body = document.body;
const base = body.dataset.base;
const rows = [...document.querySelectorAll("tr[data-row]")];
const status = document.getElementById("status");
const isOne = document.querySelector("table.one") !== null;
const KEYS = { y: "keep", d: "drop", u: "undecided" };
let timer = 0;

function say(text, failed = false) {
  status.textContent = text;
  status.classList.toggle("failed", failed);
  clearTimeout(timer);
  // What failed stays until something is done about it.
  if (!failed) timer = setTimeout(() => { status.textContent = ""; }, 4000);
}

function current() {
  const focused = document.activeElement && document.activeElement.closest("tr[data-row]");
  return focused || (isOne ? rows[0] : null);
}

function move(step) {
  if (isOne) {
    const link = document.querySelector(step > 0 ? "a[rel=next]" : "a[rel=prev]");
    if (link) link.click();
    return;
  }
  const at = rows.indexOf(current());
  const next = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step];
  if (next) {
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  } else {
    const link = document.querySelector(step > 0 ? "a[rel=next]" : "a[rel=prev]");
    if (link) link.click();
  }
}

function count(id, more) {
  const counter = document.getElementById(id);
  const n = Number(counter.textContent.replace(/\D/g, "")) + more;
  counter.textContent = n.toLocaleString("en-US");
  return n;
}

function show(row, decision, saved) {
  const cell = row.querySelector(".state");
  cell.textContent = "";
  const before = row.dataset.decision;
  row.dataset.decision = decision === "undecided" ? "" : decision;
  const about = document.querySelector("[data-words]");
  if (about) {
    const words = about.dataset.words.split(" ");
    count("decided-count", words.includes(row.dataset.decision) - words.includes(before));
    const n = count("noted-count", (row.dataset.decision === "note") - (before === "note"));
    document.getElementById("noted").hidden = n === 0;
  }
  if (!row.dataset.decision) return;
  const word = document.createElement("span");
  word.className = `decided is-${decision}`;
  word.textContent = saved.label ? `${decision} → ${saved.label}` : decision;
  cell.append(word);
  for (const [name, text] of Object.entries(saved.texts)) {
    const field = document.createElement("span");
    field.className = "new";
    field.dataset.new = name;
    field.dataset.raw = JSON.stringify(text);
    const head = document.createElement("b");
    head.textContent = `new ${name}:`;
    const value = document.createElement("bdi");
    value.textContent = text;
    field.append(head, " ", value);
    cell.append(field);
  }
  if (saved.note) {
    const note = document.createElement("span");
    note.className = "note";
    note.textContent = saved.note;
    cell.append(note);
  }
}

function named(row) {
  return (isOne ? document.querySelector("h1") : row.querySelector("a.open")).textContent.trim();
}

async function send(path, asked) {
  let answer;
  try {
    answer = await fetch(`${base}${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(asked),
    });
  } catch {
    say("Not saved: goldassay view does not answer. Start it again, and open the address that it prints.", true);
    return null;
  }
  const content = await answer.text();
  let told;
  try { told = JSON.parse(content); } catch { told = { problem: content.trim() }; }
  if (!answer.ok) { say(`Not saved: ${told.problem}`, true); return null; }
  return told;
}

async function decide(row, decision, more = {}) {
  if (body.dataset.canDecide !== "yes") {
    say("Nothing can be decided: name the dataset with --test, or with --decisions a file that can be written.", true);
    return;
  }
  const told = await send("decide", { row: Number(row.dataset.row), key: row.dataset.key, decision, ...more });
  if (!told) return;
  // The page shows a decision only once it is on the disk.
  show(row, told.decision, told);
  say(`Saved: ${decision} (${named(row)})${decision === "undecided" && row.dataset.decision ? `; the row is back at ${told.decision}` : ""}`);
}

// What was decided about many rows is undone by one click, also after the page was loaded again.
const LAST = "goldassay last decisions";

async function decideAll(asked) {
  const told = await send("decide-all", asked);
  if (!told) return;
  const undone = asked.decision === "undecided";
  if (undone) sessionStorage.removeItem(LAST);
  else sessionStorage.setItem(LAST, JSON.stringify({ base, word: told.saved, rows: told.rows, left: told.n_left }));
  location.reload();
}

function confirmAll(button) {
  const dialog = document.getElementById("all");
  const n = Number(button.dataset.n);
  const rowsOf = `${n.toLocaleString("en-US")} ${n === 1 ? "row" : "rows"}`;
  document.getElementById("all-title").textContent = `${button.textContent}: all ${rowsOf} of this filter?`;
  document.getElementById("all-yes").textContent = `${button.textContent} ${rowsOf}`;
  dialog.returnValue = "";
  dialog.onclose = () => {
    if (dialog.returnValue === "yes") decideAll({ query: body.dataset.query, n, decision: button.dataset.all });
  };
  dialog.showModal();
}

function offerUndo() {
  const last = JSON.parse(sessionStorage.getItem(LAST) || "null");
  if (!last || last.base !== base || isOne || !last.rows.length) return;
  const place = document.createElement("p");
  const button = document.createElement("button");
  const n = last.rows.length.toLocaleString("en-US");
  place.className = "warn";
  place.append(`Saved: ${last.word}, ${n} rows${last.left ? `; ${last.left} had it, or equal another row` : ""}. `, button);
  button.type = "button";
  button.id = "undo-all";
  button.textContent = `Undo ${n} decisions`;
  button.addEventListener("click", () => decideAll({ rows: last.rows, n: last.rows.length, decision: "undecided" }));
  document.querySelector("main").prepend(place);
}

function relabel(row) {
  const dialog = document.getElementById("relabel");
  const all = [...dialog.querySelectorAll(".options button")];
  // An item has the labels of its choices that are not empty.
  const choices = [...row.querySelectorAll("ul.choices > li > bdi")];
  const options = choices.length ? all.filter((_, at) => choices[at]?.textContent.trim()) : all;
  for (const option of all) option.hidden = !options.includes(option);
  if (!options.length) { say("These rows have no labels to choose from; drop the row or write a note.", true); return; }
  dialog.returnValue = "";
  dialog.onkeydown = (event) => { const chosen = all[Number(event.key) - 1]; if (options.includes(chosen)) chosen.click(); };
  dialog.onclose = () => { row.focus(); if (dialog.returnValue) decide(row, "relabel", { label: dialog.returnValue }); };
  dialog.showModal();
}

function write(row, decision) {
  const dialog = document.getElementById("write");
  const place = document.getElementById("write-texts");
  const note = document.getElementById("write-note");
  document.getElementById("write-title").textContent = decision === "rewrite" ? "Rewrite" : "Note";
  place.textContent = "";
  const noted = row.querySelector(".state .note")?.textContent || "";
  note.value = noted;
  const fields = [];
  const isRewritten = row.dataset.decision === "rewrite";
  const written = isRewritten ? [...row.querySelectorAll(".state [data-new]")] : [];
  if (decision === "rewrite") {
    const cells = [...row.querySelectorAll("[data-text]")].flatMap((cell) => {
      const choices = [...cell.querySelectorAll("ul.choices > li")];
      // An item has fewer choices than others where the last ones are empty.
      return choices.length
        ? choices.filter((each) => JSON.parse(each.dataset.raw).trim()).map((each) => [`choice ${each.querySelector("b").textContent}`, each])
        : [[cell.dataset.text, cell]];
    });
    for (const [name, cell] of cells) {
      const label = document.createElement("label");
      const field = document.createElement("textarea");
      field.id = `write-${name}`;
      label.htmlFor = field.id;
      label.textContent = name;
      field.rows = cells.length > 3 ? 2 : 3;
      const last = written.find((each) => each.dataset.new === name);
      // Characters that are shown by their escapes, and white space, are as the dataset has them.
      const raw = JSON.parse((last || cell).dataset.raw);
      field.value = raw;
      fields.push([name, field.value, field, raw]);
      place.append(label, field);
    }
  }
  dialog.returnValue = "";
  dialog.onclose = () => {
    row.focus();
    if (dialog.returnValue !== "save") return;
    const texts = {};
    for (const [name, before, field, raw] of fields) {
      // A text area has single line ends; those of the dataset are kept.
      if (field.value !== before) texts[name] = raw.includes("\r\n") ? field.value.replaceAll("\n", "\r\n") : field.value;
    }
    const sent = decide(row, decision, { note: note.value, texts });
    // Only a note takes a note away.
    if (decision === "rewrite" && noted && !note.value) sent.then(() => decide(row, "note", { note: "" }));
  };
  dialog.showModal();
  (fields.length ? fields[0][2] : note).focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, dialog")) {
    if (event.key === "Escape" && event.target.id === "q") event.target.blur();
    return;
  }
  if (event.key === "/") {
    const search = document.getElementById("q");
    if (search) { event.preventDefault(); search.focus(); search.select(); }
    return;
  }
  if (event.key === "j" || event.key === "k") { event.preventDefault(); move(event.key === "j" ? 1 : -1); return; }
  if (event.key === "Escape" && isOne) { document.querySelector("a[rel=up]").click(); return; }
  const row = current();
  if (!row) return;
  if (event.key === "Enter" && event.target === row) { row.querySelector("a.open")?.click(); return; }
  const decision = KEYS[event.key];
  if (decision) { event.preventDefault(); decide(row, decision); }
  if (event.key === "l") { event.preventDefault(); relabel(row); }
  if (event.key === "w") { event.preventDefault(); write(row, "rewrite"); }
  if (event.key === "n") { event.preventDefault(); write(row, "note"); }
});

for (const button of document.querySelectorAll("button[data-do]")) {
  button.addEventListener("click", () => {
    const word = button.dataset.do;
    const row = button.closest("tr[data-row]") || rows[0];
    if (word === "relabel") relabel(row);
    else if (word === "rewrite" || word === "note") write(row, word);
    else decide(row, word);
  });
}

for (const button of document.querySelectorAll("button[data-all]")) button.addEventListener("click", () => confirmAll(button));
offerUndo();

if (isOne && rows.length) rows[0].focus();
// Who comes back from a row's page goes on at that row.
const left = location.hash.match(/^#row-(\d+)$/);
if (!isOne && left) rows.find((row) => row.dataset.row === left[1])?.focus();
if (!isOne) {
  document.addEventListener("focusin", (event) => {
    const row = event.target.closest("tr[data-row]");
    if (row) history.replaceState(null, "", `${location.pathname}${location.search}#row-${row.dataset.row}`);
  });
}
if (matchMedia("(max-width: 48rem)").matches) document.querySelector(".filters")?.removeAttribute("open");

// A rectangle drawn over the map selects the rows in it.
const map = document.getElementById("map");
if (map) {
  let from = null;
  let drawn = null;
  const size = map.viewBox.baseVal.width;
  const at = (event) => {
    const box = map.getBoundingClientRect();
    const within = (value) => Math.min(1, Math.max(0, value));
    return [within((event.clientX - box.left) / box.width), within(1 - (event.clientY - box.top) / box.height)];
  };
  map.addEventListener("dragstart", (event) => event.preventDefault());
  map.addEventListener("pointerdown", (event) => { from = at(event); });
  window.addEventListener("pointermove", (event) => {
    if (!from) return;
    const to = at(event);
    if (!drawn) { drawn = document.createElementNS("http://www.w3.org/2000/svg", "rect"); drawn.classList.add("drawn"); map.append(drawn); }
    drawn.setAttribute("x", Math.min(from[0], to[0]) * size);
    drawn.setAttribute("y", (1 - Math.max(from[1], to[1])) * size);
    drawn.setAttribute("width", Math.abs(from[0] - to[0]) * size);
    drawn.setAttribute("height", Math.abs(from[1] - to[1]) * size);
  });
  window.addEventListener("pointerup", (event) => {
    if (!from) return;
    const to = at(event);
    const start = from;
    from = null;
    // A click is a link to its square.
    if (Math.hypot(start[0] - to[0], start[1] - to[1]) < 0.03) { drawn?.remove(); drawn = null; return; }
    map.addEventListener("click", (click) => click.preventDefault(), { once: true, capture: true });
    const query = new URLSearchParams(body.dataset.query);
    const range = (i, scale) => [Math.min(start[i], to[i]), Math.max(start[i], to[i])].map((v) => (v * scale).toFixed(4)).join("..");
    query.set("n.variability", range(0, 0.5));
    query.set("n.confidence", range(1, 1));
    query.delete("page");
    location.search = query.toString();
  });
}
