"use strict";

// What the report says of the edge or the variable that was chosen.
const SartrePanel = (() => {
  const { html, share, percent, number, count, settled } = SartreElements;

  const title = (data, edge) => `${data.names[edge.source]} ${settled(edge) ? "→" : "—"} ${data.names[edge.target]}`;
  const pairsOf = (data, edge) =>
    data.interactions.filter((pair) => pair.target === edge.target && [pair.first, pair.second].includes(edge.source));
  const partners = (data, edge) =>
    pairsOf(data, edge).map((pair) => data.names[pair.first === edge.source ? pair.second : pair.first]).join(", ");

  function facts(data, edge) {
    const sure = edge.direction === "known" || edge.confidence === null ? "" : ` (confidence ${edge.confidence.toFixed(2)})`;
    return [
      ["Strength", share(edge.strength)],
      ["Shape", edge.trend],
      ["Direction", edge.direction + sure],
      ["Margin", edge.margin === null ? null : number(edge.margin)],
      ["Stability", data.frequencies ? `found on ${percent(edge.frequency)} of the half-samples` : null],
    ].filter(([, text]) => text !== null && text !== undefined && text !== "");
  }

  function doubts(edge) {
    const found = [];
    if (!settled(edge)) found.push("The data do not decide the direction: the arrow may point either way.");
    if (edge.hidden) {
      const known = edge.hidden_p_value === null || edge.hidden_p_value === undefined ? "" : ` (p = ${number(edge.hidden_p_value)})`;
      found.push(`A hidden common cause would explain this as well or better${known}.`);
    }
    return found.map((text) => html("p", { class: "doubt" }, text));
  }

  function edgePanel(data, k) {
    const edge = data.edges[k];
    const drawn = edge.shape
      ? [SartreCharts.chart(data, edge), html("p", { class: "note" }, data.sample ? data.sample : "Line: the fitted effect. Band: plus and minus two standard errors.")]
      : [html("p", { class: "note" }, "The function of this edge is not in the report: only those of the strongest edges are.")];
    return [
      html("h3", {}, title(data, edge)),
      html("dl", { class: "facts" }, ...facts(data, edge).flatMap(([name, text]) => [html("dt", {}, name), html("dd", {}, text)])),
      ...doubts(edge),
      ...drawn,
      ...pairsOf(data, edge).flatMap((pair) => SartreCharts.heatMap(data, pair)),
    ];
  }

  // Everything from which a variable can be reached, or which it reaches, itself left out.
  function reached(data, start, from, to) {
    const found = new Set([start]);
    for (const node of found) for (const edge of data.edges) if (edge[from] === node) found.add(edge[to]);
    found.delete(start);
    return found;
  }

  // `go` is called with the number of the edge whose button is pressed.
  function nodePanel(data, i, go) {
    const list = (heading, end, other) => {
      const own = [...data.edges.keys()].filter((k) => data.edges[k][end] === i);
      const items = own.map((k) => {
        const edge = data.edges[k];
        const word = edge.trend ? `, ${edge.trend}` : "";
        const button = html("button", { type: "button" }, data.names[edge[other]]);
        button.addEventListener("click", () => go(k));
        return html("li", {}, button, html("span", { class: "note" }, ` strength ${share(edge.strength)}${word}${settled(edge) ? "" : `, direction ${edge.direction}`}`));
      });
      return [html("h4", {}, `${heading} (${own.length})`), own.length ? html("ul", { class: "ends" }, ...items) : html("p", { class: "note" }, "None were found.")];
    };
    const linked = [...data.edges.keys()].filter((k) => [data.edges[k].source, data.edges[k].target].includes(i) && data.edges[k].shape);
    const strongest = linked.sort((a, b) => data.edges[b].strength - data.edges[a].strength).slice(0, 1);
    const [before, after] = [reached(data, i, "target", "source").size, reached(data, i, "source", "target").size];
    return [
      html("h3", {}, data.names[i]),
      html("p", { class: "note" }, `${count(before, "ancestor")} and ${count(after, "descendant")}; their paths are lit in the graph.`),
      ...list("Causes", "target", "source"),
      ...list("Effects", "source", "target"),
      ...strongest.flatMap((k) => [html("h4", {}, `The strongest: ${title(data, data.edges[k])}`), SartreCharts.chart(data, data.edges[k])]),
    ];
  }

  return { title, partners, edgePanel, nodePanel };
})();
