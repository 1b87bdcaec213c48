"use strict";

// The report: the graph, what was chosen in it, and the tables, filled from the data in the page.
(() => {
  const { html, count } = SartreElements;
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  let kept = false; // whether the panel shows what was clicked, and not only pointed at
  let shown = null;

  function showEdge(k) {
    shown = { edge: k };
    byId("panel").replaceChildren(...SartrePanel.edgePanel(data, k));
    table.mark(k);
  }

  function showNode(i) {
    shown = { node: i };
    byId("panel").replaceChildren(...SartrePanel.nodePanel(data, i, chooseEdge));
    table.mark(null);
  }

  function keep(show, what) {
    kept = true;
    show(what);
    if (matchMedia("(min-width: 901px)").matches) byId("panel").scrollIntoView({ block: "nearest" });
  }

  function chooseEdge(k) {
    view.select({ edge: k });
    keep(showEdge, k);
    byId("panel").scrollIntoView({ block: "nearest" });
  }

  // ---- the page

  const pair = ([name, text]) => [html("dt", {}, name), html("dd", {}, text)];
  const item = (text) => html("li", {}, text);
  if (data.title) {
    byId("kind").hidden = false;
    byId("title").textContent = data.title;
  }
  byId("summary").textContent = data.summary;
  byId("about").append(...data.about.map((each) => html("div", {}, ...pair(each))));
  if (data.command) {
    byId("command").hidden = false;
    byId("command").firstChild.textContent = data.command;
  }
  byId("diagnostics").append(...data.notes.slice(0, data.diagnostics).map(item));
  byId("notes").append(...data.notes.slice(data.diagnostics).map(item));
  byId("order").append(...data.order.map((i, k) => html("li", {}, html("span", {}, String(k + 1)), data.names[i])));
  byId("run").append(...data.run.flatMap(pair));
  const table = SartreTables.edgeTable(data, { table: byId("edges"), search: byId("search"), counted: byId("count") }, chooseEdge);
  byId("columns").append(...data.column_notes.filter(([name]) => table.labels.includes(name)).flatMap(pair));
  if (data.environments.length) SartreTables.environmentTable(byId("environments"), data.environments);

  const view = SartreGraph(byId("drawing"), data, {
    name: (data.title || "causal-graph").replace(/\.[^.]*$/, "").replace(/[^\p{L}\p{N}_-]+/gu, "-").slice(0, 60) || "causal-graph",
    onEdge: (k) => keep(showEdge, k),
    onNode: (i) => keep(showNode, i),
    onBackground: () => { kept = false; table.mark(shown?.edge ?? null); },
    onPeek: (k) => { if (!kept) showEdge(k); },
  });
  const drawn = data.positions
    ? "Causes are above effects. Click a variable to light up its causes and effects, drag it to move it; click an edge to see its function."
    : `With ${count(data.names.length, "variable")}, the page shows one with its causes above and its effects below. Click a neighbour to go there.`;
  byId("hint").textContent = `${drawn} Wheel, pinch or the keys + − 0 and arrows zoom and move.`;
  if (data.edges.length && !data.positions) {
    const degree = data.names.map((_, i) => data.edges.filter((edge) => edge.source === i || edge.target === i).length);
    const first = degree.indexOf(Math.max(...degree));
    view.select({ node: first });
    showNode(first);
  } else if (data.edges.length) showEdge(0);
  else byId("panel").append(html("p", { class: "note" }, "No edges were found."));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !kept) return;
    kept = false;
    view.select(null);
  });
  addEventListener("beforeprint", () => view.fit());

  const dark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const nameTheme = () => { byId("theme").textContent = dark() ? "Light" : "Dark"; };
  byId("theme").addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; nameTheme(); });
  nameTheme();
})();
