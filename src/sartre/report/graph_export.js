"use strict";

// A drawing as a file: the colours that are seen are written into it, so that it needs neither the page nor its style.
const SartreExport = (() => {
  const MARGIN = 12;
  const SHARPNESS = 2; // pixels of the picture per pixel of the drawing
  const WIDEST = 8000; // pixels
  const KEPT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "font-family", "font-size",
    "font-weight", "text-anchor", "dominant-baseline"];

  // The elements that are seen, each with its computed style; what is hidden, or only there to be clicked, is left out.
  const seen = (element) => !element.matches(".hit, title") && getComputedStyle(element).display !== "none";

  function copied(element) {
    if (element.nodeType === Node.TEXT_NODE) return element.cloneNode();
    const copy = document.createElementNS("http://www.w3.org/2000/svg", element.localName);
    for (const name of ["d", "x", "y", "dy", "width", "height", "rx", "cx", "cy", "r", "transform"]) {
      if (element.hasAttribute(name)) copy.setAttribute(name, element.getAttribute(name));
    }
    const style = getComputedStyle(element);
    for (const name of KEPT) copy.setAttribute(name, style.getPropertyValue(name));
    if (element.matches(".node, .edge")) copy.append(element.querySelector("title").cloneNode(true));
    copy.append(...[...element.childNodes].filter((child) => child.nodeType === Node.TEXT_NODE || seen(child)).map(copied));
    return copy;
  }

  const frame = (box) => ({
    x: box.x - MARGIN, y: box.y - MARGIN, width: Math.ceil(box.width + 2 * MARGIN), height: Math.ceil(box.height + 2 * MARGIN),
  });

  // The layer of a drawing, without zoom, as the text of an SVG file.
  function svgText(layer, box, background) {
    const { x, y, width, height } = frame(box);
    const root = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    for (const [name, value] of Object.entries({ viewBox: `${x} ${y} ${width} ${height}`, width, height })) root.setAttribute(name, value);
    const sheet = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    for (const [name, value] of Object.entries({ x, y, width, height, fill: background })) sheet.setAttribute(name, value);
    const drawing = copied(layer);
    drawing.removeAttribute("transform");
    root.append(sheet, drawing);
    return new XMLSerializer().serializeToString(root);
  }

  function paint(pen, element) {
    if (!seen(element)) return;
    const style = getComputedStyle(element);
    const value = (name) => Number(element.getAttribute(name) || 0);
    pen.save();
    if (element.transform.baseVal.numberOfItems) {
      const { a, b, c, d, e, f } = element.transform.baseVal.getItem(0).matrix;
      pen.transform(a, b, c, d, e, f);
    }
    pen.globalAlpha *= Number(style.opacity);
    if (element.localName === "g") [...element.children].forEach((child) => paint(pen, child));
    else if (element.localName === "text") paintText(pen, element, style);
    else {
      const shape = new Path2D(element.localName === "path" ? element.getAttribute("d") : "");
      if (element.localName === "rect") shape.roundRect(value("x"), value("y"), value("width"), value("height"), value("rx"));
      if (element.localName === "circle") shape.arc(value("cx"), value("cy"), value("r"), 0, 2 * Math.PI);
      if (style.fill !== "none") { pen.fillStyle = style.fill; pen.fill(shape); }
      if (style.stroke !== "none") {
        pen.strokeStyle = style.stroke;
        pen.lineWidth = Number.parseFloat(style.strokeWidth);
        pen.lineCap = style.strokeLinecap;
        pen.setLineDash(style.strokeDasharray === "none" ? [] : style.strokeDasharray.split(/[ ,]+/).map(Number.parseFloat));
        pen.stroke(shape);
      }
    }
    pen.restore();
  }

  function paintText(pen, element, style) {
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    pen.fillStyle = style.fill;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const line of element.children.length ? element.children : [element]) {
      pen.fillText(line.textContent, Number(line.getAttribute("x")), Number(line.getAttribute("y")));
    }
  }

  // The same as a picture. It is painted here, and not by loading the SVG, which the page's content policy forbids.
  function png(layer, box, background) {
    const { x, y, width, height } = frame(box);
    const scale = Math.min(SHARPNESS, WIDEST / Math.max(width, height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(scale * width);
    canvas.height = Math.round(scale * height);
    const pen = canvas.getContext("2d");
    pen.fillStyle = background;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.scale(scale, scale);
    pen.translate(-x, -y);
    [...layer.children].forEach((child) => paint(pen, child));
    return new Promise((resolve, reject) => {
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("This drawing is too large for a picture."))), "image/png");
    });
  }

  return { svgText, png };
})();
