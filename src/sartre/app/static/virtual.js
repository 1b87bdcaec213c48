// A long list of which only the rows in sight exist.

import { html } from "./dom.js";

const BEYOND = 6; // rows above and below those in sight

export function virtualList(container, render) {
  const inner = html("div", { class: "virtual-inner", role: "rowgroup" });
  const rows = new Map();
  let length = 0;
  container.replaceChildren(inner);

  const height = () => parseFloat(getComputedStyle(container).getPropertyValue("--row")) || 48;

  function draw() {
    const each = height();
    const first = Math.max(0, Math.floor(container.scrollTop / each) - BEYOND);
    const last = Math.min(length, Math.ceil((container.scrollTop + container.clientHeight) / each) + BEYOND);
    for (const [k, row] of rows) {
      if ((k < first || k >= last) && !row.contains(document.activeElement)) {
        row.remove();
        rows.delete(k);
      }
    }
    for (let k = first; k < last; k += 1) {
      if (rows.has(k)) continue;
      const row = render(k);
      row.classList.add("virtual-row");
      row.setAttribute("aria-rowindex", k + 2);
      row.style.top = `${k * each}px`;
      rows.set(k, row);
      const next = [...rows.keys()].filter((other) => other > k).sort((a, b) => a - b)[0];
      inner.insertBefore(row, next === undefined ? null : rows.get(next));
    }
  }

  function update(n) {
    length = n;
    rows.clear();
    inner.replaceChildren();
    inner.style.height = `${n * height()}px`;
    container.setAttribute("aria-rowcount", n + 1);
    draw();
  }

  // Draw the rows in sight again, after what they show has changed; the focus stays on the same control.
  function again() {
    const active = container.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    rows.clear();
    inner.replaceChildren();
    draw();
    if (active) [...inner.querySelectorAll("[aria-label]")].find((element) => element.getAttribute("aria-label") === active)?.focus();
  }

  container.addEventListener("scroll", draw, { passive: true });
  const observer = new ResizeObserver(() => {
    if (container.isConnected) update(length);
    else observer.disconnect();
  });
  observer.observe(container);
  return { update, again };
}
