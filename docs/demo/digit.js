// Draw a digit: the prediction, the states of the layers, U and V.

import { fetchBytes, fetchRun } from "./engine.js";
import { Pad } from "./pad.js";
import { drawMatrix, drawScale, element, figure, withTheme } from "./picture.js";
import { parse } from "./safetensors.js";

const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";
const subscript = (number) => [...String(number)].map((digit) => SUBSCRIPTS[digit]).join("");
const find = (id) => document.getElementById(id);

/** Loads the net and connects the section. */
export async function startDigit(engine, facts) {
  const [run, examples] = await Promise.all([fetchRun("digits"), fetchBytes("data/examples.safetensors").then(parse)]);
  const net = await engine.call("loadDigit", run);
  find("digit-parameters").textContent = net.parameters.toLocaleString("en");
  const bars = net.classes.map((name) => {
    const fill = element("i"), share = element("span");
    const row = element("li", {}, element("span", {}, name), element("span", { class: "bar" }, fill), share);
    find("digit-bars").append(row);
    return { row, fill, share };
  });
  const layers = layerFigures(net.maps);
  for (const scale of ["states", "maps"]) withTheme(() => drawScale(document.querySelector(`i.scale.${scale}`), scale));

  const shown = { input: new Float32Array(784), values: new Float32Array(net.classes.length), states: [] };
  function draw() {
    drawMatrix(find("digit-input"), { rows: 28, cols: 28, values: shown.input }, "ink");
    const best = shown.values.indexOf(Math.max(...shown.values));
    const empty = !shown.input.some((value) => value > 0);
    find("digit-class").textContent = empty ? "–" : net.classes[best];
    bars.forEach(({ row, fill, share }, at) => {
      row.classList.toggle("best", at === best && !empty);
      fill.style.width = `${100 * shown.values[at]}%`;
      share.textContent = `${(100 * shown.values[at]).toFixed(1)} %`;
    });
    shown.states.forEach((state, at) => {
      drawMatrix(layers[at].canvas, state, "states");
      layers[at].canvas.setAttribute("aria-label", `State of layer ${at + 1}, ${state.rows}×${state.cols}, largest entry ${Math.max(...state.values).toFixed(2)}`);
    });
  }

  // One prediction at a time; what was drawn meanwhile is the next.
  let busy = false, waiting = null;
  async function predict(input) {
    if (busy) return void (waiting = input);
    busy = true;
    try {
      const { values, states, milliseconds } = await engine.call("digit", input);
      Object.assign(shown, { input, values, states });
      draw();
      find("digit-time").textContent = `Computed in ${milliseconds.toFixed(1)} ms.`;
    } finally {
      busy = false;
    }
    if (waiting) [input, waiting] = [waiting, null], await predict(input);
  }
  const pad = new Pad(find("pad"), () => predict(pad.digit()));
  find("pad-clear").addEventListener("click", () => pad.clear());

  const { x, y } = examples;
  const samples = Array.from(y.values, (label, at) => ({ label, values: Float32Array.from(x.values.subarray(784 * at, 784 * (at + 1)), (byte) => byte / 255) }));
  const take = ({ values }) => {
    pad.set(values);
    return predict(values);
  };
  for (const sample of samples) {
    const canvas = element("canvas");
    drawMatrix(canvas, { rows: 28, cols: 28, values: sample.values }, "ink");
    const button = element("button", { type: "button", "aria-label": `A handwritten ${sample.label}` }, canvas);
    button.addEventListener("click", () => take(sample));
    find("examples").append(button);
  }
  withTheme(draw);
  await take(samples[3]);
  facts.digit = shown;
  facts.drawn = () => shown.input;
  return { samples, shown };
}

/** A card for every layer: U, V and its state. */
function layerFigures(maps) {
  const of = (layer, part) => maps.find(({ name }) => name === `layer.${layer}.${part}`);
  const layers = [];
  for (let at = 0; of(at, "row_map"); at++) {
    const [u, v] = [of(at, "row_map"), of(at, "col_map")];
    const number = subscript(at + 1), before = at ? `H${subscript(at)}` : "X";
    const pictures = [[`U${number}, ${u.rows}×${u.cols}`, u], [`V${number}, ${v.rows}×${v.cols}`, v]].map(([caption, map]) => {
      const made = figure(caption);
      made.canvas.setAttribute("aria-label", `${caption}: weights from ${Math.min(...map.values).toFixed(2)} to ${Math.max(...map.values).toFixed(2)}`);
      withTheme(() => drawMatrix(made.canvas, map, "maps"));
      return made.figure;
    });
    const state = figure(`H${number}, ${u.cols}×${v.cols}`);
    const card = element("div", { class: "layer" }, element("p", {}, `H${number} = σ(U${number}ᵀ ${before} V${number} + B${number})`), element("div", {}, ...pictures, state.figure));
    find("digit-layers").append(card);
    layers.push(state);
  }
  return layers;
}
