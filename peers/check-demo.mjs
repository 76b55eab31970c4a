#!/usr/bin/env node
// Uses the page of docs/demo in headless Chromium and compares it with the command: the same predictions, states, frames, attention
// weights and training, to 1e-5.
//
//     cargo build --release && tools/demo --build-only
//     npm install --prefix target/page playwright-core
//     node peers/check-demo.mjs [target/release/matnet]
//
// CHROMIUM is the browser's path if it is not /usr/bin/chromium. Screenshots go to target/page. On a machine that is busy with other work,
// MATNET_BUSY=1 prints the time to the first prediction without judging it.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize, resolve } from "node:path";
import { gzipSync } from "node:zlib";

import { parse } from "../docs/demo/safetensors.js";
import { launch, npy, readNpy, root } from "./browser.mjs";

const TOLERANCE = 1e-5;
const matnet = resolve(process.argv[2] ?? join(root, "target/release/matnet"));
const demo = join(root, "docs/demo");
if (!existsSync(join(demo, "pkg/simd/matnet_bg.wasm"))) {
  console.error("docs/demo/pkg is missing; `tools/demo --build-only` makes it");
  process.exit(1);
}
const browser = await launch("the browser demo");
const folder = mkdtempSync(join(tmpdir(), "matnet-demo-"));
const shots = join(root, "target/page");
mkdirSync(shots, { recursive: true });

/** Serves docs/demo as a static host does, compressed, and counts the bytes of every file. */
const sent = new Map(), compressed = new Map();
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".wasm": "application/wasm", ".toml": "text/plain" };
const server = createServer((request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname)).replace(/\/$/, "/index.html");
  const file = join(demo, path);
  if (!existsSync(file) || !statSync(file).isFile()) return response.writeHead(404).end();
  // Once: a static host does not compress anew for everybody.
  if (!compressed.has(path)) compressed.set(path, gzipSync(readFileSync(file), { level: 9 }));
  const body = compressed.get(path);
  sent.set(path, body.length);
  response.writeHead(200, { "Content-Type": TYPES[extname(file)] ?? "application/octet-stream", "Content-Encoding": "gzip", "Cache-Control": "max-age=60" });
  response.end(body);
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const address = `http://127.0.0.1:${server.address().port}/`;

/** Runs the command; fails with what it said. */
function command(...args) {
  const { status, stderr } = spawnSync(matnet, args, { cwd: root, encoding: "utf8" });
  assert.equal(status, 0, `matnet ${args.join(" ")}: ${stderr}`);
}

/** What `matnet predict` says about an array, or a named dataset. */
function predict(run, input, ...more) {
  const output = join(folder, "out.npy");
  let source = input;
  if (typeof input !== "string") {
    source = join(folder, "in.npy");
    writeFileSync(source, npy(input.shape, input.values));
  }
  command("predict", join(demo, "runs", run), "--input", source, "--output", output, "--quiet", ...more);
  return readNpy(output);
}

const differences = [];
function same(what, found, expected, tolerance = TOLERANCE) {
  assert.equal(found.length, expected.length, `${what}: ${found.length} numbers in the page, ${expected.length} from the command`);
  let most = 0;
  for (let at = 0; at < found.length; at++) most = Math.max(most, Math.abs(found[at] - expected[at]));
  assert.ok(most <= tolerance, `${what}: ${most} apart`);
  differences.push([what, found.length, most]);
}

