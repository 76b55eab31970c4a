// What the checks in a browser share: Chromium through playwright-core, and NumPy's files.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository. */
export const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/** Starts headless Chromium. Where it or playwright-core is missing, says what is not tested and ends the process. */
export async function launch(what) {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  let chromium;
  try {
    ({ chromium } = createRequire(join(root, "target/page/package.json"))("playwright-core"));
    if (!existsSync(executablePath)) throw new Error(`${executablePath} is missing`);
  } catch (error) {
    console.error(`SKIPPED: ${error.message.split("\n")[0]}; ${what} is not tested`);
    process.exit(0);
  }
  const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
  return chromium.launch({ executablePath, args });
}

/** An array of f32 as .npy. */
export function npy(shape, values) {
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(", ")}), }`;
  const head = Buffer.from(text.padEnd(117) + "\n");
  const size = Buffer.alloc(2);
  size.writeUInt16LE(head.length);
  return Buffer.concat([Buffer.from([0x93]), Buffer.from("NUMPY\x01\x00"), size, head, Buffer.from(Float32Array.from(values).buffer)]);
}

/** The numbers of an .npy file of f32. */
export function readNpy(path) {
  const bytes = readFileSync(path);
  const begin = 10 + bytes.readUInt16LE(8);
  if (!bytes.toString("latin1", 10, begin).includes("'<f4'")) throw new Error(`${path} does not hold f32`);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset + begin, bytes.byteOffset + bytes.length));
}
