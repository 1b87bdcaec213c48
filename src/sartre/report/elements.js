"use strict";

// What every script of the page shares: elements whose text is never markup, and numbers as text.
const SartreElements = (() => {
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
  const share = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));
  const percent = (value) => (value === null || value === undefined ? "–" : `${Math.round(100 * value)} %`);
  const count = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
  const short = (name, most) => {
    const letters = Array.from(name);
    return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : name;
  };
  // An edge without a word about its direction, such as one of a graph that was given, is drawn as an arrow.
  const settled = (edge) => [undefined, null, "decided", "known"].includes(edge.direction);

  function download(name, content) {
    const link = html("a", { href: URL.createObjectURL(content), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  return { build, html, svg, number, share, percent, count, short, settled, download };
})();
