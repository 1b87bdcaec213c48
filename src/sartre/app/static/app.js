// The page: steps, the bar that shows what runs, and the theme.

import { remove } from "./api.js";
import { askPanel } from "./ask.js";
import { byId, count, plural, seconds, tell } from "./dom.js";
import { knowledgePanel } from "./knowledge.js";
import { lookPanel } from "./look.js";
import { runPanel, start } from "./run.js";
import { columnsOn, emit, finished, load, on, running, state } from "./store.js";
import { tablePanel } from "./table.js";
import { takePanel } from "./take.js";

const STEPS = ["table", "knowledge", "run", "look", "ask", "take"];
const tabs = STEPS.map((step) => byId(`tab-${step}`));
let current = null;

export function open(step, focus = false) {
  if (byId(`tab-${step}`).disabled) return;
  current = step;
  for (const each of STEPS) {
    const chosen = each === step;
    byId(`step-${each}`).hidden = !chosen;
    byId(`tab-${each}`).setAttribute("aria-selected", String(chosen));
    byId(`tab-${each}`).tabIndex = chosen ? 0 : -1;
  }
  if (focus) byId(`tab-${step}`).focus();
  byId(`tab-${step}`).scrollIntoView({ block: "nearest", inline: "nearest" });
  emit(`open:${step}`);
}

function label(step, text) {
  byId(`tab-${step}`).querySelector("small").textContent = text;
}

function rules() {
  const { tiers, ...rest } = state.knowledge;
  const filled = tiers.filter((tier) => tier.length).length;
  const n = Object.values(rest).reduce((sum, list) => sum + list.length, 0);
  return [filled ? plural(filled, "tier") : "", n ? plural(n, "rule") : ""].filter(Boolean).join(", ");
}

function name() {
  const { table } = state;
  byId("table-name").textContent = table ? table.name : "";
  document.title = table ? `${table.name} – sartre` : "sartre";
  label("table", table ? `${count(table.rows)} × ${count(columnsOn().length)}` : "");
  label("knowledge", state.check.problem ? "contradiction" : rules());
  byId("tab-knowledge").classList.toggle("wrong", Boolean(state.check.problem));
  label("run", state.runs.length ? plural(state.runs.length, "run") : "");
  const shown = finished().find((run) => run.number === state.shown);
  label("look", shown ? plural(shown.result.edges, "edge") : "");
  byId("tab-knowledge").disabled = byId("tab-run").disabled = !table;
  for (const step of ["look", "ask", "take"]) byId(`tab-${step}`).disabled = !shown;
  byId("run-now").disabled = !table || Boolean(running()) || Boolean(state.check.problem) || columnsOn().length < 2;
  byId("run-now").textContent = state.runs.length ? "Run again" : "Run";
  if (byId(`tab-${current}`)?.disabled) open("table");
}

function status() {
  const run = running();
  byId("status").hidden = !run;
  if (!run) return;
  byId("status-text").textContent = `Run ${run.number}: ${run.progress} · ${seconds(run.seconds)}`;
  const found = /: (\d+) of (\d+)\b/.exec(run.progress);
  byId("status-bar").hidden = !found;
  if (found) [byId("status-bar").value, byId("status-bar").max] = [Number(found[1]), Number(found[2])];
}

function keys(event) {
  const place = tabs.indexOf(document.activeElement);
  if (place < 0) return;
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const wanted = { Home: 0, End: tabs.length - 1 }[event.key];
  if (step === undefined && wanted === undefined) return;
  event.preventDefault();
  const enabled = tabs.filter((tab) => !tab.disabled);
  const here = enabled.indexOf(tabs[place]);
  const next = wanted === undefined ? enabled[(here + step + enabled.length) % enabled.length] : enabled[wanted ? enabled.length - 1 : 0];
  open(next.id.slice(4), true);
}

function theme() {
  const dark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const named = () => { byId("theme").textContent = dark() ? "Light" : "Dark"; };
  byId("theme").addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; named(); emit("theme"); });
  named();
}

async function begin() {
  theme();
  for (const [tab, step] of tabs.map((each, k) => [each, STEPS[k]])) tab.addEventListener("click", () => open(step));
  document.querySelector(".steps").addEventListener("keydown", keys);
  byId("run-now").addEventListener("click", () => start());
  byId("cancel").addEventListener("click", () => { const run = running(); if (run) remove(`runs/${run.number}`).catch((error) => tell(error.message)); });
  for (const event of ["table", "columns", "knowledge", "check", "runs", "shown"]) on(event, name);
  on("runs", status);
  for (const panel of [tablePanel, knowledgePanel, runPanel, lookPanel, askPanel, takePanel]) panel(open);
  open("table");
  try {
    await load();
  } catch (error) {
    tell(error.message);
  }
  for (const event of ["table", "columns", "knowledge", "runs", "shown"]) emit(event);
}

begin();
