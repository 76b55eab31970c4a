// A worker: loads the WebAssembly module and answers the calls of `Engine`.

let matnet;
const nets = {};
let training = 0;

/** A matrix of the module as a plain object, its memory freed. */
function plain(matrix) {
  const { name, rows, cols, values } = matrix;
  matrix.free();
  return { name, rows, cols, values };
}

function predicted(prediction) {
  const result = { values: prediction.values, states: prediction.states.map(plain) };
  prediction.free();
  return result;
}

/** Lets messages in, such as `stop`. */
const pause = () => new Promise((done) => setTimeout(done));

const calls = {
  async start({ build, module }) {
    matnet = await import(`./pkg/${build}/matnet.js`);
    await matnet.default({ module_or_path: module });
    return matnet.hasSimd();
  },

  loadDigit({ config, weights }) {
    nets.digit = new matnet.SampleNet(config, weights);
    return { classes: nets.digit.classes, parameters: nets.digit.parameters, maps: nets.digit.maps().map(plain) };
  },

  digit(input) {
    const start = performance.now();
    const result = predicted(nets.digit.predict(input));
    return { ...result, milliseconds: performance.now() - start };
  },

  loadMoving({ config, weights }) {
    const net = (nets.moving = new matnet.SequenceNet(config, weights));
    return { contextLength: net.contextLength, steps: net.steps, side: net.sides[0], parameters: net.parameters };
  },

  moving({ context, steps }) {
    const start = performance.now();
    const result = predicted(nets.moving.predict(context, steps));
    return { ...result, milliseconds: performance.now() - start };
  },

  loadGraph({ config, weights, graph }) {
    const start = performance.now();
    const net = (nets.graph = new matnet.NodeNet(config, weights, graph));
    const { classes, parameters, depth, heads, probabilities } = net;
    return { classes, parameters, depth, heads, probabilities, milliseconds: performance.now() - start };
  },

  attention(node) {
    const net = nets.graph;
    const layers = Array.from({ length: net.depth }, (_, layer) => net.attention(layer, node));
    return { neighbors: net.neighbors(node), layers };
  },

  /** Trains nets side by side, an epoch each in turn, until all are done or `stop` is called. */
  async train({ configs, inputs, labels, train, epochs }) {
    const own = ++training;
    const trainers = configs.map((config) => new matnet.Trainer(JSON.stringify(config), inputs, labels, train));
    postMessage({ progress: { parameters: trainers.map((trainer) => trainer.parameters) } });
    try {
      for (let epoch = 0; epoch < epochs; epoch++) {
        for (const [net, trainer] of trainers.entries()) {
          let score, milliseconds = 0;
          while (!score) {
            const start = performance.now();
            score = trainer.steps(8);
            milliseconds += performance.now() - start;
            await pause();
            if (own !== training) return { stopped: true };
          }
          const { trainLoss, testLoss, testError } = score;
          score.free();
          postMessage({ progress: { net, epoch: epoch + 1, trainLoss, testLoss, testError, milliseconds } });
        }
      }
      return { stopped: false };
    } finally {
      for (const trainer of trainers) trainer.free();
    }
  },

  stop() {
    training++;
  },
};

onmessage = async ({ data: { id, name, argument } }) => {
  try {
    postMessage({ id, result: await calls[name](argument) });
  } catch (error) {
    postMessage({ id, error: error?.message ?? String(error) });
  }
};
