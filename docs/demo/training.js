// Train live: a matrix net and its vector twin, side by side.

import { Engine, fetchBytes } from "./engine.js";
import { drawChart } from "./chart.js";
import { element } from "./picture.js";
import { parse } from "./safetensors.js";

const find = (id) => document.getElementById(id);
const BATCH_SIZE = 32;

/** Connects the section; a worker is started with the first training. */
export function startTraining(compiled, facts, problem) {
  const form = find("train-form"), start = find("train-start"), stop = find("train-stop"), status = find("train-status");
  let engine = null, data = null, series = [], epochs = 30;

  function draw() {
    const lines = (key, factor) => series.map(({ name, scores }) => ({ name, className: name, points: scores.map((score) => [score.epoch, factor * score[key]]) }));
    drawChart(find("train-error"), lines("testError", 100), epochs, "Test error in percent");
    drawChart(find("train-loss"), lines("trainLoss", 1), epochs, "Training loss");
    find("train-table").tBodies[0].replaceChildren(...series.map(row));
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem("");
    start.disabled = true;
    stop.disabled = false;
    const chosen = Object.fromEntries(Array.from(new FormData(form), ([key, value]) => [key, Number(value)]));
    epochs = chosen.epochs;
    const model = { input: [8, 8], output: 10, depth: chosen.depth };
    const shared = { learning_rate: chosen.rate, batch_size: BATCH_SIZE, seed: chosen.seed };
    const configs = [
      { ...shared, model: { ...model, form: "matrix", hidden: [chosen.matrix, chosen.matrix] } },
      { ...shared, model: { ...model, form: "vector", hidden: [chosen.vector] } },
    ];
    series = configs.map(({ model: { form, hidden } }) => ({ name: form, hidden: hidden.join("×"), parameters: null, scores: [] }));
    draw();
    status.textContent = "Starting …";
    try {
      data ??= await load();
      engine ??= new Engine(compiled);
      await engine.ready;
      engine.onprogress = ({ parameters, net, ...score }) => {
        if (parameters) parameters.forEach((count, at) => { series[at].parameters = count; });
        else series[net].scores.push(score);
        const done = Math.min(...series.map(({ scores }) => scores.length));
        status.textContent = `Training: ${done} of ${epochs} epochs.`;
        facts.training = { series, epochs, data };
        draw();
      };
      const { stopped } = await engine.call("train", { configs, ...data, epochs });
      const done = Math.min(...series.map(({ scores }) => scores.length));
      status.textContent = stopped ? `Stopped after ${done} of ${epochs} epochs.` : `Done: ${epochs} epochs.`;
    } catch (error) {
      status.textContent = "Not finished.";
      problem(error.message);
    }
    start.disabled = false;
    stop.disabled = true;
  });
  stop.addEventListener("click", () => {
    stop.disabled = true;
    status.textContent = "Stopping …";
    engine?.call("stop");
  });
  series = ["matrix", "vector"].map((name) => ({ name, hidden: "–", parameters: null, scores: [] }));
  draw();
}

/** The 8×8 digits: those for training first, then those for the test. */
async function load() {
  const { x, y, train } = parse(await fetchBytes("data/optdigits.safetensors"));
  return { inputs: Float32Array.from(x.values, (value) => value / 16), labels: y.values, train: train.values[0] };
}

function row({ name, hidden, parameters, scores }) {
  const last = scores.at(-1), number = (text) => element("td", { class: "number" }, text);
  const mean = scores.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / scores.length;
  return element(
    "tr", {}, element("th", { scope: "row" }, name), element("td", {}, hidden), number(parameters?.toLocaleString("en") ?? "–"),
    number(`${last?.epoch ?? "–"}`), number(last?.trainLoss.toFixed(4) ?? "–"), number(last ? (100 * last.testError).toFixed(2) : "–"),
    number(last ? mean.toFixed(0) : "–"),
  );
}
