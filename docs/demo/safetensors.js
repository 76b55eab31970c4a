// Reads a safetensors file: a header in JSON, then the numbers.

const TYPES = { F32: Float32Array, U8: Uint8Array, U16: Uint16Array, U32: Uint32Array };

/** The tensors by name: `{ shape, values }`. */
export function parse(bytes) {
  const size = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + size)));
  const tensors = {};
  for (const [name, entry] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const { dtype, shape, data_offsets: [begin, end] } = entry;
    if (!TYPES[dtype]) throw new Error(`${name} holds ${dtype}, which this page does not read.`);
    // Copied, since a typed array must begin at a multiple of its width.
    tensors[name] = { shape, values: new TYPES[dtype](bytes.slice(8 + size + begin, 8 + size + end).buffer) };
  }
  return tensors;
}
