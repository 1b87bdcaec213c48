// Step 5: ask. What would an outcome be if a cause were set to a value, and which edges matter for the answer?

import { send } from "./api.js";
import { byId, html, number, options, plural, svg } from "./dom.js";
import { content, lightUp } from "./look.js";
import { on, runOf, state } from "./store.js";

const { ticks } = SartreCharts; // of the report

const WIDTH = 560;
const HEIGHT = 300;
let names = [];
let open = null;

export function askPanel(opened) {
  open = opened;
  const form = html("form", { class: "ask" },
    html("span", {}, "What if"), html("select", { id: "ask-cause", "aria-label": "Cause" }),
    html("span", {}, "were set to"), html("input", { id: "ask-at", type: "number", step: "any", placeholder: "several values", "aria-label": "Value of the cause; empty for several" }),
    html("span", {}, "– what would"), html("select", { id: "ask-outcome", "aria-label": "Outcome" }), html("span", {}, "be?"),
    html("button", { type: "submit", class: "primary" }, "Ask"));
  form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  byId("step-ask").append(
    html("div", { class: "card" }, html("h2", { id: "ask-title" }), form, html("p", { class: "note", id: "ask-state", role: "status" })),
    html("div", { id: "answers" }));
  on("table", () => { byId("answers").replaceChildren(); names = []; });
  on("shown", choices);
  on("open:ask", choices);
}

async function choices() {
  if (byId("step-ask").hidden || !runOf(state.shown)) return;
  byId("ask-title").textContent = `Ask run ${state.shown}`;
  const data = await content(state.shown);
  if (names.join("\n") === data.names.join("\n") && byId("ask-cause").options.length) return;
  names = data.names;
  const named = names.map((name) => [name, name]);
  const strongest = data.edges[0];
  options(byId("ask-cause"), named, strongest ? names[strongest.source] : names[0]);
  options(byId("ask-outcome"), named, strongest ? names[strongest.target] : names[1]);
}

async function ask() {
  const [cause, outcome, text] = ["ask-cause", "ask-outcome", "ask-at"].map((id) => byId(id).value);
  const number_ = state.shown;
  const said = byId("ask-state");
  said.textContent = "Refitting the model to bootstrap samples of the rows …";
  try {
    const found = await send(`runs/${number_}/effect`, { cause, outcome, at: text === "" ? null : [Number(text)] });
    said.textContent = "";
    byId("answers").prepend(answer(number_, cause, outcome, found));
  } catch (error) {
    said.textContent = error.message;
  }
}

function sentence(cause, outcome, { values, edges, averages }) {
  if (!edges.length) return `In this graph no path leads from ${cause} to ${outcome}: setting ${cause} would change nothing.`;
  if (values.length === 1) {
    const [{ value, mean, low, high }] = values;
    return `If ${cause} were set to ${number(value)}, ${outcome} would be ${number(mean)} on average (90 % interval ${number(low)} to ${number(high)}).`;
  }
  return `${averages[0]}.`;
}

function answer(run, cause, outcome, found) {
  const wide = found.values.some(({ mean, lowest, highest }) => lowest < mean || highest > mean);
  const heads = [cause, `mean of ${outcome}`, "90 % interval", ...(wide ? ["lowest to highest"] : [])];
  const cells = (row) => [number(row.value), number(row.mean), `${number(row.low)} to ${number(row.high)}`, ...(wide ? [`${number(row.lowest)} to ${number(row.highest)}`] : [])];
  return html("article", { class: "card answer" },
    html("p", { class: "note" }, `Run ${run}`),
    html("p", { class: "verdict" }, sentence(cause, outcome, found)),
    found.edges.length && found.averages[1] ? html("p", {}, `${found.averages[1]}.`) : null,
    ...found.warnings.map((text) => html("p", { class: "caution" }, text)),
    html("div", { class: "shown-answer" },
      found.values.length > 1 ? curve(cause, outcome, found.values) : null,
      html("div", {},
        found.edges.length ? html("div", { class: "matter" }, html("h3", {}, `Edges that matter for it (${found.edges.length})`),
          html("ul", { class: "names" }, ...found.edges.map(([a, b]) => html("li", {}, `${a} → ${b}`))),
          html("button", { type: "button", onclick: () => highlight(run, found.edges) }, "Show them in the graph")) : null,
        html("details", {}, html("summary", {}, "Numbers"), html("div", { class: "wide" }, html("table", {},
          html("thead", {}, html("tr", {}, ...heads.map((text) => html("th", { scope: "col" }, text)))),
          html("tbody", {}, ...found.values.map((row) => html("tr", {}, ...cells(row).map((text) => html("td", {}, text)))))))),
        html("p", { class: "note" }, "The interval accounts for the sample only: it takes the graph as right, without hidden common causes."))));
}

function highlight(run, edges) {
  lightUp(run, edges);
  open("look");
}

function curve(cause, outcome, values) {
  const box = { left: 64, right: WIDTH - 12, top: 12, bottom: HEIGHT - 48 };
  const lows = values.map(({ low, lowest }) => Math.min(low, lowest));
  const highs = values.map(({ high, highest }) => Math.max(high, highest));
  const [x0, x1, y0, y1] = [values[0].value, values[values.length - 1].value, Math.min(...lows), Math.max(...highs)];
  const px = (v) => box.left + ((v - x0) / (x1 - x0 || 1)) * (box.right - box.left);
  const py = (v) => box.bottom - ((v - y0) / (y1 - y0 || 1)) * (box.bottom - box.top);
  const line = (key) => values.map((row) => `${px(row.value).toFixed(1)} ${py(row[key]).toFixed(1)}`);
  const area = (low, high) => `M${line(high).join("L")}L${line(low).reverse().join("L")}Z`;
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "curve-plot", role: "img", "aria-label": `Mean of ${outcome} for ${plural(values.length, "value")} of ${cause}, with a 90 % interval` },
    svg("path", { class: "axis", d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` }),
    ...ticks(x0, x1).map((v) => svg("text", { class: "tick", x: px(v), y: box.bottom + 17, "text-anchor": "middle" }, number(v))),
    ...ticks(y0, y1).map((v) => svg("text", { class: "tick", x: box.left - 8, y: py(v) + 4, "text-anchor": "end" }, number(v))),
    svg("text", { class: "label", x: (box.left + box.right) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, `${cause}, if it were set`),
    svg("text", { class: "label", transform: `translate(14 ${(box.top + box.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, `mean of ${outcome}`),
    svg("path", { class: "open-band", d: area("lowest", "highest") }),
    svg("path", { class: "band", d: area("low", "high") }),
    svg("path", { class: "curve", d: `M${line("mean").join("L")}` }),
    ...values.map((row) => svg("circle", { class: "dot", cx: px(row.value), cy: py(row.mean), r: 3 }, svg("title", {}, `${number(row.value)}: ${number(row.mean)} (${number(row.low)} to ${number(row.high)})`))));
}
