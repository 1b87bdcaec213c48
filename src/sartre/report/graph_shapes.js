"use strict";

// Where boxes and lines stand, in pixels before zooming: everything here is arithmetic, nothing is drawn.
const SartreShapes = (() => {
  const FONT = { family: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif', size: 13, line: 16 };
  const LETTERS = [30, 24, 20, 17, 14, 12, 10, 8]; // letters per line that are tried: fewer make narrower, higher boxes
  const LONGEST_WORD = 14; // letters; longer ones may be broken
  const BREAKS = /[\s_\-./:]+/u;
  const MOST_LINES = 3;
  const PAD = 14; // around the drawing
  const GAP = { x: [14, 40], y: [34, 96] }; // between boxes: as much as the panel allows
  const LARGEST = 1.25; // a graph of few variables is not blown up further
  const HEAD = 8; // length of an arrow head
  const STEEPEST = 0.7; // pixels to the side per pixel down where a line passes boxes, so that it does not run under them
  const pen = document.createElement("canvas").getContext("2d");

  function measured(text) {
    pen.font = `${FONT.size}px ${FONT.family}`;
    return pen.measureText(text).width;
  }

  // The lines of a name, broken after spaces and signs where possible; what does not fit ends in an ellipsis.
  function wrapped(name, letters) {
    const words = name.replace(/\s+/g, " ").trim().match(/[^\s_\-./:]+[_\-./:]*\s?|[_\-./:]+\s?/gu) || [""];
    const pieces = words.flatMap((word) => {
      const all = Array.from(word);
      return Array.from({ length: Math.ceil(all.length / letters) }, (_, k) => all.slice(k * letters, (k + 1) * letters).join(""));
    });
    const lines = [];
    for (const piece of pieces) {
      const joined = (lines.at(-1) ?? "") + piece;
      if (lines.length && Array.from(joined.trimEnd()).length <= letters) lines[lines.length - 1] = joined;
      else lines.push(piece);
    }
    const kept = lines.slice(0, MOST_LINES).map((line) => line.trim());
    if (lines.length > MOST_LINES) kept[MOST_LINES - 1] = kept[MOST_LINES - 1].slice(0, letters - 1) + "…";
    return kept.length ? kept : [""];
  }

  // The size of the boxes and steps with which the whole grid is largest in the panel, and the lines of each name.
  function fitted(names, grid, panel) {
    let best = null;
    const longest = Math.max(...names.flatMap((name) => name.split(BREAKS).map((word) => Array.from(word).length)), 0);
    for (const letters of LETTERS.filter((each) => each >= Math.min(longest, LONGEST_WORD))) {
      const lines = names.map((name) => wrapped(name, letters));
      const width = Math.max(52, ...lines.flat().map(measured)) + 18;
      const height = Math.max(...lines.map((each) => each.length), 1) * FONT.line + 13;
      const stepX = width + GAP.x[0];
      const scale = Math.min(
        LARGEST,
        panel.width / (grid.width * stepX + width + 2 * PAD),
        panel.height / (grid.height * (height + GAP.y[0]) + height + 2 * PAD),
      );
      const cut = lines.filter((each) => each.at(-1).endsWith("…")).length;
      const score = scale * (1 - cut / (2 * names.length || 1));
      if (best === null || score > 1.03 * best.score) best = { score, scale, lines, width, height, stepX };
    }
    const gap = ([least, most], size, steps, whole) => Math.min(most, Math.max(least, (whole / best.scale - 2 * PAD - size) / (steps || 1) - size));
    const stepX = best.width + gap(GAP.x, best.width, grid.width, panel.width);
    const stepY = best.height + gap(GAP.y, best.height, grid.height, panel.height);
    const needed = Math.ceil(best.scale * (grid.height * stepY + best.height + 2 * PAD)); // of the panel's height
    return { ...best, stepX, stepY, needed, font: FONT };
  }

  // Where each edge leaves and enters its boxes: side by side, sorted by direction, so that none hides another.
  function ports(edges, routes, width) {
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

  // How far to the right a line goes per pixel down, at each of its points: vertical at its ends and where it turns.
  function slopes(at) {
    const steps = at.slice(1).map(([x, y], i) => (x - at[i][0]) / (y - at[i][1] || 1));
    return at.map((_, i) => {
      const [before, after] = [steps[i - 1] ?? 0, steps[i] ?? 0];
      return before * after > 0 ? Math.sign(after) * Math.min(Math.abs(before), Math.abs(after), STEEPEST) : 0;
    });
  }

  // A smooth line through points in pixels, with its end and its middle.
  function line(points, port, box, arrow) {
    const at = points.map(([x, y]) => [x, y]);
    const last = at.length - 1;
    at[0] = [at[0][0] + port.from, at[0][1] + box.height / 2];
    at[last] = [at[last][0] + port.to, at[last][1] - box.height / 2 - (arrow ? HEAD : 0)];
    let path = `M${at[0][0].toFixed(1)} ${at[0][1].toFixed(1)}`;
    const slope = slopes(at);
    for (let i = 1; i < at.length; i++) {
      const half = (at[i][1] - at[i - 1][1]) / 2;
      const [out, into] = [slope[i - 1] * half, slope[i] * half];
      path += `C${[at[i - 1][0] + out, at[i - 1][1] + half, at[i][0] - into, at[i][1] - half, at[i][0], at[i][1]].map((v) => v.toFixed(1)).join(" ")}`;
    }
    const [i, j] = [Math.floor(last / 2), Math.ceil(last / 2)];
    const bulge = ((slope[i] - slope[j]) * 3 * (at[j][1] - at[i][1])) / 16; // of the curve between two points, at its middle
    return { path, end: at[last], middle: [(at[i][0] + at[j][0]) / 2 + bulge, (at[i][1] + at[j][1]) / 2] };
  }

  function rows(list, top) {
    const most = Math.max(5, Math.ceil(1.6 * Math.sqrt(list.length)));
    const inRow = Math.ceil(list.length / Math.ceil(list.length / most));
    return list.map((i, k) => {
      const row = Math.floor(k / inRow);
      const across = Math.min(inRow, list.length - inRow * row);
      return [i, [(k % inRow) - (across - 1) / 2 + (row % 2 ? 0.5 : 0), top + row]];
    });
  }
  const depth = (list) => (list.length ? Math.max(...rows(list, 1).map(([, [, y]]) => y)) : 0);

  // The way from a box to the centre, or back, through the gaps of the rows in between, which stand half a step apart.
  function between(source, target, middle) {
    const far = source[1] === middle ? target : source;
    const passed = Array.from({ length: target[1] - source[1] - 1 }, (_, k) => source[1] + 1 + k);
    return [source, ...passed.map((row) => [far[0] + ((far[1] - row) % 2 ? 0 : 0.5), row]), target];
  }

  // One variable with its causes above and its effects below, on the same kind of grid as a whole graph.
  function neighbourhood(edges, centre) {
    const into = [...edges.keys()].filter((k) => edges[k].target === centre);
    const from = [...edges.keys()].filter((k) => edges[k].source === centre);
    const causes = into.map((k) => edges[k].source);
    const places = new Map([
      ...rows(causes, 0),
      [centre, [0, depth(causes)]],
      ...rows(from.map((k) => edges[k].target), depth(causes) + 1),
    ]);
    const routes = new Map([...into, ...from].map((k) => [k, between(places.get(edges[k].source), places.get(edges[k].target), depth(causes))]));
    return { places, routes, into, from };
  }

  function whole(data) {
    const places = new Map(data.positions.map((place, i) => [i, place]));
    const routes = new Map(data.edges.map((edge, k) => [k, edge.route || [places.get(edge.source), places.get(edge.target)]]));
    return { places, routes };
  }

  return { PAD, fitted, ports, line, neighbourhood, whole };
})();
