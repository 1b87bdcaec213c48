// Step 3: run. Method, effort and what it will take before the button; then progress, and the runs side by side.

import { get, remove, send } from "./api.js";
import { byId, count, debounced, html, options, plural, seconds, tell } from "./dom.js";
import { changed, columnsOn, emit, finished, on, request, runOf, running, state } from "./store.js";

const BETWEEN = 400; // milliseconds between two looks at a run
const EFFORTS = [["fast", "fast"], ["auto", "normal"], ["thorough", "thorough"]];
const MISSING = [["error", "refuse them"], ["impute", "fill them in"], ["bin", "a value of its own"], ["drop", "leave out their rows"]];
let open = null;

export function runPanel(opened) {
  open = opened;
  byId("step-run").append(
    html("div", { class: "card" }, html("h2", {}, "Learn a graph"), html("div", { class: "settings", id: "settings" }),
      html("div", { class: "bar estimate" }, html("div", {}, html("p", { id: "estimate", role: "status" }), html("ul", { class: "note", id: "advice" })),
        html("button", { type: "button", class: "primary big", id: "learn", onclick: () => start() }, "Learn the graph"))),
    html("div", { class: "card" }, html("h2", {}, "Runs"), html("div", { class: "wide" }, html("table", { id: "runs", "aria-label": "Runs" }, html("thead"), html("tbody")))));
  on("table", settings);
  on("settings", settings);
  for (const event of ["columns", "settings", "open:run"]) on(event, estimate);
  on("check", ready);
  on("runs", ready);
  on("runs", draw);
  on("shown", draw);
}

function settings() {
  if (!state.table) return;
  const { methods } = state.table;
  const named = (step) => methods.filter((method) => method.step === step).map(({ name, default: usual }) => [name, usual ? `${name} (the default)` : name]);
  const hasHoles = state.table.columns.some(({ missing }) => missing > 0);
  const field = (label, note, control) => html("label", { class: "setting" }, html("span", {}, label), control, html("small", {}, note));
  const choice = (key, label, choices, note) => {
    const select = options(html("select", { id: `set-${key}` }), choices, state.settings[key]);
    select.addEventListener("change", () => set(key, select.value));
    return field(label, note, select);
  };
  const whole = (key, label, note) => {
    const input = html("input", { type: "number", min: 0, step: 1, id: `set-${key}`, value: state.settings[key] });
    input.addEventListener("change", () => set(key, Math.max(0, Math.floor(Number(input.value) || 0))));
    return field(label, note, input);
  };
  const summary = (step) => methods.find((method) => method.step === step && method.name === state.settings[step])?.summary || "";
  byId("settings").replaceChildren(
    choice("effort", "Effort", EFFORTS, "How long to look for a better order and for causes that act jointly."),
    ...(hasHoles ? [choice("missing", "Missing values", MISSING, "What to do with rows that lack a value.")] : []),
    whole("stability", "Half-samples", "Pairs of random halves on which to learn again, to see which edges come back; 50 is usual, 0 is none."),
    choice("order", "Order", named("order"), summary("order")),
    choice("prune", "Pruning", named("prune"), summary("prune")),
    whole("seed", "Seed", "The same seed gives the same graph."));
}

function set(key, value) {
  state.settings[key] = value;
  emit("settings");
  changed();
  byId(`set-${key}`)?.focus();
}

const estimate = debounced(async () => {
  if (!state.table || byId("step-run").hidden) return;
  ready();
  const said = byId("estimate");
  if (columnsOn().length < 2) {
    said.textContent = "At least two columns are needed.";
    return;
  }
  said.textContent = "Estimating the time …";
  try {
    const found = await send("estimate", request());
    said.textContent = found.about === null ? "How long this takes is not known for these methods." : `This takes about ${found.about} on this machine (${found.range}).`;
    said.title = found.text;
    byId("advice").replaceChildren(...found.advice.map((text) => html("li", {}, text)));
  } catch (error) {
    said.textContent = error.message;
  }
}, 300);

function ready() {
  byId("learn").disabled = Boolean(running()) || Boolean(state.check.problem) || columnsOn().length < 2;
  byId("learn").title = state.check.problem || "";
}

