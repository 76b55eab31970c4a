// Attention on Cora: a map of all papers, and which neighbours each head of the chosen paper attends to.

import { fetchBytes, fetchRun } from "./engine.js";
import { element, svg, withTheme } from "./picture.js";
import { parse } from "./safetensors.js";

const find = (id) => document.getElementById(id);
/** Okabe and Ito's colours, which people with any colour vision can tell apart. */
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8a8f98"];
/** So many neighbours are drawn around a paper, and listed. */
const DRAWN = 36, LISTED = 12;
const words = (name) => name.replaceAll("_", " ").toLowerCase();
const percent = (value) => `${(100 * value).toFixed(value < 0.0995 ? 1 : 0)} %`;

/** Loads the net and connects the section. */
export async function startGraph(engine, facts) {
  const [run, bytes] = await Promise.all([fetchRun("cora"), fetchBytes("data/cora.safetensors")]);
  const graph = parse(bytes);
  const net = await engine.call("loadGraph", { ...run, graph: bytes });
  find("graph-parameters").textContent = net.parameters.toLocaleString("en");
  const names = [...graph.ids.values];
  const count = names.length, classes = net.classes.length;
  const predictions = Array.from({ length: count }, (_, node) => {
    const row = net.probabilities.subarray(node * classes, (node + 1) * classes);
    const best = row.indexOf(Math.max(...row));
    return { best, probability: row[best] };
  });
  const labels = graph.labels.values;
  facts.graph = { ...net, names };
  find("graph-legend").append(...net.classes.map((name, at) => element("li", {}, element("i", { style: `background: ${COLOURS[at]}` }), ` ${words(name)}`)));
  const list = find("graph-paper");
  list.append(...names.map((name, node) => element("option", { value: node }, name)));

  const map = new PaperMap(find("graph-map"), graph, predictions, (node) => choose(node));
  let layer = 0, chosen = null;
  const buttons = Array.from({ length: net.depth }, (_, at) => {
    const button = element("button", { type: "button", class: "choice", "aria-pressed": at === 0 }, `Layer ${at + 1}`);
    button.addEventListener("click", () => {
      layer = at;
      buttons.forEach((other, place) => other.setAttribute("aria-pressed", place === at));
      show();
    });
    return button;
  });
  find("graph-layers").append(...buttons);

  async function choose(node) {
    const { neighbors, layers } = await engine.call("attention", node);
    chosen = { node, neighbors: [...neighbors], layers };
    facts.attention = chosen;
    list.value = node;
    map.select(node, chosen.neighbors);
    show();
  }

  function show() {
    const { node, neighbors, layers } = chosen, { best, probability } = predictions[node];
    const truth = labels[node] === best ? "which is right" : `but it is ${words(net.classes[labels[node]])}`;
    find("graph-prediction").textContent = `Paper ${names[node]}: ${words(net.classes[best])}, ${percent(probability)}, ${truth}. ${neighbors.length} ${neighbors.length === 1 ? "neighbour" : "neighbours"}.`;
    const weight = (head, at) => layers[layer][head * neighbors.length + at];
    const heads = Array.from({ length: net.heads }, (_, head) => head);
    const mean = (at) => heads.reduce((sum, head) => sum + weight(head, at), 0) / net.heads;
    const order = neighbors.map((_, at) => at).sort((a, b) => mean(b) - mean(a));
    const drawn = order.slice(0, DRAWN).sort((a, b) => a - b);
    find("graph-heads").replaceChildren(...heads.map((head) => star(head, drawn.map((at) => ({
      colour: COLOURS[predictions[neighbors[at]].best], weight: weight(head, at), name: names[neighbors[at]],
    })), COLOURS[best])));
    const header = element("tr", {}, element("th", { scope: "col" }, "neighbour"), element("th", { scope: "col" }, "field"), ...heads.map((head) => element("th", { scope: "col", class: "number", "aria-label": `head ${head + 1}` }, element("span", { class: "word" }, "head "), `${head + 1}`)));
    const rows = order.slice(0, LISTED).map((at) => {
      const neighbor = neighbors[at];
      const button = element("button", { type: "button", "aria-label": `Go to paper ${names[neighbor]}` }, `${names[neighbor]}`);
      button.addEventListener("click", () => choose(neighbor));
      const cells = heads.map((head) => {
        const value = weight(head, at);
        return element("td", { class: "number", style: `background: color-mix(in srgb, var(--matrix) ${Math.round(55 * value)}%, transparent)` }, percent(value));
      });
      const field = words(net.classes[predictions[neighbor].best]);
      const dot = element("i", { class: "dot", role: "img", "aria-label": field, title: field, style: `background: ${COLOURS[predictions[neighbor].best]}` });
      return element("tr", {}, element("th", { scope: "row" }, button), element("td", {}, dot, element("span", { class: "word" }, ` ${field}`)), ...cells);
    });
    const rest = neighbors.length - rows.length;
    const caption = `Attention weights of the heads in layer ${layer + 1}; each head's add up to 100 %${rest > 0 ? `; the ${rest} weakest neighbours are left out` : ""}.`;
    find("graph-table").replaceChildren(element("caption", {}, caption), element("thead", {}, header), element("tbody", {}, ...rows));
  }

  list.addEventListener("change", () => choose(Number(list.value)));
  find("graph-random").addEventListener("click", () => {
    // One with company, or there is nothing to choose from.
    let node;
    do node = Math.floor(Math.random() * count); while (map.degree(node) < 4);
    choose(node);
  });
  // A paper with many neighbours in several fields.
  const start = graph.start.values[0];
  await choose(start);
}

