"use strict";

// Zoom and pan of an SVG: by wheel, one pointer, two pointers (pinch) and keys. `layer` is the group that moves;
// `grab(event)` says what a pointer took hold of: an object with move(dx, dy), in the layer's units, or null.
function SartreCamera(svg, layer, grab) {
  const CLICK = 4; // pixels that a pointer may move in a click
  const pointers = new Map();
  let at = { x: 0, y: 0, k: 1 };
  let home = at;
  let held = null;
  let travelled = 0;
  let dragged = false;

  function apply(next) {
    at = next;
    layer.setAttribute("transform", `translate(${at.x.toFixed(2)} ${at.y.toFixed(2)}) scale(${at.k.toFixed(4)})`);
    svg.classList.toggle("zoomed", at.k > 1.01 * home.k); // until then, a finger may scroll the page
  }

  const pan = (dx, dy) => apply({ ...at, x: at.x + dx, y: at.y + dy });

  function zoom(factor, x = svg.clientWidth / 2, y = svg.clientHeight / 2) {
    const k = Math.min(Math.max(4, home.k), Math.max(Math.min(0.15, home.k), at.k * factor));
    apply({ k, x: x - ((x - at.x) * k) / at.k, y: y - ((y - at.y) * k) / at.k });
  }

  // Show a box of the layer as a whole, in the middle.
  function fit(box, largest) {
    const { clientWidth: width, clientHeight: height } = svg;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`); // pixels on the screen; on paper, it scales with the page
    const k = Math.min(largest, width / box.width, height / box.height);
    home = { k, x: (width - k * box.width) / 2 - k * box.x, y: (height - k * box.height) / 2 - k * box.y };
    apply(home);
  }

  const place = (event) => {
    const frame = svg.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  };

  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1);
    zoom(Math.exp(-pixels * (event.ctrlKey ? 0.01 : 0.0016)), ...place(event));
  }, { passive: false });

  svg.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    if (!pointers.size) { travelled = 0; dragged = false; held = grab(event); }
    else held = null; // two fingers zoom
    pointers.set(event.pointerId, place(event));
  });

  svg.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    if (event.pointerType === "mouse" && !event.buttons) { release(event); return; } // it was released elsewhere
    const now = place(event);
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    travelled += Math.hypot(dx, dy);
    if (travelled <= CLICK) return;
    if (!dragged && event.isTrusted) svg.setPointerCapture(event.pointerId); // not before: a captured click would miss its node
    dragged = true;
    pointers.set(event.pointerId, now);
    if (pointers.size === 1) {
      if (held) held.move(dx / at.k, dy / at.k);
      else pan(dx, dy);
      return;
    }
    const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
    const [x, y] = [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2];
    const spread = (point) => Math.max(1, Math.hypot(point[0] - other[0], point[1] - other[1]));
    pan(dx / 2, dy / 2);
    zoom(spread(now) / spread(before), x, y);
  });

  const release = (event) => {
    pointers.delete(event.pointerId);
    if (!pointers.size) held = null;
  };
  svg.addEventListener("pointerup", release);
  svg.addEventListener("pointercancel", release);
  svg.addEventListener("click", (event) => {
    if (dragged && event.isTrusted) event.stopPropagation(); // the end of a drag is not a click
    dragged = false;
  }, true);

  const keys = {
    "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), 0: () => apply(home),
    ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0), ArrowUp: () => pan(0, 60), ArrowDown: () => pan(0, -60),
  };
  svg.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });

  return { zoom, pan, fit, scale: () => at.k };
}