/** A fresh page with its complaints. */
async function open(options = {}, query = "", prepare = async () => {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints = [], outside = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
  page.on("request", (request) => { if (!request.url().startsWith(address) && !request.url().startsWith("data:")) outside.push(request.url()); });
  await prepare(page);
  await page.goto(address + query);
  return { context, page, complaints, outside };
}
const ready = (page) => page.waitForFunction(() => globalThis.matnet?.ready, null, { timeout: 60_000 });
const numbers = (page, path) => page.evaluate((path) => Array.from(path.split(".").reduce((value, key) => value[key], globalThis.matnet)), path);

/** Waits until the page shows the prediction of what is on the pad. */
async function digitShown(page, before) {
  await page.waitForFunction((before) => globalThis.matnet.digit.input.join() !== before, before);
  await page.waitForTimeout(150);
  return { input: await numbers(page, "digit.input"), values: await numbers(page, "digit.values"), states: await page.evaluate(() => globalThis.matnet.digit.states.map(({ values }) => Array.from(values))) };
}

async function checkDigits(page) {
  const seen = [];
  const after = async (act) => {
    const before = (await numbers(page, "digit.input")).join();
    await act();
    seen.push(await digitShown(page, before));
  };
  const buttons = page.locator("#examples button");
  assert.equal(await buttons.count(), 20);
  for (const at of [0, 7, 12, 19]) await after(() => buttons.nth(at).click());
  // A one, by mouse.
  await page.locator("#pad-clear").click();
  await page.waitForTimeout(200);
  const box = await page.locator("#pad").boundingBox();
  const spot = (x, y) => [box.x + x * box.width, box.y + y * box.height];
  await after(async () => {
    await page.mouse.move(...spot(0.52, 0.2));
    await page.mouse.down();
    await page.mouse.move(...spot(0.5, 0.5), { steps: 5 });
    await page.mouse.move(...spot(0.48, 0.8), { steps: 5 });
    await page.mouse.up();
  });
  assert.equal(await page.locator("#digit-class").textContent(), "1");
  // A seven, by keyboard.
  await page.locator("#pad").focus();
  await page.keyboard.press("Delete");
  await page.waitForTimeout(200);
  await after(async () => {
    for (let step = 0; step < 7; step++) await page.keyboard.press("ArrowLeft");
    for (let step = 0; step < 15; step++) await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Space");
    for (let step = 0; step < 13; step++) await page.keyboard.press("ArrowRight");
    for (let step = 0; step < 9; step++) for (const key of ["ArrowDown", "ArrowDown", "ArrowLeft"]) await page.keyboard.press(key);
    await page.keyboard.press("Space");
  });
  assert.equal(await page.locator("#digit-class").textContent(), "7");
  const input = { shape: [seen.length, 28, 28], values: seen.flatMap(({ input }) => input) };
  same("digits: probabilities", seen.flatMap(({ values }) => values), predict("digits", input));
  for (const layer of seen[0].states.keys()) {
    same(`digits: states of layer ${layer + 1}`, seen.flatMap(({ states }) => states[layer]), predict("digits", input, "--hidden", `layer.${layer}`));
  }
  const weights = parse(new Uint8Array(readFileSync(join(demo, "runs/digits/best.safetensors"))));
  assert.equal(await page.locator("#digit-layers .layer").count(), Object.keys(weights).filter((name) => name.endsWith("row_map")).length);
}

async function checkMoving(page) {
  const contexts = [], frames = [];
  let size, steps, sides;
  for (let sequence = 0; sequence < 3; sequence++) {
    const before = (await numbers(page, "moving.context")).join();
    if (sequence === 2) await page.locator("#moving-mine").check();
    else await page.locator("#moving-new").click();
    await page.waitForFunction((before) => globalThis.matnet.moving.context.join() !== before, before);
    // All at once: the page goes on to another sequence by itself.
    const { contextLength, predicted, side, context, values } = await page.evaluate(() => {
      const { context, values, ...rest } = globalThis.matnet.moving;
      return { ...rest, context: Array.from(context), values: Array.from(values) };
    });
    [size, steps, sides] = [side * side, predicted / 2, [contextLength, side, side]];
    contexts.push(...context);
    frames.push(...values.slice(0, steps * size));
  }
  same("moving digits: predicted frames", frames, predict("moving", { shape: [3, ...sides], values: contexts }));
  await page.locator("#moving-frame").focus();
  await page.keyboard.press("End");
  assert.equal(await page.locator("#moving-play").textContent(), "Play");
  assert.ok((await page.locator("#moving-caption").textContent()).includes("hidden from it"));
}

/** The attention weights of a node, from the states that the command gives and the weights of the run. */
function attention(weights, state, layer, node, neighbors, heads) {
  const { values: map, shape: [, width] } = weights[`layer.${layer}.attention.0.score_map`];
  const bias = weights[`layer.${layer}.attention.0.score_bias`].values;
  const result = [];
  for (let head = 0; head < heads; head++) {
    const query = Array.from({ length: width }, (_, col) => {
      let sum = bias[head * width + col];
      for (let row = 0; row < width; row++) sum += state[node * width + row] * map[(head * width + row) * width + col];
      return sum;
    });
    const scores = neighbors.map((other) => query.reduce((sum, value, at) => sum + value * state[other * width + at], 0));
    const most = Math.max(...scores), powers = scores.map((score) => Math.exp(score - most));
    const total = powers.reduce((sum, power) => sum + power);
    result.push(...powers.map((power) => power / total));
  }
  return result;
}

async function checkGraph(page) {
  const { heads, depth } = await page.evaluate(() => ({ heads: globalThis.matnet.graph.heads, depth: globalThis.matnet.graph.depth }));
  same("Cora: probabilities of all papers", await numbers(page, "graph.probabilities"), predict("cora", "citations"));
  const states = Array.from({ length: depth }, (_, layer) => predict("cora", "citations", "--hidden", layer ? `layer.${layer - 1}` : "input"));
  const weights = parse(new Uint8Array(readFileSync(join(demo, "runs/cora/best.safetensors"))));
  const check = async (what) => {
    const { node, neighbors, layers } = await page.evaluate(() => {
      const { node, neighbors, layers } = globalThis.matnet.attention;
      return { node, neighbors, layers: layers.map((layer) => Array.from(layer)) };
    });
    layers.forEach((layer, at) => same(`Cora: attention ${what}, layer ${at + 1}`, layer, attention(weights, states[at], at, node, neighbors, heads)));
    assert.equal(await page.locator("#graph-heads svg").count(), heads);
    return node;
  };
  let node = await check("at the start");
  const other = async (act, what) => {
    await act();
    await page.waitForFunction((node) => globalThis.matnet.attention.node !== node, node);
    node = await check(what);
  };
  await other(() => page.locator("#graph-map").click({ position: { x: 90, y: 90 } }), "after a click");
  await page.locator("#graph-map").focus();
  await other(() => page.keyboard.press("ArrowRight"), "after a key");
  await other(() => page.locator("#graph-table button").first().click(), "of a neighbour");
  await other(() => page.locator("#graph-paper").selectOption("1000"), "of a chosen paper");
}

async function checkTraining(page) {
  await page.locator("select[name=epochs]").selectOption("100");
  await page.locator("#train-start").click();
  await page.waitForFunction(() => globalThis.matnet.training?.series.every(({ scores }) => scores.length >= 3), null, { timeout: 120_000 });
  await page.locator("#train-stop").click();
  await page.getByText(/^Stopped after \d+ of 100 epochs/).waitFor();
  const series = await page.evaluate(() => globalThis.matnet.training.series);
  await page.waitForTimeout(500);
  assert.equal(await page.evaluate(() => globalThis.matnet.training.series[0].scores.length), series[0].scores.length, "the training goes on after it was stopped");
  assert.ok(await page.locator("#train-start").isEnabled());
  const out = join(folder, "training");
  command("compare", join(demo, "configs/training.toml"), "--out", out, "--quiet");
  for (const { name, scores } of series) {
    const csv = readFileSync(spawnSync("find", [out, "-path", `*${name}*`, "-name", "metrics.csv"], { encoding: "utf8" }).stdout.trim().split("\n")[0], "utf8");
    const rows = csv.trim().split("\n").map((line) => line.split(","));
    const column = (key) => rows[0].indexOf(key);
    const of = (split, key) => rows.filter((row) => row[column("split")] === split).map((row) => Number(row[column(key)]));
    // Rounding differs, and Adam's steps carry it along.
    same(`training, ${name}: loss of 2 epochs`, scores.slice(0, 2).map(({ trainLoss }) => trainLoss), of("train", "loss"), 1e-3);
    same(`training, ${name}: test error of 2 epochs`, scores.slice(0, 2).map(({ testError }) => testError), of("test", "error"), 3 / 360);
  }
  assert.equal(await page.locator("#train-error path").count(), 2);
}

/** Draws with a finger on a page as wide as a phone. */
async function checkPhone() {
  const { context, page, complaints } = await open({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
  await ready(page);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(wide <= 0, `the page is ${wide} pixels wider than a phone`);
  await page.locator("#pad-clear").tap();
  await page.waitForTimeout(200);
  await page.locator("#pad").scrollIntoViewIfNeeded();
  const box = await page.locator("#pad").boundingBox(), before = (await numbers(page, "digit.input")).join();
  const client = await context.newCDPSession(page);
  const touch = (type, points) => client.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y]) => ({ x: box.x + x * box.width, y: box.y + y * box.height })) });
  await touch("touchStart", [[0.5, 0.2]]);
  for (let y = 0.25; y < 0.85; y += 0.05) await touch("touchMove", [[0.5, y]]);
  await touch("touchEnd", []);
  await digitShown(page, before);
  assert.equal(await page.locator("#digit-class").textContent(), "1");
  const answer = await page.locator("#digit-class").boundingBox(), pad = await page.locator("#pad").boundingBox();
  assert.ok(answer.y + answer.height - pad.y < 600, "the drawing and its prediction do not fit on the screen of a phone");
  await page.screenshot({ path: join(shots, "demo-phone.png"), fullPage: true });
  assert.deepEqual(complaints, []);
  await context.close();
}

