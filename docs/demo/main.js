// Starts the demos one after the other: the first prediction must not wait for the others' data.

import { startDigit } from "./digit.js";
import { Engine, compile } from "./engine.js";
import { startGraph } from "./graph.js";
import { startMoving } from "./moving.js";
import { startTraining } from "./training.js";

/** What the page knows, for the curious with a console, and for the tests. */
const facts = (globalThis.matnet = {});

/** Shows what went wrong, in a section or at the top; an empty text hides it. */
function problem(text, section) {
  const place = (section && document.querySelector(`#${section} .problem`)) || document.getElementById("problem");
  place.textContent = text;
  place.hidden = !text;
}

/** Starts a section; if it fails, the others go on. */
async function section(name, start) {
  try {
    return await start();
  } catch (error) {
    problem(`This demo cannot run. ${error.message}`, name);
    return null;
  }
}

async function start() {
  const status = document.getElementById("status");
  const compiled = await compile();
  const engine = new Engine(compiled);
  facts.simd = await engine.ready;
  const digit = await section("digit", () => startDigit(engine, facts));
  if (digit) {
    performance.mark("first prediction");
    facts.firstPrediction = performance.now();
    status.textContent = `Ready: first prediction ${(facts.firstPrediction / 1000).toFixed(2)} s after the page was opened.`;
  } else status.textContent = "";
  const nothing = { samples: [], shown: { input: new Float32Array(784) } };
  await section("moving", () => startMoving(engine, facts, digit ?? nothing));
  await section("graph", () => startGraph(engine, facts));
  await section("train", () => startTraining(compiled, facts, (text) => problem(text, "train")));
  const size = compiled.bytes ? `, ${(compiled.bytes / 1e6).toFixed(1)} MB before compression` : "";
  document.getElementById("facts").textContent =
    `WebAssembly ${facts.simd ? "with" : "without"} SIMD${size}, built from Rust. No server computes anything, and nothing is sent.`;
  facts.ready = true;
}

// What fails once everything runs, as when the browser has no more memory.
addEventListener("unhandledrejection", ({ reason }) => problem(`This went wrong: ${reason?.message ?? reason}. Loading the page again may help.`));

start().catch((error) => {
  document.getElementById("status").textContent = "";
  problem(`${error.message}`);
});
