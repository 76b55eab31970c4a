// Matrices as pictures.

const dark = matchMedia("(prefers-color-scheme: dark)");
const redraws = new Set();
dark.addEventListener("change", () => { for (const redraw of redraws) redraw(); });

/** Calls a function now, and again when the page turns dark or light. */
export function withTheme(draw) {
  redraws.add(draw);
  draw();
}

const mix = (a, b, share) => a.map((value, at) => value + (b[at] - value) * share);
const WHITE = [255, 255, 255], BLACK = [13, 17, 23];

/** From a value between 0 and 1 to red, green and blue. */
const SCALES = {
  ink: (value) => [value * 255, value * 255, value * 255],
  states: (value) => (dark.matches ? mix(BLACK, [121, 192, 255], value) : mix(WHITE, [9, 60, 140], value)),
};

/** From a value between −1 and 1. */
function diverging(value) {
  const middle = dark.matches ? BLACK : WHITE;
  const end = value < 0 ? (dark.matches ? [240, 160, 75] : [160, 75, 0]) : (dark.matches ? [121, 192, 255] : [9, 80, 174]);
  return mix(middle, end, Math.abs(value));
}

/**
 * Draws a matrix, a pixel per entry. `scale` is `ink` (0 to 1), `states` (the largest entry is darkest) or `maps` (0 in the middle).
 * States with negative entries are drawn like maps.
 */
export function drawMatrix(canvas, { rows, cols, values }, scale) {
  if (canvas.width !== cols || canvas.height !== rows) Object.assign(canvas, { width: cols, height: rows });
  let low = 0, most = 1e-12;
  for (const value of values) {
    low = Math.min(low, value);
    most = Math.max(most, Math.abs(value));
  }
  const signed = scale === "maps" || (scale === "states" && low < 0);
  const limit = scale === "ink" ? 1 : most;
  const context = canvas.getContext("2d");
  const image = context.createImageData(cols, rows);
  for (let at = 0; at < values.length; at++) {
    const value = Math.max(-1, Math.min(1, values[at] / limit));
    const colour = signed ? diverging(value) : SCALES[scale](Math.max(0, value));
    image.data.set([...colour, 255], 4 * at);
  }
  context.putImageData(image, 0, 0);
}

/** The legend of a scale. */
export function drawScale(element, scale) {
  const stops = scale === "maps" ? [-1, -0.5, 0, 0.5, 1].map(diverging) : [0, 0.5, 1].map(SCALES.states);
  element.style.background = `linear-gradient(to right, ${stops.map((colour) => `rgb(${colour.map(Math.round)})`)})`;
}

/** A figure with a picture and a caption. */
export function figure(caption, className = "matrix") {
  const made = document.createElement("figure");
  made.className = className;
  const canvas = document.createElement("canvas");
  canvas.className = "pixels";
  canvas.setAttribute("role", "img");
  const text = document.createElement("figcaption");
  text.textContent = caption;
  made.append(canvas, text);
  return { figure: made, canvas, text };
}

/** An element with attributes and children. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** The same for SVG. */
export function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
