// Step 4: look. The report's graph, what changed against another run, and what to know before one trusts it.

import { get } from "./api.js";
import { byId, debounced, html, options, percent, plural, share } from "./dom.js";
import { edgePanel, nodePanel, title } from "./edge.js";
import { drop, emit, finished, holds, on, put, runOf, state } from "./store.js";
import { virtualList } from "./virtual.js";

const contents = new Map(); // by run number
const CHANGES = { came: "came", went: "went", turned: "turned" };
let view = null; // of the run that is looked at
let other = null; // of the run beside it
let shown = null; // its data, with the edges that went
let rows = [];
let list = null;
let fresh = 0;
let chosen = null; // the number of the edge in the panel

export function lookPanel() {
  byId("step-look").append(
    html("div", { class: "card" },
      html("div", { class: "bar" },
        html("label", { class: "field" }, "Run", html("select", { id: "shown-run" })),
        html("label", { class: "field" }, "compared with", html("select", { id: "against-run" })),
        html("label", { class: "field" }, html("input", { type: "checkbox", id: "beside" }), "side by side"),
        html("span", { class: "changes", id: "changes", role: "status" })),
      html("details", { id: "diagnostics" }, html("summary", {}), html("ul", {}))),
    html("div", { class: "look" },
      html("div", { class: "graphs" },
        html("div", { class: "card graph-card", id: "other-card", hidden: true }, html("h2", { id: "other-title" }), html("div", { id: "other-graph" })),
        html("div", { class: "card graph-card" }, html("h2", { id: "graph-title" }), html("div", { id: "graph" }))),
      html("div", { class: "card", id: "edge", "aria-live": "polite" })),
    html("div", { class: "card" },
      html("div", { class: "bar" }, html("h2", {}, "Edges"),
        html("label", { class: "field" }, "Search", html("input", { type: "search", id: "find-edge", autocomplete: "off", spellcheck: "false" })),
        html("span", { class: "note", id: "edge-count", role: "status" })),
      html("div", { class: "edges-head", "aria-hidden": "true" }, ...["Cause", "Effect", "Strength", "Direction", "Found again", "Change", "You know"].map((text) => html("span", {}, text))),
      html("div", { class: "virtual", id: "edges", role: "table", "aria-label": "Edges", tabindex: "0" })));
  byId("shown-run").addEventListener("change", (event) => { state.shown = Number(event.target.value); if (state.against === state.shown) state.against = null; emit("shown"); });
  byId("against-run").addEventListener("change", (event) => { state.against = Number(event.target.value) || null; emit("shown"); });
  byId("beside").addEventListener("change", draw);
  byId("find-edge").addEventListener("input", debounced(fill, 80));
  list = virtualList(byId("edges"), (k) => row(rows[k]));
  on("table", () => { contents.clear(); shown = null; });
  on("shown", draw);
  on("runs", choices);
  on("open:look", draw);
  on("knowledge", () => {
    if (!shown || byId("step-look").hidden) return;
    picked?.();
    list.again();
  });
}

let lit = null; // edges to light up in the next drawing
let picked = null; // draws the panel of what was clicked again

// Show a run with some of its edges, by names, lit up.
export function lightUp(run, edges) {
  lit = edges;
  if (state.shown === run) return;
  state.shown = run;
  state.against = null;
  emit("shown");
}

export async function content(number) {
  if (!contents.has(number)) contents.set(number, await get(`runs/${number}/content`));
  return contents.get(number);
}

function choices() {
  const runs = finished();
  const named = runs.map(({ number, result }) => [String(number), `${number}: ${plural(result.edges, "edge")}`]).reverse();
  options(byId("shown-run"), named, state.shown);
  options(byId("against-run"), [["0", "nothing"], ...named.filter(([number]) => number !== String(state.shown))], state.against || 0);
  byId("beside").disabled = !state.against;
}

async function draw() {
  choices();
  if (byId("step-look").hidden || !runOf(state.shown)) return;
  const mine = (fresh += 1);
  const data = await content(state.shown);
  const before = state.against ? await content(state.against) : null;
  const changes = before ? await get(`runs/${state.shown}/difference?against=${state.against}`) : null;
  if (mine !== fresh) return;
  shown = compared(data, changes);
  byId("graph-title").textContent = `Run ${state.shown}`;
  view = graph(byId("graph"), shown, (what, k) => (what === "node" ? pickNode(k) : pickEdge(k)));
  const beside = byId("beside").checked && before;
  byId("other-card").hidden = !beside;
  if (beside) {
    byId("other-title").textContent = `Run ${state.against}`;
    other = graph(byId("other-graph"), before, () => {});
    other.fit();
  }
  diagnostics(data);
  legend(changes);
  fill();
  if (lit) lightEdges();
  else if (shown.edges.length) pickEdge(0);
  else byId("edge").replaceChildren(html("p", { class: "note" }, "No edge was found."));
}

