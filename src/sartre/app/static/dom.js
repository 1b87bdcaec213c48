// Elements and numbers. Text only ever becomes a text node: whatever a name holds, it is shown and never run.

function build(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "value") element.value = value;
    else if (key === "checked" || key === "disabled" || key === "hidden" || key === "open") element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const html = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) =>
  build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
export const byId = (id) => document.getElementById(id);

export function number(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e6) return value.toExponential(1).replace("e-", "e−").replace(/^-/, "−");
  return String(Number(value.toPrecision(4))).replace("-", "−");
}

export const count = (value) => value.toLocaleString("en");
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
export const share = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));
export const percent = (value) => (value === null || value === undefined ? "–" : `${Math.round(100 * value)} %`);

export function seconds(value) {
  if (value < 60) return `${value < 10 ? value.toFixed(1) : Math.round(value)} s`;
  return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

// Say something to everyone: in a corner of the page, and to a screen reader.
let hiding = null;
export function tell(text, ...actions) {
  clearTimeout(hiding);
  byId("toast").replaceChildren(html("span", {}, text), ...actions);
  byId("toast").hidden = false;
  hiding = setTimeout(() => { byId("toast").hidden = true; }, 9000);
}

// A list with one choice, for a select.
export function options(select, choices, chosen) {
  select.replaceChildren(...choices.map(([value, label]) => html("option", { value }, label)));
  if (chosen !== undefined && chosen !== null) select.value = String(chosen);
  return select;
}

export function debounced(work, pause) {
  let waiting = null;
  return (...given) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => work(...given), pause);
  };
}
