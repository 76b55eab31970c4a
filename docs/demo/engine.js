// The nets live in workers, so that the page never stands still. An `Engine` is one worker, and its calls are promises.

/** i8x16.popcnt, an instruction of 128-bit SIMD, in the smallest module that has it. */
const SIMD = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);

/** The build for this browser; `?simd=off` asks for the plain one. */
export function buildName() {
  const off = new URLSearchParams(location.search).get("simd") === "off";
  return !off && WebAssembly.validate(SIMD) ? "simd" : "plain";
}

/** Fetches a file beside the page; errors are sentences. */
export async function fetchFile(path) {
  let response;
  try {
    response = await fetch(new URL(path, import.meta.url));
  } catch {
    throw new Error(`${path} could not be fetched. A page opened as a file cannot read the files beside it: serve the folder, for example with tools/demo.`);
  }
  if (!response.ok) throw new Error(`${path} is missing: the server answered ${response.status} ${response.statusText}.`);
  return response;
}

export const fetchBytes = async (path) => new Uint8Array(await (await fetchFile(path)).arrayBuffer());
export const fetchText = async (path) => (await fetchFile(path)).text();

/** The two files of a run folder. */
export async function fetchRun(name) {
  const [config, weights] = await Promise.all([fetchText(`runs/${name}/config.toml`), fetchBytes(`runs/${name}/best.safetensors`)]);
  return { config, weights };
}

/** The compiled module, which all workers share. */
export async function compile() {
  if (typeof WebAssembly !== "object") {
    throw new Error("This browser has no WebAssembly, or it is switched off (some do that in a lockdown mode). The nets cannot run without it.");
  }
  const build = buildName();
  const path = `pkg/${build}/matnet_bg.wasm`;
  let response;
  try {
    response = await fetchFile(path);
  } catch (error) {
    throw new Error(`${error.message} It is not part of the repository: tools/demo builds it.`);
  }
  try {
    // Compiled while it arrives, where the server says what it is.
    const streamed = response.headers.get("Content-Type")?.startsWith("application/wasm");
    const module = await (streamed ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer()));
    const bytes = performance.getEntriesByName(response.url)[0]?.decodedBodySize ?? 0;
    return { build, bytes, module };
  } catch (error) {
    throw new Error(`${path} is no WebAssembly module for this browser: ${error.message}`);
  }
}

/** A worker with the nets in it. */
export class Engine {
  #worker;
  #waiting = new Map();
  #next = 0;
  /** Called with what the worker sends unasked. */
  onprogress = () => {};

  constructor({ build, module }) {
    this.#worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.#worker.onmessage = ({ data }) => {
      if (data.progress) return this.onprogress(data.progress);
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if ("error" in data) waiting?.reject(new Error(data.error));
      else waiting?.resolve(data.result);
    };
    this.#worker.onerror = (event) => this.#fail(event.message || "the worker could not be started; this browser may be too old for module workers");
    this.ready = this.call("start", { build, module });
  }

  /** Asks the worker for something. */
  call(name, argument) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, name, argument });
    });
  }

  /** Ends the worker at once. */
  terminate() {
    this.#worker.terminate();
    this.#fail("stopped");
  }

  #fail(message) {
    for (const { reject } of this.#waiting.values()) reject(new Error(message));
    this.#waiting.clear();
  }
}