/** A paper in the middle, its neighbours around it; wide lines have much weight. */
function star(head, neighbors, colour) {
  const picture = svg("svg", { viewBox: "-60 -60 120 120", role: "img" });
  const strongest = [...neighbors].sort((a, b) => b.weight - a.weight)[0];
  picture.setAttribute("aria-label", `Head ${head + 1}` + (strongest ? ` gives most weight, ${percent(strongest.weight)}, to paper ${strongest.name}` : ""));
  const most = Math.max(...neighbors.map(({ weight }) => weight), 1e-9);
  const places = neighbors.map((_, at) => {
    const angle = (2 * Math.PI * at) / neighbors.length - Math.PI / 2;
    return [50 * Math.cos(angle), 50 * Math.sin(angle)];
  });
  neighbors.forEach(({ weight, colour }, at) => picture.append(svg("line", {
    x1: 0, y1: 0, x2: places[at][0], y2: places[at][1], stroke: colour, "stroke-width": 0.3 + (6 * weight) / most, "stroke-opacity": 0.25 + (0.75 * weight) / most,
  })));
  neighbors.forEach(({ weight, colour, name }, at) => {
    const title = svg("title");
    title.textContent = `${name}: ${percent(weight)}`;
    picture.append(svg("circle", { cx: places[at][0], cy: places[at][1], r: 3 + (3 * weight) / most, fill: colour }, title));
  });
  picture.append(svg("circle", { cx: 0, cy: 0, r: 7, fill: colour, stroke: "currentColor", "stroke-width": 1.5 }));
  return element("figure", {}, picture, element("figcaption", {}, `head ${head + 1}`));
}

/** All papers as dots. */
class PaperMap {
  #canvas;
  #places;
  #neighbors;
  #predictions;
  #chosen = null;

  constructor(canvas, graph, predictions, onchoose) {
    this.#canvas = canvas;
    this.#predictions = predictions;
    const { values } = graph.places;
    this.#places = predictions.map((_, node) => ({ x: values[2 * node] / 65535, y: values[2 * node + 1] / 65535 }));
    this.#neighbors = predictions.map(() => new Set());
    const edges = graph.edges.values;
    for (let at = 0; at < edges.length; at += 2) {
      this.#neighbors[edges[at]].add(edges[at + 1]);
      this.#neighbors[edges[at + 1]].add(edges[at]);
    }
    canvas.addEventListener("click", (event) => {
      const { left, top, width } = canvas.getBoundingClientRect();
      onchoose(this.#nearest((event.clientX - left) / width, (event.clientY - top) / width));
    });
    canvas.addEventListener("keydown", (event) => {
      const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!direction || this.#chosen === null) return;
      event.preventDefault();
      const next = this.#towards(direction);
      if (next >= 0) onchoose(next);
    });
    new ResizeObserver(() => this.#draw()).observe(canvas);
    withTheme(() => this.#draw());
  }

  degree(node) {
    return this.#neighbors[node].size;
  }

  select(node) {
    this.#chosen = node;
    this.#draw();
  }

  #nearest(x, y) {
    let best = 0, least = Infinity;
    this.#places.forEach((place, node) => {
      const distance = (place.x - x) ** 2 + (place.y - y) ** 2;
      if (distance < least) [best, least] = [node, distance];
    });
    return best;
  }

  /** The nearest paper within 45° of a direction. */
  #towards([right, down]) {
    const from = this.#places[this.#chosen];
    let best = -1, least = Infinity;
    this.#places.forEach(({ x, y }, node) => {
      const [across, along] = [x - from.x, y - from.y];
      const ahead = across * right + along * down, distance = Math.hypot(across, along);
      if (node !== this.#chosen && ahead > 0.7 * distance && distance > 0.004 && distance < least) [best, least] = [node, distance];
    });
    return best;
  }

  #draw() {
    const canvas = this.#canvas, side = Math.round(canvas.clientWidth * devicePixelRatio);
    if (!side) return;
    if (canvas.width !== side) Object.assign(canvas, { width: side, height: side });
    const context = canvas.getContext("2d"), style = getComputedStyle(canvas);
    const at = (node) => [this.#places[node].x * side, this.#places[node].y * side];
    const dot = (node, radius) => {
      context.beginPath();
      context.arc(...at(node), radius * devicePixelRatio, 0, 2 * Math.PI);
      context.fill();
    };
    context.clearRect(0, 0, side, side);
    const lines = (list, width, alpha) => {
      Object.assign(context, { strokeStyle: style.color, lineWidth: width * devicePixelRatio, globalAlpha: alpha });
      context.beginPath();
      for (const [from, to] of list) {
        context.moveTo(...at(from));
        context.lineTo(...at(to));
      }
      context.stroke();
    };
    lines(this.#neighbors.flatMap((others, node) => [...others].filter((other) => other > node).map((other) => [node, other])), 0.5, 0.1);
    context.globalAlpha = 0.85;
    this.#predictions.forEach(({ best }, node) => {
      context.fillStyle = COLOURS[best];
      dot(node, 1.9);
    });
    if (this.#chosen === null) return;
    const near = [...this.#neighbors[this.#chosen]];
    lines(near.map((other) => [this.#chosen, other]), 1.4, 0.8);
    context.globalAlpha = 1;
    for (const node of [...near, this.#chosen]) {
      context.fillStyle = style.color;
      dot(node, node === this.#chosen ? 8 : 5);
      context.fillStyle = COLOURS[this.#predictions[node].best];
      dot(node, node === this.#chosen ? 6 : 3.7);
    }
  }
}
