// Rules about single columns and pairs: forbidden and required edges, and what comes first; as a table and as a file.

import { save, upload } from "./api.js";
import { byId, html, options, plural, tell } from "./dom.js";
import { changed, columnsOn, drop, KINDS, nothing, on, put, state } from "./store.js";

export const WORDS = {
  forbidden: "must not cause",
  required: "must cause",
  before: "comes before",
  roots: "has no causes",
  leaves: "has no effects",
  confounded: "shares a hidden cause with",
};
const ALONE = new Set(["roots", "leaves"]);
const MOST_SUGGESTED = 50;

export function rulesCard() {
  const kind = html("select", { id: "rule-kind", "aria-label": "Rule" });
  options(kind, Object.entries(WORDS), "forbidden");
  const second = html("input", { id: "rule-second", list: "rule-names", "aria-label": "Second column", placeholder: "column", autocomplete: "off", spellcheck: "false" });
  const first = html("input", { id: "rule-first", list: "rule-names", "aria-label": "First column", placeholder: "column", autocomplete: "off", spellcheck: "false" });
  kind.addEventListener("change", () => { second.hidden = ALONE.has(kind.value); });
  for (const input of [first, second]) input.addEventListener("input", () => suggest(input.value));
  const form = html("form", { class: "bar rule-form" }, first, kind, second, html("button", { type: "submit" }, "Add"), html("datalist", { id: "rule-names" }));
  form.addEventListener("submit", (event) => { event.preventDefault(); add(first, kind.value, second); });
  const file = html("input", { type: "file", class: "unseen", id: "knowledge-file", accept: ".toml,.json" });
  file.addEventListener("change", () => { if (file.files.length) read(file.files[0]); file.value = ""; });
  on("knowledge", draw);
  on("columns", draw);
  on("check", () => {
    byId("knowledge-text").textContent = state.check.text || "# Nothing is said yet.";
    byId("knowledge-save").disabled = !state.check.text;
  });
  return html("div", { class: "card" },
    html("div", { class: "bar" }, html("h2", {}, "Rules"),
      html("label", { class: "button", for: "knowledge-file" }, file, "Load a file"),
      html("button", { type: "button", id: "knowledge-save", disabled: true, onclick: () => save(new Blob([state.check.text]), "knowledge.toml") }, "Save as knowledge.toml"),
      html("button", { type: "button", onclick: clear }, "Clear all")),
    form,
    html("p", { class: "note", id: "rule-error", role: "alert" }),
    html("div", { class: "wide" }, html("table", { id: "rules", "aria-label": "Rules" }, html("tbody", {}))),
    html("details", {}, html("summary", {}, "As a file, for the command line and Python"), html("pre", { id: "knowledge-text", tabindex: "0" })));
}

function suggest(text) {
  const wanted = text.trim().toLowerCase();
  const found = [];
  for (const name of columnsOn()) {
    if (name.toLowerCase().includes(wanted)) found.push(name);
    if (found.length === MOST_SUGGESTED) break;
  }
  byId("rule-names").replaceChildren(...found.map((name) => html("option", { value: name })));
}

function add(first, kind, second) {
  const names = ALONE.has(kind) ? [first.value] : [first.value, second.value];
  const known = new Set(columnsOn());
  const unknown = names.find((name) => !known.has(name));
  const error = unknown !== undefined ? `There is no column '${unknown}' in use.` : names[0] === names[1] ? "A rule needs two different columns." : "";
  byId("rule-error").textContent = error;
  if (error) return;
  put(kind, ALONE.has(kind) ? names[0] : names);
  first.value = second.value = "";
  first.focus();
}

function draw() {
  if (!state.table) return;
  const used = new Set(columnsOn());
  const rows = KINDS.flatMap((kind) => state.knowledge[kind].map((item) => rule(kind, item, used)));
  byId("rules").tBodies[0].replaceChildren(...(rows.length ? rows : [html("tr", {}, html("td", { class: "note" }, "No rules yet. Add one here, or click an edge of a learnt graph."))]));
}

function rule(kind, item, used) {
  const names = [item].flat();
  const off = names.some((name) => !used.has(name));
  const sentence = `${names[0]} ${WORDS[kind]}${names.length > 1 ? ` ${names[1]}` : ""}`;
  return html("tr", { class: off ? "off" : "" },
    html("td", {}, names[0]), html("td", { class: `rule-${kind}` }, WORDS[kind]), html("td", {}, names[1] || ""),
    html("td", { class: "note" }, off ? "not in use" : ""),
    html("td", { class: "end" }, html("button", { type: "button", "aria-label": `Remove: ${sentence}`, onclick: () => drop(kind, item) }, "Remove")));
}

async function read(file) {
  try {
    const { knowledge } = await upload("knowledge", file);
    state.knowledge = { ...nothing(), ...knowledge };
    changed();
    tell(`${file.name} was read: ${plural(state.knowledge.tiers.length, "tier")}, ${plural(KINDS.reduce((sum, kind) => sum + state.knowledge[kind].length, 0), "rule")}.`);
    byId("rule-error").textContent = "";
  } catch (error) {
    byId("rule-error").textContent = error.message;
  }
}

function clear() {
  const before = structuredClone(state.knowledge);
  state.knowledge = nothing();
  changed();
  tell("All knowledge was cleared.", html("button", { type: "button", onclick: () => { state.knowledge = before; changed(); } }, "Undo"));
}
