// Step 1: the table. Every column with its kind, its gaps and a small histogram; what is wrong, and what to do.

import { remove, upload } from "./api.js";
import { byId, count, debounced, html, percent, plural, svg, tell } from "./dom.js";
import { changed, emit, load, on, state, take } from "./store.js";
import { virtualList } from "./virtual.js";

const SHOWN_PROBLEMS = 12;
const PREVIEW_COLUMNS = 30;
let list = null;
let found = [];
let open = null;

export function tablePanel(opened) {
  open = opened;
  const panel = byId("step-table");
  on("table", () => { draw(panel); });
  on("columns", summary);
  for (const kind of ["dragenter", "dragover"]) addEventListener(kind, (event) => { event.preventDefault(); panel.classList.add("dropping"); });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) panel.classList.remove("dropping"); });
  addEventListener("drop", (event) => {
    event.preventDefault();
    panel.classList.remove("dropping");
    if (event.dataTransfer.files.length) read(event.dataTransfer.files[0]);
  });
}

function chooser(label, style) {
  const input = html("input", { type: "file", class: "unseen", id: "file" });
  input.addEventListener("change", () => { if (input.files.length) read(input.files[0]); });
  return html("label", { class: `button ${style}`, for: "file" }, input, label);
}

async function read(file) {
  open("table");
  const panel = byId("step-table");
  const wait = waiting(`Reading ${file.name}`);
  panel.prepend(wait);
  try {
    take(await upload("table", file));
    for (const event of ["table", "columns", "knowledge", "runs", "shown"]) emit(event);
  } catch (error) {
    panel.querySelector("#refusal")?.remove();
    panel.prepend(refusal(error.message));
  }
  wait.remove();
}

const refusal = (text) => html("div", { class: "card wrong", id: "refusal", role: "alert" }, html("p", {}, text));

const waiting = (text) => html("div", { class: "card waiting" }, html("span", { class: "spinner", "aria-hidden": "true" }),
  html("span", { role: "status" }, text),
  html("button", { type: "button", onclick: () => remove("table").catch((error) => tell(error.message)) }, "Stop"));

async function watch(panel) {
  const { looking, table } = await load();
  const reads = looking && looking.state === "running" && !table;
  panel.querySelector(".waiting")?.remove();
  if (reads) {
    panel.prepend(waiting(looking.progress));
    setTimeout(() => watch(panel), 300);
  } else if (table) for (const event of ["table", "columns", "knowledge", "runs", "shown"]) emit(event);
  else if (looking && looking.error) panel.prepend(refusal(looking.error));
}

function draw(panel) {
  const { table } = state;
  if (!table) {
    if (panel.querySelector(".welcome")) return;
    panel.replaceChildren(html("div", { class: "card welcome" },
      html("h1", {}, "Which causes which?"),
      html("p", {}, "Drop a table here: one row per sample, one column per variable. You look at it, say what you know, learn a graph, and ask it questions."),
      html("div", { class: "drop" }, html("p", {}, "Drop a file here"), chooser("Choose a file", "primary"),
        html("p", { class: "note" }, "CSV, TSV, Excel, Parquet, Feather, SAS, Stata or SPSS. It stays on this machine."))));
    watch(panel).catch((error) => tell(error.message));
    return;
  }
  panel.replaceChildren(
    html("div", { class: "card" },
      html("div", { class: "bar" }, html("div", {}, html("h1", {}, table.name), html("p", { class: "note", id: "table-summary" })), chooser("Choose another file", "")),
      html("ul", { class: "problems", id: "problems" })),
    html("div", { class: "card" },
      html("div", { class: "bar" }, html("h2", {}, "Columns"),
        html("label", { class: "field" }, "Search", html("input", { type: "search", id: "find-column", autocomplete: "off", spellcheck: "false" })),
        html("button", { type: "button", onclick: () => switchAll(true) }, "Use all shown"),
        html("button", { type: "button", onclick: () => switchAll(false) }, "Use none shown")),
      html("div", { class: "columns-head", "aria-hidden": "true" }, ...["Use", "Column", "Kind", "Values", "Missing", "First values"].map((text) => html("span", {}, text))),
      html("div", { class: "virtual", id: "columns", role: "table", "aria-label": "Columns of the table", tabindex: "0" })),
    preview(table),
  );
  list = virtualList(byId("columns"), (k) => row(found[k]));
  byId("find-column").addEventListener("input", debounced(fill, 80));
  fill();
  summary();
}

function fill() {
  const wanted = byId("find-column").value.trim().toLowerCase();
  found = state.table.columns.filter(({ name }) => name.toLowerCase().includes(wanted));
  list.update(found.length);
}

function preview(table) {
  const shown = table.columns.slice(0, PREVIEW_COLUMNS);
  const rest = table.columns.length - shown.length;
  const rows = shown.length ? shown[0].first.map((_, k) => k) : [];
  return html("details", { class: "card" }, html("summary", {}, "First rows"),
    html("div", { class: "wide", tabindex: "0" }, html("table", {},
      html("thead", {}, html("tr", {}, ...shown.map(({ name }) => html("th", { scope: "col" }, name)))),
      html("tbody", {}, ...rows.map((k) => html("tr", {}, ...shown.map(({ first }) => html("td", {}, first[k] === null ? "" : first[k]))))))),
    rest > 0 ? html("p", { class: "note" }, `${plural(rest, "more column")}; the list above has all of them.`) : null);
}

