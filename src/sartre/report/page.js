"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { names, edges } = data;
  const BOX = { height: 30, gapX: 20, gapY: 62, pad: 10 };
  const SHOWN_ROWS = 1000;
  const SHOWN_MATCHES = 24;
  const PER_ROW = 5; // neighbours side by side
  const byId = (id) => document.getElementById(id);
  const state = { pinned: null, sort: { key: "strength", down: true }, centre: null };

  // Text only ever becomes a text node: whatever a name holds, it is shown and never run.
  function build(element, attributes, children) {
    for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
    element.append(...children.filter((child) => child !== null));
    return element;
  }
  const html = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) =>
    build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

  function number(value) {
    if (value === null || value === undefined) return "–";
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size < 1e-3 || size >= 1e5) return value.toExponential(1).replace("e-", "e−");
    return String(Number(value.toPrecision(3))).replace("-", "−");
  }
  const share = (value) => (value === null ? "–" : value.toFixed(3));
  const percent = (value) => (value === null || value === undefined ? "–" : `${Math.round(100 * value)} %`);
  const count = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
  const short = (name, most) => {
    const letters = Array.from(name);
    return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : name;
  };
  const settled = (edge) => ["decided", "known"].includes(edge.direction);
  const title = (edge) => `${names[edge.source]} ${settled(edge) ? "→" : "—"} ${names[edge.target]}`;
  const pairsOf = (edge) =>
    data.interactions.filter((pair) => pair.target === edge.target && [pair.first, pair.second].includes(edge.source));
  const partners = (edge) =>
    pairsOf(edge).map((pair) => names[pair.first === edge.source ? pair.second : pair.first]).join(", ");

  const legend = "Thicker edges are stronger." + (edges.every(settled) ? "" : " Dashed lines without an arrow: the data do not decide the direction.");

  // ---- the drawing

  const longest = Math.max(3, ...names.map((name) => Array.from(name).length));
  const letters = Math.min(18, longest);
  const width = Math.max(56, Math.ceil(7.4 * letters) + 18);
  const atX = (x) => BOX.pad + width / 2 + x * (width + BOX.gapX);
  const atY = (y) => BOX.pad + BOX.height / 2 + y * (BOX.height + BOX.gapY);

  // Where each edge leaves and enters its boxes: side by side, sorted by direction, so that none hides another.
  function ports(routes) {
    const ends = new Map([...routes.keys()].map((k) => [k, { from: 0, to: 0 }]));
    for (const [side, box, toward] of [["from", "source", 1], ["to", "target", -2]]) {
      const groups = new Map();
      for (const k of routes.keys()) groups.set(edges[k][box], [...(groups.get(edges[k][box]) || []), k]);
      for (const group of groups.values()) {
        group.sort((a, b) => routes.get(a).at(toward)[0] - routes.get(b).at(toward)[0]);
        const step = Math.min(16, (width - 20) / group.length);
        group.forEach((k, rank) => { ends.get(k)[side] = (rank - (group.length - 1) / 2) * step; });
      }
    }
    return ends;
  }

  function line(points, port, head) {
    const at = points.map(([x, y]) => [atX(x), atY(y)]);
    const last = at.length - 1;
    at[0] = [at[0][0] + port.from, at[0][1] + BOX.height / 2];
    at[last] = [at[last][0] + port.to, at[last][1] - BOX.height / 2 - head]; // room for the arrow head, if there is one
    let path = `M${at[0][0]} ${at[0][1]}`;
    for (let i = 1; i < at.length; i++) {
      const half = (at[i][1] - at[i - 1][1]) / 2;
      path += `C${at[i - 1][0]} ${at[i - 1][1] + half} ${at[i][0]} ${at[i][1] - half} ${at[i][0]} ${at[i][1]}`;
    }
    return { path, end: at[last] };
  }

  function drawEdge(k, points, port) {
    const edge = edges[k];
    const { path, end } = line(points, port, settled(edge) ? 8 : 0);
    const strength = edge.strength === null ? 0.1 : edge.strength;
    const group = svg(
      "g",
      { class: "edge", tabindex: 0, role: "button", "data-edge": k,
        "aria-label": `${names[edge.source]} ${settled(edge) ? "causes" : "and"} ${names[edge.target]}${settled(edge) ? "" : `, direction ${edge.direction}`}, strength ${number(edge.strength)}` },
      svg("title", {}, title(edge)),
      svg("path", { class: "hit", d: path }),
      svg("path", { class: settled(edge) ? "line" : "line open", d: path, "stroke-width": (1.2 + 4 * Math.sqrt(strength)).toFixed(1) }),
      settled(edge) ? svg("path", { class: "arrow", d: `M${end[0] - 6} ${end[1] - 1}h12l-6 9z` }) : null,
    );
    const peek = () => state.pinned === null && show(k);
    group.addEventListener("mouseenter", peek);
    group.addEventListener("focus", peek);
    group.addEventListener("click", (event) => { event.stopPropagation(); pin(k); });
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pin(k); }
    });
    return group;
  }

  function drawNode(i, [x, y]) {
    const group = svg(
      "g",
      { class: "node" + (i === state.centre ? " centre" : ""), "data-node": i,
        transform: `translate(${atX(x) - width / 2} ${atY(y) - BOX.height / 2})` },
      svg("title", {}, names[i]),
      svg("rect", { width, height: BOX.height, rx: 8 }),
      svg("text", { x: width / 2, y: BOX.height / 2 }, short(names[i], letters)),
    );
    const near = (on) =>
      document.querySelectorAll("[data-edge]").forEach((element) => {
        const edge = edges[element.dataset.edge];
        element.classList.toggle("near", on && element.matches(".edge") && [edge.source, edge.target].includes(i));
      });
    group.addEventListener("mouseenter", () => near(true));
    group.addEventListener("mouseleave", () => near(false));
    if (!data.positions && i !== state.centre) {
      build(group, { class: "node go", tabindex: 0, role: "button", "aria-label": `Show the neighbours of ${names[i]}` }, []);
      group.addEventListener("click", () => visit(i));
      group.addEventListener("keydown", (event) => event.key === "Enter" && visit(i));
    }
    return group;
  }

  function draw(places, routes, description) {
    const points = [...places.values(), ...[...routes.values()].flat()];
    const w = atX(Math.max(0, ...points.map(([x]) => x))) + width / 2 + BOX.pad;
    const h = atY(Math.max(0, ...points.map(([, y]) => y))) + BOX.height / 2 + BOX.pad;
    const ends = ports(routes);
    byId("scroll").replaceChildren(
      svg(
        "svg",
        { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "group", "aria-label": description },
        ...[...routes].map(([k, route]) => drawEdge(k, route, ends.get(k))),
        ...[...places].map(([i, place]) => drawNode(i, place)),
      ),
    );
    byId("scroll").firstChild.addEventListener("click", () => { state.pinned = null; });
    fit();
  }

  function fit() {
    const drawn = byId("scroll").firstChild;
    const { width: w, height: h } = drawn.viewBox.baseVal;
    document.body.classList.toggle("spread", w > 900);
    const scale = Math.min(1.3, Math.max(0.7, byId("scroll").clientWidth / w)); // smaller letters cannot be read, so it scrolls
    drawn.setAttribute("width", w * scale);
    drawn.setAttribute("height", h * scale);
  }

  function drawAll() {
    draw(
      new Map(data.positions.map((place, i) => [i, place])),
      new Map(edges.map((edge, k) => [k, edge.route])),
      `Graph of ${names.length} variables and ${edges.length} edges, causes above effects`,
    );
  }

  function rows(list, top) {
    return list.map((i, k) => {
      const inRow = Math.min(PER_ROW, list.length - PER_ROW * Math.floor(k / PER_ROW));
      return [i, [(k % PER_ROW) - (inRow - 1) / 2, top + Math.floor(k / PER_ROW)]];
    });
  }

  function visit(i) {
    state.centre = i;
    const into = edges.flatMap((edge, k) => (edge.target === i ? [k] : []));
    const from = edges.flatMap((edge, k) => (edge.source === i ? [k] : []));
    const depth = Math.ceil(into.length / PER_ROW);
    const places = new Map([
      ...rows(into.map((k) => edges[k].source), 0),
      [i, [0, depth]],
      ...rows(from.map((k) => edges[k].target), depth + 1),
    ]);
    const left = Math.min(...[...places.values()].map(([x]) => x));
    for (const [key, [x, y]] of places) places.set(key, [x - left, y]);
    const routes = new Map([...into, ...from].map((k) => [k, [places.get(edges[k].source), places.get(edges[k].target)]]));
    draw(places, routes, `${names[i]} with ${count(into.length, "cause")} above and ${count(from.length, "effect")} below`);
    byId("legend").textContent = `${names[i]}: ${count(into.length, "cause")} above, ${count(from.length, "effect")} below. ${legend}`;
    state.pinned = null;
    if (into.length + from.length) show([...into, ...from].sort((a, b) => edges[b].strength - edges[a].strength)[0]);
    else byId("panel").replaceChildren(html("p", { class: "note" }, "This variable has no edges."));
  }

  function find() {
    const wanted = byId("find").value.trim().toLowerCase();
    const found = wanted ? names.flatMap((name, i) => (name.toLowerCase().includes(wanted) ? [i] : [])) : [];
    const exact = found.filter((i) => names[i].toLowerCase() === wanted);
    byId("matches").replaceChildren(
      ...found.slice(0, SHOWN_MATCHES).map((i) => {
        const button = html("button", { type: "button" }, short(names[i], 40));
        button.addEventListener("click", () => visit(i));
        return html("li", {}, button);
      }),
      ...(found.length > SHOWN_MATCHES ? [html("li", { class: "note" }, `and ${found.length - SHOWN_MATCHES} more`)] : []),
      ...(wanted && !found.length ? [html("li", { class: "note" }, "No variable has this in its name.")] : []),
    );
    if (exact.length || found.length === 1) visit(exact.length ? exact[0] : found[0]);
  }

  // ---- the chosen edge

  function ticks(low, high) {
    const raw = (high - low) / 4 || 1;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.8);
    const found = [];
    for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) found.push(Math.abs(v) < step / 1e6 ? 0 : v);
    return found;
  }

  function axes(x, y, labels) {
    const view = { left: 52, right: 408, top: 12, bottom: 222 };
    const px = (v) => view.left + ((v - x[0]) / (x[1] - x[0] || 1)) * (view.right - view.left);
    const py = (v) => view.bottom - ((v - y[0]) / (y[1] - y[0] || 1)) * (view.bottom - view.top);
    const parts = [
      svg("path", { class: "axis", d: `M${view.left} ${view.top}V${view.bottom}H${view.right}` }),
      ...ticks(...x).map((v) => svg("text", { class: "tick", x: px(v), y: view.bottom + 16, "text-anchor": "middle" }, number(v))),
      ...ticks(...y).map((v) => svg("text", { class: "tick", x: view.left - 7, y: py(v) + 4, "text-anchor": "end" }, number(v))),
      svg("text", { class: "label", x: (view.left + view.right) / 2, y: 256, "text-anchor": "middle" }, short(labels[0], 44)),
      svg("text", { class: "label", transform: "translate(13 117) rotate(-90)", "text-anchor": "middle" }, short(labels[1], 32)),
    ];
    return { px, py, view, parts };
  }

  function chart(edge) {
    const { low, high, values, std } = edge.shape;
    const at = (v) => ((v - low) / (high - low)) * (values.length - 1);
    const inside = (v) => v >= low && v <= high;
    const curve = (v) => {
      const place = Math.min(values.length - 2, Math.max(0, Math.floor(at(v))));
      return values[place] + (at(v) - place) * (values[place + 1] - values[place]);
    };
    const column = data.columns[edge.source];
    const residual = data.residuals[edge.target];
    const points = column && residual ? column.map((v, k) => [v, curve(v) + residual[k]]).filter(([v]) => inside(v)) : [];
    const heights = points.map(([, v]) => v).sort((a, b) => a - b);
    const ends = heights.length ? [heights[Math.floor(0.005 * heights.length)], heights[Math.ceil(0.995 * heights.length) - 1]] : [];
    const bottom = Math.min(...values.map((v, k) => v - 2 * std[k]), ...ends);
    const top = Math.max(...values.map((v, k) => v + 2 * std[k]), ...ends);
    const frame = axes([low, high], [bottom, top], [names[edge.source], `effect on ${names[edge.target]}`]);
    const { px, py, view } = frame;
    const x = values.map((_, k) => low + (k * (high - low)) / (values.length - 1));
    const upper = values.map((v, k) => `${px(x[k]).toFixed(1)} ${py(v + 2 * std[k]).toFixed(1)}`);
    const lower = values.map((v, k) => `${px(x[k]).toFixed(1)} ${py(v - 2 * std[k]).toFixed(1)}`).reverse();
    const middle = values.map((v, k) => `${px(x[k]).toFixed(1)} ${py(v).toFixed(1)}`);
    return svg(
      "svg",
      { viewBox: "0 0 420 264", role: "img", class: "shape",
        "aria-label": `Effect of ${names[edge.source]} on ${names[edge.target]}, from ${number(values[0])} to ${number(values[values.length - 1])}` },
      ...frame.parts,
      ...points.filter(([, v]) => v >= bottom && v <= top).map(([v, w]) => svg("circle", { class: "point", cx: px(v).toFixed(1), cy: py(w).toFixed(1), r: 1.8 })),
      bottom < 0 && top > 0 ? svg("line", { class: "zero", x1: view.left, x2: view.right, y1: py(0), y2: py(0) }) : null,
      svg("path", { class: "band", d: `M${upper.join("L")}L${lower.join("L")}Z` }),
      svg("path", { class: "curve", d: `M${middle.join("L")}` }),
    );
  }

  function heatMap(pair) {
    const largest = Math.max(...pair.effect.flat().map(Math.abs)) || 1;
    const frame = axes(pair.x, pair.y, [names[pair.first], names[pair.second]]);
    const { view } = frame;
    const w = (view.right - view.left) / pair.effect.length;
    const h = (view.bottom - view.top) / pair.effect[0].length;
    const cells = pair.effect.flatMap((row, a) =>
      row.map((value, b) => {
        const cell = svg("rect", { x: view.left + a * w, y: view.bottom - (b + 1) * h, width: w, height: h },
          svg("title", {}, number(value)));
        cell.style.fill = `rgba(var(--${value > 0 ? "high" : "low"}), ${(Math.abs(value) / largest).toFixed(2)})`;
        return cell;
      }),
    );
    const known = pair.p_value === null ? "" : ` (p = ${number(pair.p_value)})`;
    return [
      html("p", { class: "note" }, `${names[pair.first]} and ${names[pair.second]} act together on ${names[pair.target]}${known}: ` +
        `their joint effect beyond the sum of both${pair.others.length ? `, with ${pair.others.map((j) => names[j]).join(", ")} at the median or most frequent level` : ""}. Blue raises ${names[pair.target]}, orange lowers it, by at most ${number(largest)} standard deviations.`),
      svg("svg", { viewBox: "0 0 420 264", role: "img", class: "heat", "aria-label": `Joint effect of ${names[pair.first]} and ${names[pair.second]}` }, ...cells, ...frame.parts),
    ];
  }

  function show(k) {
    const edge = edges[k];
    const facts = [`Strength ${share(edge.strength)}`];
    facts.push(`direction ${edge.direction}` + (edge.direction === "known" || edge.confidence === null ? "" : ` (confidence ${edge.confidence.toFixed(2)})`));
    if (edge.margin !== null) facts.push(`margin ${number(edge.margin)}`);
    if (data.frequencies) facts.push(`found on ${percent(edge.frequency)} of the half-samples`);
    byId("panel").replaceChildren(
      html("h3", {}, title(edge)),
      html("p", { class: "note" }, facts.join(" · ")),
      ...(edge.shape
        ? [chart(edge), html("p", { class: "note" }, data.sample ? data.sample : "Line: the fitted effect. Band: plus and minus two standard errors.")]
        : [html("p", { class: "note" }, "The function of this edge is not in the report: only those of the strongest edges are.")]),
      ...pairsOf(edge).flatMap(heatMap),
    );
    document.querySelectorAll(".chosen").forEach((element) => element.classList.remove("chosen"));
    document.querySelectorAll(`[data-edge="${k}"]`).forEach((element) => element.classList.add("chosen"));
    state.shown = k;
  }

  function pin(k) {
    state.pinned = k;
    show(k);
    byId("panel").scrollIntoView({ block: "nearest" });
  }

  // ---- the table

  const columns = [
    { key: "source", label: "source", of: (edge) => names[edge.source] },
    { key: "target", label: "target", of: (edge) => names[edge.target] },
    { key: "strength", label: "strength", of: (edge) => edge.strength, text: share },
    { key: "direction", label: "direction", of: (edge) => edge.direction },
    { key: "confidence", label: "confidence", of: (edge) => edge.confidence, text: (value) => (value === null ? "–" : value.toFixed(2)) },
    { key: "margin", label: "margin", of: (edge) => edge.margin, text: number },
    { key: "frequency", label: "frequency", of: (edge) => edge.frequency, text: percent },
    { key: "before", label: "before", of: (edge) => edge.before, text: percent },
    { key: "with", label: "acts with", of: partners },
  ].filter(({ of }, c) => c < 3 || edges.some((edge) => ![null, undefined, ""].includes(of(edge))));

  function compare(a, b) {
    if (a === b) return 0;
    if (a === null || a === "") return 1; // unknown values come last
    if (b === null || b === "") return -1;
    const sign = typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b;
    return state.sort.down ? -sign : sign;
  }

  function fillTable() {
    const wanted = byId("search").value.trim().toLowerCase();
    const column = columns.find(({ key }) => key === state.sort.key) || columns[0];
    const found = edges.map((_, k) => k).filter((k) => title(edges[k]).toLowerCase().includes(wanted));
    found.sort((a, b) => compare(column.of(edges[a]), column.of(edges[b])) || a - b);
    byId("count").textContent = `${found.length} of ${edges.length} edges` +
      (found.length > SHOWN_ROWS ? `; the first ${SHOWN_ROWS} are shown, search for the others` : "");
    byId("edges").tHead.replaceChildren(html("tr", {}, ...columns.map(heading)));
    byId("edges").tBodies[0].replaceChildren(...found.slice(0, SHOWN_ROWS).map(tableRow));
  }

  function heading({ key, label, text }) {
    const button = html("button", { type: "button" }, label);
    button.addEventListener("click", () => {
      const same = state.sort.key === key;
      state.sort = { key, down: same ? !state.sort.down : Boolean(text) };
      fillTable();
      byId("edges").tHead.querySelector(`[data-key="${key}"] button`).focus();
    });
    const sort = state.sort.key === key ? (state.sort.down ? "descending" : "ascending") : "none";
    return html("th", { scope: "col", "aria-sort": sort, "data-key": key, class: text ? "number" : "" }, button);
  }

  function tableRow(k) {
    const edge = edges[k];
    const button = html("button", { type: "button", "aria-label": `Show ${title(edge)}` }, names[edge.source]);
    button.addEventListener("click", () => {
      if (!data.positions && ![edge.source, edge.target].includes(state.centre)) visit(edge.target);
      pin(k);
    });
    const cells = columns.map(({ of, text }, c) => (c ? html("td", { class: text ? "number" : "" }, (text || String)(of(edge))) : html("td", {}, button)));
    return html("tr", { "data-edge": k, class: k === state.shown ? "chosen" : "" }, ...cells);
  }

  // ---- the environments

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

  function fillEnvironments() {
    const compared = data.environments.some((environment) => environment.contradiction !== null);
    const cells = [
      { label: "environment", text: ({ name, reference }) => (reference ? `${name} (reference)` : name) },
      { label: "rows", text: ({ rows: n }) => String(n), number: true },
      { label: "acted on", text: acted },
      { label: "shifts directly", text: shifts },
      ...(compared ? [{ label: "largest difference from the model", text: contradiction }] : []),
    ];
    const shape = (cell) => ({ class: cell.number ? "number" : "" });
    const [head, body] = byId("environments").querySelectorAll("thead, tbody");
    head.replaceChildren(html("tr", {}, ...cells.map((cell) => html("th", { scope: "col", ...shape(cell) }, cell.label))));
    body.replaceChildren(...data.environments.map((environment) => html("tr", {}, ...cells.map((cell, c) =>
      html(c ? "td" : "th", c ? shape(cell) : { scope: "row" }, cell.text(environment))))));
    byId("compared").hidden = !compared;
    byId("environments").hidden = false;
  }

  // ---- the page

  const pair = ([name, text]) => [html("dt", {}, name), html("dd", {}, text)];
  byId("summary").textContent = data.summary;
  byId("columns").append(...data.column_notes.filter(([name]) => columns.some(({ label }) => label === name)).flatMap(pair));
  byId("order").append(...data.order.map((i, k) => html("li", {}, html("span", {}, String(k + 1)), names[i])));
  byId("notes").append(...data.notes.map((text) => html("li", {}, text)));
  byId("run").append(...data.run.flatMap(pair));
  byId("search").addEventListener("input", fillTable);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") state.pinned = null; });
  const dark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const nameTheme = () => { byId("theme").textContent = dark() ? "Light" : "Dark"; };
  byId("theme").addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; nameTheme(); });
  nameTheme();
  fillTable();
  if (data.environments.length) fillEnvironments();
  const degree = names.map((_, i) => edges.filter((edge) => edge.source === i || edge.target === i).length);
  if (data.positions) {
    drawAll();
    byId("legend").textContent = `Causes are above effects. ${legend} Point at an edge to see its effect; click to keep it in view.`;
    if (edges.length) show(0);
    else byId("panel").append(html("p", { class: "note" }, "No edges were found."));
  } else {
    byId("finder").hidden = false;
    byId("find").addEventListener("input", find);
    visit(degree.indexOf(Math.max(...degree)));
  }
  addEventListener("resize", fit);
})();