function graph(element, data, pick) {
  element.replaceChildren();
  return globalThis.SartreGraph(element, data, { onNode: (i) => pick("node", i), onEdge: (k) => pick("edge", k), onBackground: () => {} });
}

// The data of a run, with how each edge differs from another run; those that went are added.
function compared(data, changes) {
  if (!changes) return data;
  const place = new Map(data.names.map((name, i) => [name, i]));
  const marks = new Map();
  for (const [a, b] of changes.came) marks.set(`${place.get(a)} ${place.get(b)}`, CHANGES.came);
  for (const [a, b] of changes.turned) marks.set(`${place.get(a)} ${place.get(b)}`, CHANGES.turned);
  const edges = data.edges.map((edge) => ({ ...edge, change: marks.get(`${edge.source} ${edge.target}`) }));
  for (const [a, b] of changes.went) {
    if (place.has(a) && place.has(b)) edges.push({ source: place.get(a), target: place.get(b), strength: null, direction: "decided", confidence: null, change: CHANGES.went });
  }
  return { ...data, edges };
}

function legend(changes) {
  const parts = changes
    ? Object.keys(CHANGES).filter((key) => changes[key].length).map((key) => html("span", { class: `change ${key}` }, `${changes[key].length} ${key}`))
    : [];
  byId("changes").replaceChildren(...(changes && !parts.length ? [html("span", { class: "note" }, "Both runs have the same edges.")] : parts));
}

function diagnostics(data) {
  const box = byId("diagnostics");
  const warnings = runOf(state.shown).warnings || [];
  const found = [...warnings, ...data.notes.slice(0, data.diagnostics)]; // the notes that hold for every graph come last
  box.querySelector("summary").textContent = `What to know before you trust it: ${found.length ? plural(found.length, "finding") : "none of the checks failed"}`;
  box.querySelector("ul").replaceChildren(
    ...found.map((text) => html("li", {}, text)),
    ...data.notes.slice(data.diagnostics).map((text) => html("li", { class: "note" }, text)));
}

function pickEdge(k) {
  picked = () => byId("edge").replaceChildren(...edgePanel(shown, k));
  picked();
  view?.select?.({ edge: k });
  chosen = k;
  for (const element of byId("edges").querySelectorAll("[data-edge]")) element.classList.toggle("chosen", Number(element.dataset.edge) === k);
}

function pickNode(i) {
  chosen = null;
  picked = () => byId("edge").replaceChildren(...nodePanel(shown, i, pickEdge));
  picked();
  view?.select?.({ node: i });
}

function lightEdges() {
  const wanted = new Set(lit.map(([a, b]) => `${shown.names.indexOf(a)} ${shown.names.indexOf(b)}`));
  const found = shown.edges.map((_, k) => k).filter((k) => wanted.has(`${shown.edges[k].source} ${shown.edges[k].target}`));
  lit = null;
  pickEdge(found[0]);
  view.select({ edges: found });
}

function fill() {
  const wanted = byId("find-edge").value.trim().toLowerCase();
  rows = shown.edges.map((_, k) => k).filter((k) => title(shown, shown.edges[k]).toLowerCase().includes(wanted));
  const order = { came: 0, turned: 1, went: 2 };
  rows.sort((a, b) => (order[shown.edges[a].change] ?? 3) - (order[shown.edges[b].change] ?? 3) || a - b);
  byId("edge-count").textContent = rows.length === shown.edges.length ? plural(rows.length, "edge") : `${rows.length} of ${plural(shown.edges.length, "edge")}`;
  list.update(rows.length);
}

function row(k) {
  const edge = shown.edges[k];
  const name = html("button", { type: "button", class: "link", "aria-label": `Show ${title(shown, edge)}`, onclick: () => pickEdge(k) }, shown.names[edge.source]);
  const cell = (style, ...children) => html("div", { class: style, role: "cell" }, ...children);
  return html("div", { role: "row", class: k === chosen ? "edge-row chosen" : "edge-row", "data-edge": k },
    cell("e-name", name), cell("e-name", shown.names[edge.target]), cell("e-number", share(edge.strength)),
    cell("", edge.change === "went" ? "" : edge.direction + (edge.confidence === null || edge.confidence === undefined || edge.direction === "known" ? "" : ` (${edge.confidence.toFixed(2)})`)),
    cell("e-number", percent(edge.frequency)), cell(edge.change ? `change ${edge.change}` : "", edge.change || ""),
    cell("e-say", say("forbidden", edge, "Forbid"), " ", say("required", edge, "Require")));
}

function say(kind, edge, word) {
  const item = [shown.names[edge.source], shown.names[edge.target]];
  const on = holds(kind, item);
  const button = html("button", { type: "button", class: on ? "small pressed" : "small", "aria-pressed": String(on), "aria-label": `${word} ${item.join(" → ")}` }, word);
  button.addEventListener("click", () => { if (holds(kind, item)) drop(kind, item); else put(kind, item); });
  return button;
}