/** `tools/demo` serves the same bytes: compressed, and the module as what it is. */
async function checkServer() {
  const child = spawn(join(root, "tools/serve-static"), [demo, "0"]);
  try {
    const line = await new Promise((done) => child.stdout.once("data", (data) => done(String(data))));
    const place = line.match(/^http:\S+/)[0];
    for (const [path, type] of [["", "text/html"], ["pkg/simd/matnet_bg.wasm", "application/wasm"], ["main.js", "text/javascript"]]) {
      const reply = await fetch(place + path);
      assert.deepEqual([reply.status, reply.headers.get("content-type"), reply.headers.get("content-encoding")], [200, type, "gzip"]);
      assert.ok(Buffer.from(await reply.arrayBuffer()).equals(readFileSync(join(demo, path || "index.html"))), path);
    }
    assert.equal((await fetch(`${place}none`)).status, 404);
  } finally {
    child.kill();
  }
}

/** What goes wrong is said in words. */
async function checkErrors() {
  const problem = async (expected, where, prepare) => {
    const { context, page } = await open({}, "", prepare);
    await page.locator(`${where}:visible`).filter({ hasText: expected }).waitFor({ timeout: 30_000 });
    await context.close();
  };
  await problem("has no WebAssembly", "#problem", (page) => page.addInitScript(() => { delete globalThis.WebAssembly; }));
  await problem("tools/demo builds it", "#problem", (page) => page.route("**/*.wasm", (route) => route.fulfill({ status: 404 })));
  await problem("runs/digits/best.safetensors is missing", "#digit .problem", (page) => page.route("**/runs/digits/best*", (route) => route.fulfill({ status: 404 })));
  await problem("another config.toml", "#moving .problem", (page) => page.route("**/runs/moving/config.toml", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replace("seed = 0", "seed = 9") });
  }));
  await problem("data/cora.safetensors is missing", "#graph .problem", (page) => page.route("**/cora.safetensors", (route) => route.fulfill({ status: 404 })));
  // Later, too.
  const { context, page } = await open();
  await ready(page);
  await page.workers()[0].evaluate(() => { globalThis.onmessage = ({ data: { id } }) => postMessage({ id, error: "no more memory" }); });
  await page.locator("#examples button").first().click();
  await page.locator("#problem:visible").filter({ hasText: "no more memory" }).waitFor({ timeout: 30_000 });
  await context.close();
}

