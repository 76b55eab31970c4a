#!/usr/bin/env node
// Uses the page of `matnet serve` in headless Chromium, as a person with a phone would: chooses a model, gives it an .npy, a .csv and a
// picture, drops a file, gives a wrong one, looks at attention, and gives a token.
//
//     npm install --prefix target/page playwright-core
//     NODE_PATH=target/page/node_modules node peers/check-serve-page.mjs [target/release/matnet]
//
// CHROMIUM is the browser's path if it is not /usr/bin/chromium. Screenshots go to target/page.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { crc32, deflateSync } from "node:zlib";

import { launch, npy, root } from "./browser.mjs";

const matnet = resolve(process.argv[2] ?? join(root, "target/release/matnet"));
const browser = await launch("the page of matnet serve");

/** An 8-bit grey picture as PNG. */
function png(side, values) {
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const size = Buffer.alloc(4), sum = Buffer.alloc(4);
    size.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([size, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head[8] = 8;
  const rows = [];
  for (let row = 0; row < side; row++) rows.push(Buffer.from([0, ...values.slice(row * side, (row + 1) * side)]));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", deflateSync(Buffer.concat(rows))), chunk("IEND", Buffer.alloc(0))]);
}

const folder = mkdtempSync(join(tmpdir(), "matnet-page-"));
const shots = join(root, "target/page");
mkdirSync(shots, { recursive: true });
const config = `
[data]
source = "digits"
[model]
kind = "feedforward"
hidden = [20, 20]
depth = 3
[train]
epochs = 3
batch_size = 50
learning_rate = 0.003
`;
writeFileSync(join(folder, "digits.toml"), config);
const trained = spawnSync(matnet, ["train", "digits.toml", "--out", "digits", "--quiet"], { cwd: folder, encoding: "utf8" });
assert.equal(trained.status, 0, trained.stderr);
const reference = (name) => join(root, "crates/matnet-train/tests/reference", name);
const runs = { sequences: "seq2seq-past-matrix", turing: "turing-machine-lstm-matrix", stories: "end-to-end-memory-heads" };
const models = ["digits", ...Object.entries(runs).map(([name, run]) => `${name}=${reference(run)}`)];

async function serve(env) {
  const child = spawn(matnet, ["serve", ...models, "--listen", "127.0.0.1:0"], { cwd: folder, env: { ...process.env, ...env } });
  const line = await new Promise((done) => child.stdout.once("data", (data) => done(String(data))));
  return { child, address: line.match(/^http:\/\/[0-9.:]+\//)[0] };
}

// A one: a white bar.
const one = Array.from({ length: 784 }, (_, at) => (at % 28 >= 12 && at % 28 < 16 && at >= 112 && at < 672 ? 255 : 0));
const files = {
  png: { name: "one.png", mimeType: "image/png", buffer: png(28, one) },
  npy: { name: "ones.npy", mimeType: "", buffer: npy([3, 28, 28], [...one, ...one, ...one].map((value) => value / 255)) },
  csv: { name: "one.csv", mimeType: "text/csv", buffer: Buffer.from(Array.from({ length: 28 }, (_, row) => one.slice(row * 28, row * 28 + 28).map((value) => value / 255).join(",")).join("\n")) },
  wrong: { name: "one.pdf", mimeType: "", buffer: Buffer.from("no") },
};

let server;
try {
  server = await serve({});
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  const outside = [], errors = [];
  page.on("request", (request) => { if (!request.url().startsWith(server.address) && !request.url().startsWith("data:")) outside.push(request.url()); });
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(server.address);
  await page.getByRole("button", { name: "digits" }).click();
  await page.locator("#maps img").first().waitFor();
  const sure = async (file, count) => {
    await page.locator("#file").setInputFiles(file);
    await page.getByText(`${file.name}: ${count}`).waitFor();
    const labels = await page.locator("#samples .label").allTextContents();
    const bars = await page.locator("#samples .sample").first().locator(".bar").count();
    assert.equal(bars, 10);
    return labels;
  };
  // The same digit in three formats: the same class. (A byte of a picture is read as the run's data were.)
  const fromNpy = await sure(files.npy, "3 samples");
  assert.equal(fromNpy.length, 3);
  assert.equal(new Set(fromNpy).size, 1);
  assert.deepEqual(await sure(files.csv, "one sample"), fromNpy.slice(0, 1));
  assert.equal((await sure(files.png, "one sample")).length, 1);
  await page.screenshot({ path: join(shots, "phone.png"), fullPage: true });
  // Dropped, not chosen.
  const transfer = await page.evaluateHandle((text) => {
    const made = new DataTransfer();
    made.items.add(new File([text], "dropped.csv"));
    return made;
  }, String(files.csv.buffer));
  await page.dispatchEvent("#drop", "drop", { dataTransfer: transfer });
  await page.getByText("dropped.csv: one sample").waitFor();
  await page.locator("#file").setInputFiles(files.wrong);
  await page.getByText("a file that ends in .npy").waitFor();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(wide <= 0, `the page is ${wide} pixels wider than a phone`);
  // A net that gives matrices, by the keyboard.
  await page.getByRole("button", { name: "sequences" }).focus();
  await page.keyboard.press("Enter");
  const metadata = await (await fetch(`${server.address}v2/models/sequences`)).json();
  const [, , rows, cols] = metadata.inputs[0].shape;
  const shape = [2, 8, rows, cols];
  const values = Array.from({ length: shape.reduce((a, b) => a * b) }, (_, at) => (at % 7) / 7);
  await page.locator("#file").setInputFiles({ name: "s.npy", mimeType: "", buffer: npy(shape, values) });
  await page.getByText("s.npy: 2 samples").waitFor();
  assert.equal(await page.locator("#samples img[alt='the output']").count(), 2);
  // Nets with attention show it.
  const attention = async (name, file, caption) => {
    await page.locator(".model").filter({ has: page.getByText(name, { exact: true }) }).click();
    await page.locator("#file").setInputFiles(file);
    const image = page.locator("#samples .attention img").first();
    await image.waitFor();
    assert.ok((await image.getAttribute("alt")).startsWith(caption));
    assert.ok(await image.evaluate((image) => image.decode().then(() => image.naturalWidth > 20)));
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wide <= 0, `${name}: the page is ${wide} pixels wider than a phone`);
    await page.screenshot({ path: join(shots, `attention-${name}.png`), fullPage: true });
  };
  await attention("turing", join(reference(runs.turing), "input.npy"), "Attention weights of the heads");
  await attention("stories", join(reference(runs.stories), "input.txt"), "Attention weights");
  await page.setViewportSize({ width: 1200, height: 900 });
  await page.getByRole("button", { name: "digits" }).click();
  await sure(files.png, "one sample");
  await page.screenshot({ path: join(shots, "desk.png"), fullPage: true });
  server.child.kill("SIGTERM");
  assert.deepEqual(outside, []);
  assert.deepEqual(errors, []);
  // A token.
  server = await serve({ MATNET_TOKEN: "sesame" });
  const other = await (await browser.newContext()).newPage();
  await other.goto(server.address);
  await other.locator("#token").fill("sesame");
  await other.keyboard.press("Enter");
  await other.getByRole("button", { name: "digits" }).click();
  await other.locator("#maps img").first().waitFor();
  console.log("the page of matnet serve works in Chromium");
} finally {
  server?.child.kill("SIGTERM");
  await browser.close();
  rmSync(folder, { recursive: true });
}
