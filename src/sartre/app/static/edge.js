// The panel of an edge or a column of the graph: its evidence, its curve, and what can be said about it.

import { html, number, percent, share } from "./dom.js";
import { drop, holds, moveToTier, put, state, tierOf } from "./store.js";

const told = (edge) => edge.direction === "decided" || edge.direction === "known";
export const title = (data, edge) => `${data.names[edge.source]} ${told(edge) ? "→" : "—"} ${data.names[edge.target]}`;

function toggle(kind, item, label) {
  const on = holds(kind, item);
  return html("button", { type: "button", "aria-pressed": String(on), class: on ? "pressed" : "", onclick: () => (on ? drop(kind, item) : put(kind, item)) }, label);
}

function facts(edge) {
  const rows = [];
  if (edge.change) rows.push(["Change", { came: "came: the other run does not have it", went: "went: this run does not have it", turned: "turned: it points the other way in the other run" }[edge.change]]);
  if (edge.change === "went") return rows;
  rows.push(["Strength", share(edge.strength)]);
  rows.push(["Direction", edge.direction + (edge.confidence === null || edge.confidence === undefined || edge.direction === "known" ? "" : `, confidence ${edge.confidence.toFixed(2)}`)]);
  if (edge.margin !== null && edge.margin !== undefined) rows.push(["Margin", number(edge.margin)]);
  if (edge.sign) rows.push(["Shape", edge.sign]);
  if (edge.frequency !== undefined && edge.frequency !== null) rows.push(["Found on", `${percent(edge.frequency)} of the half-samples`]);
  if (edge.hidden) rows.push(["Hidden cause", "A hidden common cause of both is possible."]);
  return rows;
}

export function edgePanel(data, edge) {
  const [source, target] = [data.names[edge.source], data.names[edge.target]];
  const charts = globalThis.SartreCharts;
  return [
    html("h2", { class: "edge-title" }, title(data, edge)),
    html("dl", { class: "facts" }, ...facts(edge).flatMap(([name, text]) => [html("dt", {}, name), html("dd", {}, text)])),
    ...(charts && edge.shape ? charts.ofEdge(data, edge) : []),
    html("h3", {}, "What do you know?"),
    html("div", { class: "bar say" },
      toggle("forbidden", [source, target], `Forbid ${source} → ${target}`),
      toggle("forbidden", [target, source], `Forbid ${target} → ${source}`),
      toggle("required", [source, target], `Require ${source} → ${target}`),
      toggle("required", [target, source], `Require ${target} → ${source}`)),
    html("p", { class: "note" }, state.check.problem ? state.check.problem : "It takes effect when you run again."),
  ];
}

export function nodePanel(data, i, pickEdge) {
  const name = data.names[i];
  const ends = (mine, theirs) => data.edges.map((edge, k) => [edge, k]).filter(([edge]) => edge[mine] === i && edge.change !== "went")
    .map(([edge, k]) => html("li", {}, html("button", { type: "button", class: "link", onclick: () => pickEdge(k) }, data.names[edge[theirs]])));
  const causes = ends("target", "source");
  const effects = ends("source", "target");
  const tier = html("select", { "aria-label": `Tier of ${name}` }, html("option", { value: -1 }, "no tier"),
    ...state.knowledge.tiers.map((_, k) => html("option", { value: k }, `tier ${k + 1}`)), html("option", { value: state.knowledge.tiers.length }, "a new tier"));
  tier.value = String(tierOf(name));
  tier.addEventListener("change", () => moveToTier([name], Number(tier.value)));
  return [
    html("h2", { class: "edge-title" }, name),
    html("h3", {}, "Causes"), html("ul", { class: "names" }, ...(causes.length ? causes : [html("li", { class: "note" }, "none")])),
    html("h3", {}, "Effects"), html("ul", { class: "names" }, ...(effects.length ? effects : [html("li", { class: "note" }, "none")])),
    html("h3", {}, "What do you know?"),
    html("div", { class: "bar say" }, html("label", { class: "field" }, "It is in", tier),
      toggle("roots", name, "It has no causes"), toggle("leaves", name, "It has no effects")),
    html("p", { class: "note" }, state.check.problem ? state.check.problem : "It takes effect when you run again."),
  ];
}
