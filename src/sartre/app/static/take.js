// Step 6: take away. Everything of a run as files, and a script that repeats it.

import { blob, save } from "./api.js";
import { byId, html, tell } from "./dom.js";
import { content } from "./look.js";
import { on, runOf, state } from "./store.js";

const FILES = [
  ["report.html", "Report", "The graph, the effect of every edge and all caveats, as one page for any browser. It contains rows of the table."],
  ["report-without-rows.html", "Report without rows", "The same, for people who may not see the rows."],
  ["graph.json", "Graph", "The graph with its evidence, settings and seed. Dag.read and sartre convert read it."],
  ["edges.csv", "Edges", "One line per edge, for a spreadsheet."],
  ["knowledge.toml", "Knowledge", "What was said before this run, for --knowledge and Knowledge.read."],
  ["graph.svg", "Picture, SVG", "The graph as it is drawn, at any size."],
  ["graph.png", "Picture, PNG", "The graph as pixels, for slides."],
  ["repeat.py", "Python script", "Repeats this run and all questions that were asked, with the same seed."],
];

export function takePanel() {
  byId("step-take").append(
    html("div", { class: "card" }, html("h2", { id: "take-title" }), html("div", { class: "files", id: "files" })),
    html("div", { class: "card" }, html("h2", {}, "The script"), html("pre", { id: "script", tabindex: "0" })),
    html("div", { id: "off-stage", "aria-hidden": "true" }));
  on("shown", draw);
  on("open:take", draw);
}

async function draw() {
  if (byId("step-take").hidden || !runOf(state.shown)) return;
  byId("take-title").textContent = `Take run ${state.shown} away`;
  byId("files").replaceChildren(...FILES.map(([file, name, note]) => html("div", { class: "file" },
    html("div", {}, html("strong", {}, name), html("p", { class: "note" }, note)),
    html("button", { type: "button", "data-file": file, onclick: (event) => take(file, event.target) }, file))));
  try {
    byId("script").textContent = await (await blob(`runs/${state.shown}/files/repeat.py`)).text();
  } catch (error) {
    tell(error.message);
  }
}

async function take(file, button) {
  button.disabled = true;
  try {
    const picture = /\.(svg|png)$/.exec(file);
    save(picture ? await drawn(picture[1]) : await blob(`runs/${state.shown}/files/${file}`), file);
  } catch (error) {
    tell(error.message);
  }
  button.disabled = false;
}

// Draw the graph out of sight, whole and without marks.
async function drawn(kind) {
  const stage = html("div", { class: "stage-box" });
  byId("off-stage").replaceChildren(stage);
  try {
    const view = globalThis.SartreGraph(stage, await content(state.shown), {});
    view.fit();
    const found = await view[kind]();
    return found instanceof Blob ? found : new Blob([found], { type: kind === "svg" ? "image/svg+xml" : "image/png" });
  } finally {
    byId("off-stage").replaceChildren();
  }
}
