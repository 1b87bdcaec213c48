// What the page knows: the table, what was said about its columns, the runs. Panels listen to what they show.

import { get, send } from "./api.js";
import { debounced } from "./dom.js";

export const KINDS = ["required", "forbidden", "before", "roots", "leaves", "confounded"];
export const nothing = () => ({ tiers: [], ...Object.fromEntries(KINDS.map((kind) => [kind, []])) });

export const state = {
  table: null,
  off: new Set(),
  categorical: new Set(),
  knowledge: nothing(),
  check: { problem: null, text: "" },
  settings: { order: "OrderSearch", prune: "SARTRE", effort: "auto", missing: "error", stability: 0, seed: 0 },
  runs: [],
  shown: null, // the run that is looked at, by number
  against: null, // the run that it is compared with
};

const listeners = new Map();
export function on(event, listener) {
  listeners.set(event, [...(listeners.get(event) || []), listener]);
}
export function emit(event) {
  for (const listener of listeners.get(event) || []) listener();
}

export const columnsOn = () => (state.table ? state.table.columns.map(({ name }) => name).filter((name) => !state.off.has(name)) : []);
export const finished = () => state.runs.filter((run) => run.state === "done");
export const running = () => state.runs.find((run) => run.state === "running") || null;
export const runOf = (number) => state.runs.find((run) => run.number === number) || null;

// Without keys that say nothing, as a file of knowledge would have it, and only about columns that take part.
export function knowledge() {
  const part = new Set(columnsOn());
  const said = {};
  for (const [key, value] of Object.entries(state.knowledge)) {
    const kept = key === "tiers"
      ? value.map((tier) => tier.filter((name) => part.has(name))).filter((tier) => tier.length)
      : value.filter((item) => [item].flat().every((name) => part.has(name)));
    if (kept.length) said[key] = kept;
  }
  return said;
}

export const request = () => ({
  ...state.settings,
  stability: state.settings.stability || null,
  columns: columnsOn(),
  categorical: [...state.categorical].filter((name) => !state.off.has(name)),
  knowledge: knowledge(),
});

// Keep the draft on the server, which answers whether the knowledge contradicts itself.
export const check = debounced(async () => {
  try {
    state.check = await send("draft", { ...request(), off: [...state.off], said: state.knowledge });
  } catch (error) {
    state.check = { problem: error.message, text: null };
  }
  emit("check");
}, 120);

export function changed() {
  emit("knowledge");
  check();
}

export function take(found) {
  const fresh = !state.table || found.table === null || state.table.source !== found.table.source;
  state.table = found.table;
  state.runs = found.runs;
  if (!found.table || !fresh) return;
  const { draft } = found;
  state.off = new Set(draft.off || []);
  state.categorical = new Set(draft.categorical || []);
  state.knowledge = { ...nothing(), ...(draft.said || {}) };
  for (const key of Object.keys(state.settings)) if (draft[key] !== undefined && draft[key] !== null) state.settings[key] = draft[key];
  const done = finished();
  state.shown = done.length ? done[done.length - 1].number : null;
  state.against = done.length > 1 ? done[done.length - 2].number : null;
}

export async function load() {
  const found = await get("state");
  take(found);
  return found;
}

export function put(kind, item) {
  const list = state.knowledge[kind];
  const same = JSON.stringify(item);
  if (!list.some((other) => JSON.stringify(other) === same)) list.push(item);
  changed();
}

export function drop(kind, item) {
  const same = JSON.stringify(item);
  state.knowledge[kind] = state.knowledge[kind].filter((other) => JSON.stringify(other) !== same);
  changed();
}

export const holds = (kind, item) => state.knowledge[kind].some((other) => JSON.stringify(other) === JSON.stringify(item));
export const tierOf = (name) => state.knowledge.tiers.findIndex((tier) => tier.includes(name));

export function moveToTier(names, tier) {
  const moved = new Set(names);
  const tiers = state.knowledge.tiers.map((each) => each.filter((name) => !moved.has(name)));
  while (tier >= tiers.length && tier >= 0) tiers.push([]);
  if (tier >= 0) tiers[tier].push(...names);
  state.knowledge.tiers = tiers;
  changed();
}
