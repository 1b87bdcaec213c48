// Step 2: what is known. Columns are dragged into tiers, or moved there by keys; rules are in rules.js.

import { byId, debounced, html, plural } from "./dom.js";
import { rulesCard } from "./rules.js";
import { changed, columnsOn, moveToTier, on, state, tierOf } from "./store.js";

const MOST_SHOWN = 200; // columns of one tier on the page; a search finds the others
const MOVED = 6; // pixels before a press becomes a drag
let dragged = null;

export function knowledgePanel() {
  const panel = byId("step-knowledge");
  panel.append(
    html("div", { class: "card wrong", id: "contradiction", role: "alert", hidden: true }),
    html("div", { class: "card" },
      html("div", { class: "bar" }, html("div", {}, html("h2", {}, "Tiers"),
        html("p", { class: "note" }, "No column is a cause of one in an earlier tier. Columns in no tier may come anywhere. Drag a column, or focus it and press 1 to 9 for a tier, 0 for none, or the left and right arrow keys.")),
        html("label", { class: "field" }, "Search", html("input", { type: "search", id: "find-tier", autocomplete: "off", spellcheck: "false" }))),
      html("div", { class: "tiers", id: "tiers" })),
    rulesCard(),
  );
  byId("find-tier").addEventListener("input", debounced(draw, 80));
  on("knowledge", draw);
  on("columns", draw);
  on("check", contradiction);
}

function contradiction() {
  const { problem } = state.check;
  const box = byId("contradiction");
  box.hidden = !problem;
  if (problem) box.replaceChildren(html("strong", {}, "This cannot be true."), html("p", {}, problem));
}

function draw() {
  if (!state.table) return;
  const wanted = byId("find-tier").value.trim().toLowerCase();
  const names = columnsOn();
  const used = new Set(names);
  const placed = new Set(state.knowledge.tiers.flat());
  const shows = (name) => used.has(name) && name.toLowerCase().includes(wanted);
  const loose = names.filter((name) => !placed.has(name) && shows(name));
  const tiers = state.knowledge.tiers.map((tier) => tier.filter(shows));
  const last = state.knowledge.tiers.length;
  byId("tiers").replaceChildren(
    box("In no tier", "may come anywhere", -1, loose, wanted),
    ...tiers.map((tier, k) => box(`Tier ${k + 1}`, k === 0 ? "first" : "", k, tier, wanted)),
    box("New tier", "drop a column here", last, [], wanted));
}

function box(title, hint, tier, names, wanted) {
  const head = html("div", { class: "tier-head" }, html("h3", { id: `tier-title-${tier}` }, title, html("small", {}, names.length ? plural(names.length, "column") : hint)));
  const real = tier >= 0 && tier < state.knowledge.tiers.length;
  if (real) head.append(html("button", { type: "button", class: "quiet", "aria-label": `Remove tier ${tier + 1}`, onclick: () => removeTier(tier) }, "×"));
  const list = html("ul", { "aria-labelledby": `tier-title-${tier}` }, ...names.slice(0, MOST_SHOWN).map((name) => html("li", {}, chip(name))));
  const element = html("div", { class: real ? "tier" : tier < 0 ? "tier loose" : "tier new", "data-tier": tier }, head, list);
  if (names.length > MOST_SHOWN) element.append(html("p", { class: "note" }, `${plural(names.length - MOST_SHOWN, "more column")}; search for them.`));
  if (wanted && names.length > 1) {
    for (let k = 0; k <= state.knowledge.tiers.length; k += 1) {
      if (k !== tier) element.append(html("button", { type: "button", class: "small", onclick: () => moveToTier(names, k) }, `All to ${k < state.knowledge.tiers.length ? `tier ${k + 1}` : "a new tier"}`));
    }
  }
  return element;
}

function removeTier(tier) {
  state.knowledge.tiers.splice(tier, 1);
  changed();
}

function chip(name) {
  const button = html("button", { type: "button", class: "chip", "data-name": name, title: name, "aria-keyshortcuts": "0 1 2 3 4 5 6 7 8 9 ArrowLeft ArrowRight" }, name);
  button.addEventListener("keydown", (event) => keys(event, name));
  button.addEventListener("pointerdown", (event) => press(event, name, button));
  return button;
}

function keys(event, name) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const here = tierOf(name);
  const digit = /^[0-9]$/.test(event.key) ? Number(event.key) - 1 : null;
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (digit === null && step === undefined) return;
  event.preventDefault();
  move(name, Math.max(-1, Math.min(digit === null ? here + step : digit, state.knowledge.tiers.length)));
}

function move(name, tier) {
  if (tier === tierOf(name)) return;
  moveToTier([name], tier);
  byId("tiers").querySelector(`.chip[data-name="${CSS.escape(name)}"]`)?.focus();
  byId("spoken").textContent = tier < 0 ? `${name} is in no tier` : `${name} is in tier ${tier + 1}`;
}

// Pointer events serve mouse, pen and touch alike.
function press(event, name, button) {
  if (event.button !== 0) return;
  const from = [event.clientX, event.clientY];
  button.setPointerCapture(event.pointerId);
  const moved = (now) => {
    if (!dragged && Math.hypot(now.clientX - from[0], now.clientY - from[1]) < MOVED) return;
    if (!dragged) {
      dragged = html("div", { class: "chip dragged", "aria-hidden": "true" }, name);
      document.body.append(dragged);
      button.classList.add("leaving");
    }
    dragged.style.transform = `translate(${now.clientX + 8}px, ${now.clientY + 8}px)`;
    const over = target(now);
    for (const element of document.querySelectorAll(".tier.over")) if (element !== over) element.classList.remove("over");
    over?.classList.add("over");
  };
  const done = (now) => {
    button.removeEventListener("pointermove", moved);
    button.classList.remove("leaving");
    const over = dragged && now.type === "pointerup" ? target(now) : null;
    dragged?.remove();
    dragged = null;
    for (const element of document.querySelectorAll(".tier.over")) element.classList.remove("over");
    if (over) move(name, Number(over.dataset.tier));
  };
  button.addEventListener("pointermove", moved);
  button.addEventListener("pointerup", done, { once: true });
  button.addEventListener("pointercancel", done, { once: true });
}

const target = (event) => document.elementsFromPoint(event.clientX, event.clientY).map((element) => element.closest(".tier")).find(Boolean);