try {
  // The first prediction, in new browser contexts: nothing is cached.
  for (const path of ["/pkg/simd/matnet_bg.wasm", "/runs/digits/best.safetensors"]) await (await fetch(address + path.slice(1))).arrayBuffer();
  const times = [];
  for (let time = 0; time < 3; time++) {
    const { context, page } = await open();
    await page.waitForFunction(() => globalThis.matnet?.firstPrediction);
    times.push(await page.evaluate(() => globalThis.matnet.firstPrediction));
    await context.close();
  }
  const { context, page, complaints, outside } = await open();
  await ready(page);
  assert.equal(await page.evaluate(() => globalThis.matnet.simd), true);
  await checkDigits(page);
  await checkMoving(page);
  await checkGraph(page);
  await checkTraining(page);
  const bytes = [...sent.values()].reduce((sum, size) => sum + size);
  await page.screenshot({ path: join(shots, "demo-desk.png"), fullPage: true });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.screenshot({ path: join(shots, "demo-dark.png"), fullPage: true });
  assert.deepEqual(outside, []);
  assert.deepEqual(complaints, []);
  await context.close();
  await checkPhone();
  await checkErrors();
  await checkServer();
  if (existsSync(join(demo, "pkg/plain/matnet_bg.wasm"))) {
    const { context, page } = await open({}, "?simd=off");
    await ready(page);
    assert.equal(await page.evaluate(() => globalThis.matnet.simd), false);
    const input = { shape: [1, 28, 28], values: await numbers(page, "digit.input") };
    same("digits without SIMD: probabilities", await numbers(page, "digit.values"), predict("digits", input));
    same("Cora without SIMD: probabilities", await numbers(page, "graph.probabilities"), predict("cora", "citations"));
    await context.close();
  } else console.log("without SIMD: not built, not tested");

  for (const [what, count, most] of differences) console.log(`${what}: ${count.toLocaleString("en")} numbers, at most ${most.toExponential(1)} apart`);
  for (const [path, size] of [...sent].sort((a, b) => b[1] - a[1]).slice(0, 6)) console.log(`${path}: ${size.toLocaleString("en")} bytes with gzip`);
  console.log(`transferred in all: ${bytes.toLocaleString("en")} bytes with gzip -9, bodies of all answers`);
  console.log(`first prediction after ${times.map((time) => time.toFixed(0)).join(", ")} ms`);
  assert.ok(bytes < 3_000_000, `${bytes} bytes are transferred`);
  assert.ok(Math.min(...times) < 1000 || process.env.MATNET_BUSY, "the first prediction takes more than a second");
  console.log("the browser demo works in Chromium, and predicts what the command predicts");
} finally {
  await browser.close();
  server.close();
  rmSync(folder, { recursive: true });
}
