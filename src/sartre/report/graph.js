"use strict";

// A drawn graph with its controls, for the report and the app.
//
//   const view = SartreGraph(element, data, { onNode(i), onEdge(k), onBackground(), onPeek(k) });
//   view.update(data); view.select({ node: i } | { edge: k } | { edges: [k] } | null); view.hideBelow(strength); view.fit();
//   view.svg() -> text of an SVG file; view.png() -> Promise of a Blob
//
// data = { names, positions: [[x, y]] | null, edges: [{ source, target, strength, direction, hidden, joint, frequency,
// change, route }] }: positions and routes on the grid of sartre.report.layout; without positions, one variable and its
// neighbours are shown. `change` is "came", "went" or "turned". The callbacks tell what a user did, never what a method did.
function SartreGraph(element, given, { onNode = () => {}, onEdge = () => {}, onBackground = () => {}, onPeek = () => {}, name = "graph" } = {}) {
  const { html, svg, number, count, settled, download } = SartreElements;
  const MOST_STOPS = 40; // of more edges, none is a stop of the Tab key: nodes are, and tables list the edges
  let data = given;
  let chosen = null;
  let centre = null; // of a neighbourhood
  let threshold = 0;
  let wanted = "";
  let moved = new Map(); // how far nodes were dragged, in steps of the grid
  let grid; // places and routes of what is drawn
  let box; // sizes in pixels
  let nodes;
  let lines;
  let drawnFor; // width and height of the panel

  const layer = svg("g", { class: "layer" });
  const stage = svg("svg", { class: "stage", tabindex: 0, role: "group" }, layer);
  const legend = html("ul", { class: "legend", "aria-label": "Legend" });
  const bar = SartreControls.bar({
    zoom: (factor) => camera.zoom(factor),
    fit: () => fit(),
    svg: () => download(`${name}.svg`, new Blob([svgText()], { type: "image/svg+xml" })),
    png: () => picture().then((blob) => download(`${name}.png`, blob)),
    hideBelow,
    search,
    choose: (i) => { chooseNode(i); },
  });
  const camera = SartreCamera(stage, layer, grab);
  element.classList.add("sartre-graph");
  element.replaceChildren(bar.element, stage, legend);

  // ---- drawing

  function draw() {
    if (!data.positions && data.names.length) {
      if (centre === null || centre >= data.names.length) centre = mostLinked();
      grid = SartreShapes.neighbourhood(data.edges, centre);
    } else grid = SartreShapes.whole({ ...data, positions: data.positions || [] });
    const all = [...grid.places.values(), ...[...grid.routes.values()].flat(), ...(grid.places.size ? [] : [[0, 0]])];
    const [xs, ys] = [0, 1].map((axis) => all.map((point) => point[axis]));
    const size = { width: Math.max(...xs) - Math.min(...xs), height: Math.max(...ys) - Math.min(...ys) };
    const shown = [...grid.places.keys()];
    stage.style.maxHeight = "";
    box = SartreShapes.fitted(shown.map((i) => data.names[i]), size, { width: stage.clientWidth || 600, height: stage.clientHeight || 400 });
    stage.style.maxHeight = `${Math.max(240, box.needed)}px`; // a small or a wide graph needs no high panel
    drawnFor = [stage.clientWidth, stage.clientHeight];
    const text = new Map(shown.map((i, row) => [i, box.lines[row]]));
    lines = new Map([...grid.routes.keys()].map((k) => [k, edgeElement(k)]));
    nodes = new Map(shown.map((i) => [i, nodeElement(i, text.get(i))]));
    layer.replaceChildren(...lines.values(), ...nodes.values());
    stage.setAttribute("aria-label", described());
    place();
    fit();
    paint();
  }

  function described() {
    const size = `${count(data.names.length, "variable")} and ${count(data.edges.length, "edge")}`;
    if (data.positions || centre === null) return `Graph of ${size}, causes above effects`;
    return `${data.names[centre]} with ${count(grid.into.length, "cause")} above and ${count(grid.from.length, "effect")} below, of a graph of ${size}`;
  }

  function mostLinked() {
    const degree = data.names.map(() => 0);
    for (const edge of data.edges) { degree[edge.source] += 1; degree[edge.target] += 1; }
    return degree.indexOf(Math.max(...degree));
  }

  function edgeElement(k) {
    const edge = data.edges[k];
    const [source, target] = [data.names[edge.source], data.names[edge.target]];
    const told = settled(edge) ? `${source} causes ${target}` : `${source} and ${target}, direction ${edge.direction}`;
    const marks = `${edge.hidden ? ", possibly a hidden common cause" : ""}${edge.joint ? ", acts jointly with other causes" : ""}`;
    const group = svg(
      "g",
      { class: `edge ${edge.change || ""}`, tabindex: grid.routes.size > MOST_STOPS ? -1 : 0, role: "button", "data-edge": k, "aria-label": `${told}, strength ${number(edge.strength)}${marks}` },
      svg("title", {}, `${source} ${settled(edge) ? "→" : "—"} ${target}`),
      svg("path", { class: "hit" }),
      svg("g", { class: "ink", opacity: Number.isFinite(edge.frequency) ? (0.25 + 0.75 * edge.frequency).toFixed(2) : 1 },
        svg("path", { class: settled(edge) ? "line" : "line open", "stroke-width": thickness(edge).toFixed(1) }),
        settled(edge) ? svg("path", { class: "arrow" }) : null),
      svg("g", { class: "marks" }),
    );
    const peek = () => onPeek(k);
    group.addEventListener("mouseenter", peek);
    group.addEventListener("focus", peek);
    pressed(group, () => { select({ edge: k }); onEdge(k); });
    return group;
  }

  function thickness(edge) {
    const dense = Math.min(1, Math.sqrt(80 / (grid.routes.size || 1)));
    return 1 + 4.2 * dense * Math.sqrt(Number.isFinite(edge.strength) ? edge.strength : 0.1);
  }

  function nodeElement(i, text) {
    const top = (box.height - (text.length - 1) * box.font.line) / 2;
    const group = svg(
      "g",
      { class: "node", "data-node": i, tabindex: 0, role: "button", "aria-label": data.positions ? data.names[i] : `Show the neighbours of ${data.names[i]}` },
      svg("title", {}, data.names[i]),
      svg("rect", { width: box.width, height: box.height, rx: 8 }),
      svg("text", {}, ...text.map((line, row) => svg("tspan", { x: box.width / 2, y: top + row * box.font.line }, line))),
    );
    const near = (on) => lines.forEach((each, k) => each.classList.toggle("near", on && [data.edges[k].source, data.edges[k].target].includes(i)));
    group.addEventListener("mouseenter", () => near(true));
    group.addEventListener("mouseleave", () => near(false));
    pressed(group, () => chooseNode(i));
    return group;
  }

  function pressed(group, act) {
    group.addEventListener("click", (event) => { event.stopPropagation(); act(); });
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); }
    });
  }

  // Write where everything stands: after drawing, and while a node is dragged.
  function place() {
    const shift = (i) => moved.get(i) || [0, 0];
    const pixel = ([x, y]) => [x * box.stepX, y * box.stepY];
    nodes.forEach((node, i) => {
      const [x, y] = pixel([grid.places.get(i)[0] + shift(i)[0], grid.places.get(i)[1] + shift(i)[1]]);
      node.setAttribute("transform", `translate(${(x - box.width / 2).toFixed(1)} ${(y - box.height / 2).toFixed(1)})`);
    });
    const routes = new Map([...grid.routes].map(([k, route]) => {
      const ends = [shift(data.edges[k].source), shift(data.edges[k].target)];
      return [k, route.map(([x, y], step) => {
        const t = step / (route.length - 1);
        return pixel([x + (1 - t) * ends[0][0] + t * ends[1][0], y + (1 - t) * ends[0][1] + t * ends[1][1]]);
      })];
    }));
    const ports = SartreShapes.ports(data.edges, routes, box.width);
    lines.forEach((group, k) => {
      const edge = data.edges[k];
      const { path, end, middle } = SartreShapes.line(routes.get(k), ports.get(k), box, settled(edge));
      group.querySelectorAll(".line, .hit").forEach((each) => each.setAttribute("d", path));
      group.querySelector(".arrow")?.setAttribute("d", `M${(end[0] - 5.5).toFixed(1)} ${(end[1] - 1).toFixed(1)}h11l-5.5 9z`);
      group.querySelector(".marks").replaceChildren(
        ...(edge.hidden ? SartreControls.hiddenMark(...middle) : []),
        ...(edge.joint ? [SartreControls.jointMark(end[0], end[1] - 7)] : []),
      );
    });
  }

  function grab(event) {
    const held = event.target.closest?.(".node");
    if (!held) return null;
    const i = Number(held.dataset.node);
    return {
      move(dx, dy) {
        const [x, y] = moved.get(i) || [0, 0];
        moved.set(i, [x + dx / box.stepX, y + dy / box.stepY]);
        place();
      },
    };
  }

  // ---- what is chosen, found and hidden

  const shownEdges = () => [...lines.keys()].filter((k) => !(data.edges[k].strength < threshold));

  // The nodes from which a node can be reached (or which it reaches), and the edges on all these paths.
  function reached(start, [from, to]) {
    const found = { nodes: new Set([start]), edges: new Set() };
    const usable = shownEdges().map((k) => [k, data.edges[k]]);
    for (const node of found.nodes) {
      for (const [k, edge] of usable) if (edge[from] === node) { found.edges.add(k); found.nodes.add(edge[to]); }
    }
    return found;
  }

  const isChosen = (k) => Boolean(chosen) && (chosen.edge === k || Boolean(chosen.edges?.includes(k)));

  function paint() {
    const shown = new Set(shownEdges());
    const node = chosen && chosen.node;
    const inside = Number.isInteger(node) && nodes.has(node);
    const toward = inside ? reached(node, ["target", "source"]) : null;
    const away = inside ? reached(node, ["source", "target"]) : null;
    const found = matching();
    stage.classList.toggle("focused", inside);
    stage.classList.toggle("searched", !inside && found.length > 0);
    lines.forEach((group, k) => {
      const { source, target } = data.edges[k];
      const marks = {
        weak: !shown.has(k), chosen: isChosen(k), toward: inside && toward.edges.has(k),
        away: inside && away.edges.has(k), direct: inside && [source, target].includes(node),
      };
      for (const [mark, on] of Object.entries(marks)) group.classList.toggle(mark, on);
    });
    const ends = new Set([...lines.keys()].filter(isChosen).flatMap((k) => [data.edges[k].source, data.edges[k].target]));
    nodes.forEach((group, i) => {
      const marks = {
        centre: i === centre && !data.positions, chosen: node === i, ancestor: inside && i !== node && toward.nodes.has(i),
        descendant: inside && i !== node && away.nodes.has(i), end: ends.has(i), found: found.includes(i),
      };
      for (const [mark, on] of Object.entries(marks)) group.classList.toggle(mark, on);
      group.setAttribute("aria-pressed", node === i);
    });
    bar.setThreshold(threshold, data.edges.filter((each) => !(each.strength < threshold)).length, data.edges.length);
    legend.replaceChildren(...SartreControls.legend([...shown].map((k) => data.edges[k]), { toward: inside && toward.edges.size > 0, away: inside && away.edges.size > 0 }));
  }

  function chooseNode(i) {
    select({ node: i });
    onNode(i);
  }

  function select(what) {
    chosen = what;
    if (what && !data.positions) {
      const edge = data.edges[what.edge ?? what.edges?.[0]];
      const next = edge ? ([edge.source, edge.target].includes(centre) ? centre : edge.target) : what.node;
      if (Number.isInteger(next) && next !== centre) {
        centre = next;
        moved = new Map();
        draw();
        return;
      }
    }
    paint();
  }

  function hideBelow(strength) {
    threshold = strength;
    paint();
  }

  const matching = () => (wanted ? data.names.flatMap((each, i) => (each.toLowerCase().includes(wanted) ? [i] : [])) : []);

  function search(text) {
    wanted = text.trim().toLowerCase();
    const found = matching();
    const exact = found.filter((i) => data.names[i].toLowerCase() === wanted);
    bar.setMatches(wanted, found, data.names);
    if (exact.length === 1 || found.length === 1) chooseNode((exact.length ? exact : found)[0]);
    else paint();
  }

  // ---- the whole

  const contents = () => layer.getBBox();

  function fit() {
    const { x, y, width, height } = contents();
    const pad = SartreShapes.PAD;
    camera.fit({ x: x - pad, y: y - pad, width: width + 2 * pad, height: height + 2 * pad }, 1.25);
  }

  function update(next) {
    const same = JSON.stringify(next.names) === JSON.stringify(data.names);
    if (!same) { moved = new Map(); chosen = null; centre = null; threshold = 0; }
    if (chosen && chosen.node === undefined) chosen = null; // edges have other numbers now
    data = next;
    bar.setEdges(data.edges);
    draw();
  }

  const background = () => getComputedStyle(element).getPropertyValue("--card").trim() || "#ffffff";
  const svgText = () => SartreExport.svgText(layer, contents(), background());
  const picture = () => SartreExport.png(layer, contents(), background());

  stage.addEventListener("click", () => { select(null); onBackground(); });
  stage.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { select(null); onBackground(); }
  });
  new ResizeObserver(() => {
    const size = [stage.clientWidth, stage.clientHeight];
    if (!size[0] || (size[0] === drawnFor[0] && size[1] === drawnFor[1])) return;
    draw();
  }).observe(stage);

  update(given);
  return { update, select, hideBelow, fit, svg: svgText, png: picture };
}
