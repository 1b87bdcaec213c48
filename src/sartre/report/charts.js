"use strict";

// The drawn functions of the panel: one cause's effect as a curve, and two causes' joint effect as a heat map.
const SartreCharts = (() => {
  const { html, svg, number, short } = SartreElements;

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
      svg("text", { class: "label", x: (view.left + view.right) / 2, y: 256, "text-anchor": "middle" }, svg("title", {}, labels[0]), short(labels[0], 44)),
      svg("text", { class: "label", transform: "translate(13 117) rotate(-90)", "text-anchor": "middle" }, svg("title", {}, labels[1]), short(labels[1], 32)),
    ];
    return { px, py, view, parts };
  }

  // An edge's function: the fitted effect with its band, and the samples.
  function chart(data, edge) {
    const { names } = data;
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

  function heatMap(data, pair) {
    const { names } = data;
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

  return { chart, heatMap, ticks };
})();
