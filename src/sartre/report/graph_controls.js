"use strict";

// What stands around a drawing: search, the slider for weak edges, zoom and download above it, the legend below it.
const SartreControls = (() => {
  const { html, svg, number, count, short } = SartreElements;
  const MATCHES = 24;
  let made = 0; // several graphs may stand on one page, and labels need ids

  // `act` says what the controls do: zoom(factor), fit(), svg(), png(), hideBelow(strength), search(text), choose(i).
  function bar(act) {
    made += 1;
    const find = html("input", { class: "find", id: `find-${made}`, type: "search", autocomplete: "off", spellcheck: "false", placeholder: "Find a variable" });
    const matches = html("ul", { class: "matches", "aria-label": "Variables found" });
    const slider = html("input", { class: "weak", id: `weak-${made}`, type: "range", min: 0, max: 0, step: 1, value: 0 });
    const said = html("output", { class: "shown", for: slider.id });
    const button = (name, sign, does) => {
      const made = html("button", { type: "button", class: name.split(" ")[0].toLowerCase(), title: name, "aria-label": name }, sign);
      made.addEventListener("click", does);
      return made;
    };
    const element = html(
      "div", { class: "bar" },
      html("label", { class: "unseen", for: find.id }, "Find a variable"), find,
      html("span", { class: "weakness" }, html("label", { for: slider.id }, "Hide weak edges"), slider, said),
      html("span", { class: "buttons", role: "group", "aria-label": "Zoom" },
        button("Out (key -)", "−", () => act.zoom(0.8)), button("In (key +)", "+", () => act.zoom(1.25)), button("Fit the whole graph (key 0)", "Fit", act.fit)),
      html("span", { class: "buttons", role: "group", "aria-label": "Download" },
        button("SVG: download the drawing", "SVG", act.svg), button("PNG: download a picture", "PNG", act.png)),
      matches,
    );
    let strengths = [];
    find.addEventListener("input", () => act.search(find.value));
    find.addEventListener("keydown", (event) => {
      if (event.key === "Enter") matches.querySelector("button")?.click();
      if (event.key === "Escape") { find.value = ""; act.search(""); }
    });
    slider.addEventListener("input", () => act.hideBelow(Number(slider.value) ? strengths[slider.value] : 0));

    // The slider steps through the edges, weakest first: a number of strengths would bunch at one end.
    function setEdges(edges) {
      strengths = edges.map((edge) => edge.strength).filter((value) => Number.isFinite(value)).sort((a, b) => a - b);
      slider.max = Math.max(0, strengths.length - 1);
      element.querySelector(".weakness").hidden = strengths.length < 2;
    }
    function setThreshold(threshold, shown, all) {
      const hidden = strengths.filter((value) => value < threshold).length;
      slider.value = hidden;
      said.textContent = threshold > 0 ? `${shown} of ${all}: strength from ${number(threshold)}` : `all ${all} shown`;
      slider.setAttribute("aria-valuetext", said.textContent);
    }
    function setMatches(wanted, found, names) {
      matches.replaceChildren(
        ...found.slice(0, MATCHES).map((i) => {
          const choice = html("button", { type: "button", title: names[i] }, short(names[i], 40));
          choice.addEventListener("click", () => act.choose(i));
          return html("li", {}, choice);
        }),
        ...(found.length > MATCHES ? [html("li", { class: "note" }, `and ${found.length - MATCHES} more`)] : []),
        ...(wanted && !found.length ? [html("li", { class: "note" }, "No variable has this in its name.")] : []),
      );
    }
    return { element, setEdges, setThreshold, setMatches };
  }

  const CHANGES = { came: "new", went: "gone", turned: "turned around" };

  // Only what occurs in the drawing is explained.
  function legend(edges, { toward, away }) {
    const line = (kind, ...more) => svg("svg", { viewBox: "0 0 34 14", width: 34, height: 14, "aria-hidden": "true", class: "swatch" },
      svg("path", { class: `line ${kind}`, d: "M1 7H25", "stroke-width": 2.4 }), ...more);
    const arrow = (kind, ...more) => line(kind, svg("path", { class: `arrow ${kind}`, d: "M24 2v10l9-5z" }), ...more);
    const some = (test) => edges.some(test);
    const strengths = some((edge) => Number.isFinite(edge.strength));
    const entries = [
      [some(SartreElements.settled), arrow(""), "cause → effect"],
      [some((edge) => !SartreElements.settled(edge)), line("open"), "the data do not decide the direction"],
      [strengths && edges.length > 1, svg("svg", { viewBox: "0 0 34 14", width: 34, height: 14, "aria-hidden": "true", class: "swatch" },
        svg("path", { class: "wedge", d: "M1 6.5L33 3v8L1 7.5z" })), "thicker: stronger"],
      [some((edge) => edge.hidden), line("", ...SartreControls.hiddenMark(13, 7)), "possibly a hidden common cause"],
      [some((edge) => edge.joint), arrow("", SartreControls.jointMark(16, 7)), "acts jointly with other causes"],
      [some((edge) => Number.isFinite(edge.frequency)), svg("svg", { viewBox: "0 0 34 14", width: 34, height: 14, "aria-hidden": "true", class: "swatch" },
        svg("path", { class: "line", d: "M1 7H16", "stroke-width": 3 }), svg("path", { class: "line", opacity: 0.3, d: "M18 7H33", "stroke-width": 3 })), "paler: found on fewer half-samples"],
      ...Object.entries(CHANGES).map(([change, text]) => [some((edge) => edge.change === change), arrow(change), text]),
      [toward, arrow("toward"), "causes and their causes"],
      [away, arrow("away"), "effects and their effects"],
    ];
    return entries.filter(([occurs]) => occurs).map(([, swatch, text]) => html("li", {}, swatch, text));
  }

  const hiddenMark = (x, y) => [
    svg("circle", { class: "hidden-cause", cx: x, cy: y, r: 6.5 }),
    svg("text", { class: "hidden-sign", x, y: y + 0.5 }, "?"),
  ];
  const jointMark = (x, y) => svg("path", { class: "joint", d: `M${x} ${y - 5}l5 5l-5 5l-5 -5z` });

  return { bar, legend, hiddenMark, jointMark, count };
})();