export async function start() {
  let run;
  try {
    run = await send("runs", request());
  } catch (error) {
    tell(error.message);
    return;
  }
  state.runs.push(run);
  byId("toast").hidden = true; // what it says is about the run before
  byId("spoken").textContent = `Run ${run.number} has started.`;
  emit("runs");
  follow(run.number);
}

export async function follow(number) {
  let run;
  try {
    run = await get(`runs/${number}`);
  } catch (error) {
    tell(error.message);
    state.runs = state.runs.filter((each) => each.number !== number);
    emit("runs");
    return;
  }
  const place = state.runs.findIndex((each) => each.number === number);
  if (place < 0) return;
  state.runs[place] = run;
  emit("runs");
  if (run.state === "running") setTimeout(() => follow(number), BETWEEN);
  else ended(run);
}

function ended(run) {
  if (run.state === "failed") tell(`Run ${run.number} failed: ${run.error}`);
  if (run.state === "cancelled") tell(`Run ${run.number} was cancelled.`);
  if (run.state !== "done") return;
  byId("spoken").textContent = `Run ${run.number} has ended with ${plural(run.result.edges, "edge")}.`;
  const before = finished().filter(({ number }) => number < run.number);
  show(run.number, before.length ? before[before.length - 1].number : null);
  open("look");
}

export function show(number, against) {
  state.shown = number;
  state.against = against;
  emit("shown");
}

async function forget(number) {
  try {
    const { runs } = await remove(`runs/${number}`);
    state.runs = runs;
  } catch (error) {
    tell(error.message);
    return;
  }
  const numbers = finished().map((run) => run.number);
  if (!numbers.includes(state.shown)) state.shown = numbers.length ? numbers[numbers.length - 1] : null;
  if (!numbers.includes(state.against) || state.against === state.shown) state.against = null;
  emit("runs");
  emit("shown");
}

function known({ knowledge }) {
  const { tiers = [], ...rest } = knowledge;
  const n = Object.values(rest).reduce((sum, list) => sum + list.length, 0);
  return [tiers.length ? plural(tiers.length, "tier") : "", n ? plural(n, "rule") : ""].filter(Boolean).join(", ") || "nothing";
}

const words = { running: "running", done: "done", failed: "failed", cancelled: "cancelled" };

function draw() {
  const [head, body] = byId("runs").querySelectorAll("thead, tbody");
  if (!state.runs.length) {
    head.replaceChildren();
    body.replaceChildren(html("tr", {}, html("td", { class: "note" }, "No run yet. Every run is kept here, to be compared with the others.")));
    return;
  }
  if (!head.children.length) head.append(html("tr", {}, ...["Run", "Columns", "Known", "Method", "Effort", "Edges", "Time", "State", ""].map((text) => html("th", { scope: "col" }, text))));
  body.replaceChildren(...[...state.runs].reverse().map(row));
}

function row(run) {
  const { number, request: asked, result } = run;
  return html("tr", { class: number === state.shown ? "chosen" : "", "data-run": number },
    html("th", { scope: "row" }, String(number)), html("td", {}, count(asked.columns.length)), html("td", {}, known(asked)),
    html("td", {}, `${asked.order}, ${asked.prune}`), html("td", {}, asked.effort || ""),
    html("td", {}, result ? count(result.edges) : "–"), html("td", {}, seconds(run.seconds)),
    html("td", { class: run.state === "failed" ? "wrong" : "", title: run.error || "" }, run.state === "failed" ? `failed: ${run.error}` : words[run.state]),
    html("td", { class: "end" },
      run.state === "done" ? html("button", { type: "button", onclick: () => { const others = finished().filter((each) => each.number < number); show(number, others.length ? others[others.length - 1].number : null); open("look"); } }, "Look") : null,
      html("button", { type: "button", "aria-label": run.state === "running" ? `Cancel run ${number}` : `Remove run ${number}`, onclick: () => forget(number) }, run.state === "running" ? "Cancel" : "Remove")));
}

export const shownRun = () => runOf(state.shown);