function row(column) {
  const { name, kind, missing, bars, first, distinct } = column;
  const usable = kind === "number" || kind === "category";
  const box = html("input", { type: "checkbox", "aria-label": `Use ${name}`, checked: !state.off.has(name) });
  box.addEventListener("change", () => { switchOff([name], !box.checked); });
  const now = state.categorical.has(name) ? "category" : kind;
  const choice = kind === "number"
    ? html("select", { "aria-label": `Kind of ${name}` }, html("option", { value: "number" }, "number"), html("option", { value: "category" }, "category"))
    : html("span", { class: usable ? "kind" : "kind wrong" }, kind);
  if (kind === "number") {
    choice.value = now;
    choice.addEventListener("change", () => { state.categorical[choice.value === "category" ? "add" : "delete"](name); emit("columns"); changed(); });
  }
  const cell = (style, ...children) => html("div", { class: style, role: "cell" }, ...children);
  const share = missing / state.table.rows;
  return html("div", { role: "row", class: state.off.has(name) ? "column off" : "column", "data-name": name },
    cell("c-use", box), cell("c-name", html("span", { title: name }, name)), cell("c-kind", choice),
    cell("c-bars", histogram(bars, name, distinct)),
    cell(missing ? "c-missing some" : "c-missing", missing ? `${count(missing)} (${share < 0.01 ? "<1 %" : percent(share)})` : "none"),
    cell("c-first", first.filter((text) => text !== null).slice(0, 5).join(", ")));
}

function histogram(bars, name, distinct) {
  if (!bars.length) return html("span", { class: "note" }, "–");
  const most = Math.max(...bars.map((bar) => bar.count)) || 1;
  const width = Math.min(96 / bars.length, 18);
  return svg("svg", { viewBox: "0 0 96 28", width: 96, height: 28, role: "img", "aria-label": `${name}: ${count(distinct)} distinct values, from ${bars[0].label} to ${bars[bars.length - 1].label}` },
    ...bars.map((bar, k) => svg("rect", { x: k * width + 0.5, y: 28 - Math.max(1, (27 * bar.count) / most), width: width - 1, height: Math.max(1, (27 * bar.count) / most) },
      svg("title", {}, `${bar.label}: ${count(bar.count)}`))));
}

export function switchOff(names, off) {
  for (const name of names) state.off[off ? "add" : "delete"](name);
  for (const element of byId("columns").querySelectorAll(".column")) {
    const isOff = state.off.has(element.dataset.name);
    element.classList.toggle("off", isOff);
    element.querySelector("input").checked = !isOff;
  }
  emit("columns");
  changed();
}

const switchAll = (use) => switchOff(found.map(({ name }) => name), !use);

function summary() {
  const { table } = state;
  if (!table || !byId("table-summary")) return;
  const used = table.columns.length - state.off.size;
  byId("table-summary").textContent = `${plural(table.rows, "row")}, ${plural(table.columns.length, "column")}, ${count(used)} of them in use`;
  const open = table.problems.filter(({ column, kind }) => !(column && state.off.has(column)) && !(kind === "missing" && state.settings.missing !== "error"));
  const holes = open.filter(({ kind }) => kind === "missing");
  const rest = open.filter(({ kind }) => kind !== "missing");
  const useless = [...new Set(rest.filter(({ action }) => action === "exclude").map(({ column }) => column).filter(Boolean))];
  const items = [
    ...(holes.length ? [missing(holes)] : []),
    ...(useless.length > 1 ? [all(useless)] : []),
    ...rest.slice(0, SHOWN_PROBLEMS).map(problem),
    ...(rest.length > SHOWN_PROBLEMS ? [html("li", {}, `… and ${plural(rest.length - SHOWN_PROBLEMS, "more problem")}.`)] : []),
    ...table.warnings.map((text) => html("li", {}, html("span", {}, text))),
  ];
  const list = byId("problems");
  list.replaceChildren(...items);
  list.hidden = !items.length;
}

function problem({ column, sentence, remedy, fatal }) {
  return html("li", { class: fatal ? "fatal" : "" }, html("span", {}, `${sentence} ${remedy}`),
    column ? html("button", { type: "button", onclick: () => switchOff([column], true) }, `Leave out ${column}`) : null);
}

function all(names) {
  return html("li", { class: "fatal" }, html("span", {}, `${plural(names.length, "column")} should be left out, for the reasons below.`),
    html("button", { type: "button", onclick: () => switchOff(names, true) }, `Leave out all ${count(names.length)}`));
}

function missing(holes) {
  const total = holes.reduce((sum, each) => sum + each.count, 0);
  const choose = (way) => () => { state.settings.missing = way; emit("settings"); emit("columns"); changed(); };
  return html("li", { class: "fatal" },
    html("span", {}, `${plural(total, "value")} ${total === 1 ? "is" : "are"} missing in ${holes.length === 1 ? holes[0].column : plural(holes.length, "column")}.`),
    html("button", { type: "button", onclick: choose("impute") }, "Fill them in"),
    html("button", { type: "button", onclick: choose("bin") }, "Treat missing as a value"),
    html("button", { type: "button", onclick: choose("drop") }, "Leave out their rows"));
}

