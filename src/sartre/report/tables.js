"use strict";

// The tables of the report: edges, which can be sorted and searched, and environments.
const SartreTables = (() => {
  const { html, number, share, percent } = SartreElements;
  const SHOWN_ROWS = 1000;

  // Fill the table of edges and return choose(k), which marks a row; `choose` is called with the edge whose row is pressed.
  function edgeTable(data, { table, search, counted }, choose) {
    const { names, edges } = data;
    let sort = { key: "strength", down: true };
    let chosen = null;
    const columns = [
      { key: "source", label: "source", of: (edge) => names[edge.source] },
      { key: "target", label: "target", of: (edge) => names[edge.target] },
      { key: "strength", label: "strength", of: (edge) => edge.strength, text: share },
      { key: "direction", label: "direction", of: (edge) => edge.direction },
      { key: "confidence", label: "confidence", of: (edge) => edge.confidence, text: (value) => (value === null ? "–" : value.toFixed(2)) },
      { key: "shape", label: "shape", of: (edge) => edge.trend ?? "" },
      { key: "margin", label: "margin", of: (edge) => edge.margin, text: number },
      { key: "frequency", label: "frequency", of: (edge) => edge.frequency, text: percent },
      { key: "before", label: "before", of: (edge) => edge.before, text: percent },
      { key: "with", label: "acts with", of: (edge) => SartrePanel.partners(data, edge) },
    ].filter(({ of }, c) => c < 3 || edges.some((edge) => ![null, undefined, ""].includes(of(edge))));

    function compare(a, b) {
      if (a === b) return 0;
      if (a === null || a === "") return 1; // unknown values come last
      if (b === null || b === "") return -1;
      const sign = typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b;
      return sort.down ? -sign : sign;
    }

    function fillTable() {
      const wanted = search.value.trim().toLowerCase();
      const column = columns.find(({ key }) => key === sort.key) || columns[0];
      const found = edges.map((_, k) => k).filter((k) => SartrePanel.title(data, edges[k]).toLowerCase().includes(wanted));
      found.sort((a, b) => compare(column.of(edges[a]), column.of(edges[b])) || a - b);
      counted.textContent = `${found.length} of ${edges.length} edges` +
        (found.length > SHOWN_ROWS ? `; the first ${SHOWN_ROWS} are shown, search for the others` : "");
      table.tHead.replaceChildren(html("tr", {}, ...columns.map(heading)));
      table.tBodies[0].replaceChildren(...found.slice(0, SHOWN_ROWS).map(tableRow));
    }

    function heading({ key, label, text }) {
      const button = html("button", { type: "button" }, label);
      button.addEventListener("click", () => {
        const same = sort.key === key;
        sort = { key, down: same ? !sort.down : Boolean(text) };
        fillTable();
        table.tHead.querySelector(`[data-key="${key}"] button`).focus();
      });
      const sorted = sort.key === key ? (sort.down ? "descending" : "ascending") : "none";
      return html("th", { scope: "col", "aria-sort": sorted, "data-key": key, class: text ? "number" : "" }, button);
    }

    function tableRow(k) {
      const edge = edges[k];
      const button = html("button", { type: "button", "aria-label": `Show ${SartrePanel.title(data, edge)}` }, names[edge.source]);
      button.addEventListener("click", () => choose(k));
      const cells = columns.map(({ of, text }, c) => (c ? html("td", { class: text ? "number" : "" }, (text || String)(of(edge))) : html("td", {}, button)));
      return html("tr", { "data-edge": k, class: k === chosen ? "chosen" : "" }, ...cells);
    }


    function mark(k) {
      chosen = k;
      table.querySelectorAll("tbody tr").forEach((row) => row.classList.toggle("chosen", Number(row.dataset.edge) === k));
    }

    search.addEventListener("input", fillTable);
    fillTable();
    return { mark, labels: columns.map(({ label }) => label) };
  }

  function acted(environment) {
    const told = [
      ...environment.set.map((name) => `${name} (set)`),
      ...environment.shifted.map((name) => `${name} (shifted)`),
    ];
    return told.join(", ") || "–";
  }

  const shifts = ({ effects }) =>
    effects.map((effect) => (effect.changes === null
      ? `${effect.variable} (${share(effect.strength)})`
      : `changes the effect of ${effect.changes} on ${effect.variable}`)).join(", ") || "–";

  const contradiction = ({ contradiction: found }) =>
    (found === null ? "–" : `${found.variable}, ${number(found.z)} standard errors`);

  // One row per environment: what was acted on, what else it shifts, and how far the model is from it.
  function environmentTable(section, environments) {
    const compared = environments.some((environment) => environment.contradiction !== null);
    const cells = [
      { label: "environment", text: ({ name, reference }) => (reference ? `${name} (reference)` : name) },
      { label: "rows", text: ({ rows: n }) => String(n), number: true },
      { label: "acted on", text: acted },
      { label: "shifts directly", text: shifts },
      ...(compared ? [{ label: "largest difference from the model", text: contradiction }] : []),
    ];
    const shape = (cell) => ({ class: cell.number ? "number" : "" });
    const [head, body] = section.querySelectorAll("thead, tbody");
    head.replaceChildren(html("tr", {}, ...cells.map((cell) => html("th", { scope: "col", ...shape(cell) }, cell.label))));
    body.replaceChildren(...environments.map((environment) => html("tr", {}, ...cells.map((cell, c) =>
      html(c ? "td" : "th", c ? shape(cell) : { scope: "row" }, cell.text(environment))))));
    section.querySelector("#compared").hidden = !compared;
    section.hidden = false;
  }

  return { edgeTable, environmentTable };
})();
