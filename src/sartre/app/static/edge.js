// The panel of an edge or a column: the report's, and what can be said about it.

import { html } from "./dom.js";
import { drop, holds, moveToTier, put, state, tierOf } from "./store.js";

const CHANGED = {
  came: "It came: the other run does not have it.",
  went: "It went: only the other run has it.",
  turned: "It turned: it points the other way in the other run.",
};

export const title = (data, edge) => SartrePanel.title(data, edge);

function toggle(kind, item, label) {
  const on = holds(kind, item);
  return html("button", { type: "button", "aria-pressed": String(on), class: on ? "pressed" : "", onclick: () => (on ? drop(kind, item) : put(kind, item)) }, label);
}

function said(...controls) {
  return html("div", { class: "said" }, html("h4", {}, "What do you know?"), html("div", { class: "bar say" }, ...controls),
    html("p", { class: state.check.problem ? "wrong" : "note" }, state.check.problem || "It takes effect when you run again."));
}

export function edgePanel(data, k) {
  const edge = data.edges[k];
  const [source, target] = [data.names[edge.source], data.names[edge.target]];
  const gone = edge.change === "went";
  return [
    ...(gone ? [html("h3", {}, title(data, edge))] : SartrePanel.edgePanel(data, k)).slice(0, 1),
    edge.change ? html("p", { class: `change ${edge.change}` }, CHANGED[edge.change]) : null,
    said(
      toggle("forbidden", [source, target], `Forbid ${source} → ${target}`),
      toggle("required", [source, target], `Require ${source} → ${target}`),
      toggle("forbidden", [target, source], `Forbid ${target} → ${source}`),
      toggle("required", [target, source], `Require ${target} → ${source}`)),
    ...(gone ? [] : SartrePanel.edgePanel(data, k).slice(1)),
  ].filter(Boolean);
}

export function nodePanel(data, i, pickEdge) {
  const name = data.names[i];
  const last = state.knowledge.tiers.length;
  const tier = html("select", { "aria-label": `Tier of ${name}` }, html("option", { value: -1 }, "no tier"),
    ...state.knowledge.tiers.map((_, k) => html("option", { value: k }, `tier ${k + 1}`)), html("option", { value: last }, "a new tier"));
  tier.value = String(tierOf(name));
  tier.addEventListener("change", () => moveToTier([name], Number(tier.value)));
  const kept = { ...data, edges: data.edges.filter((edge) => edge.change !== "went") }; // those that went come last
  const [head, ...rest] = SartrePanel.nodePanel(kept, i, pickEdge);
  return [
    head,
    said(html("label", { class: "field" }, "It is in", tier), toggle("roots", name, "It has no causes"), toggle("leaves", name, "It has no effects")),
    ...rest,
  ];
}
