// Moving digits: a matrix RNN reads some frames and predicts those that follow.

import { fetchRun } from "./engine.js";
import { drawMatrix, element, withTheme } from "./picture.js";

const find = (id) => document.getElementById(id);
/** How far a digit moves per frame, relative to the free space of a frame. */
const STEP = 0.1;
/** Predicted beyond what the net was trained for, as many frames again. */
const BEYOND = 2;
const MILLISECONDS = 140;

/** 28×28 to 14×14, by the mean of four pixels. */
export function halve(digit) {
  return Float32Array.from({ length: 196 }, (_, at) => {
    const corner = 56 * Math.floor(at / 14) + 2 * (at % 14);
    return (digit[corner] + digit[corner + 1] + digit[corner + 28] + digit[corner + 29]) / 4;
  });
}

/** One step along an axis; a wall stops the digit and reverses it. */
function advance(axis) {
  axis.at += STEP * axis.speed;
  if (axis.at <= 0 || axis.at >= 1) {
    axis.at = axis.at <= 0 ? 0 : 1;
    axis.speed = -axis.speed;
  }
}

/** Frames in which digits move in straight lines and bounce off the walls; where they overlap, the brighter pixel counts. */
export function render(digits, count, side, random) {
  const frames = new Float32Array(count * side * side);
  for (const digit of digits) {
    const size = Math.sqrt(digit.length), room = side - size, angle = 2 * Math.PI * random();
    const [y, x] = [{ at: random(), speed: Math.sin(angle) }, { at: random(), speed: Math.cos(angle) }];
    for (let frame = 0; frame < count; frame++) {
      advance(y);
      advance(x);
      const corner = frame * side * side + Math.floor(room * y.at) * side + Math.floor(room * x.at);
      for (let at = 0; at < digit.length; at++) {
        const place = corner + Math.floor(at / size) * side + (at % size);
        frames[place] = Math.max(frames[place], digit[at]);
      }
    }
  }
  return frames;
}

/** Loads the net and connects the section. */
export async function startMoving(engine, facts, { samples, shown }) {
  if (!samples.length) throw new Error("It moves the example digits of the first demo, which are not there.");
  const net = await engine.call("loadMoving", await fetchRun("moving"));
  const { contextLength, steps, side } = net, predicted = BEYOND * steps, total = contextLength + predicted, size = side * side;
  find("moving-parameters").textContent = net.parameters.toLocaleString("en");
  find("moving-context").textContent = `${contextLength}`;
  find("moving-steps").textContent = `${steps}`;
  const slider = find("moving-frame");
  Object.assign(slider, { max: total });
  const strip = filmStrip(total, contextLength);

  let sequence = null, frame = 0;
  const matrix = (values, at) => ({ rows: side, cols: side, values: values.subarray(at * size, (at + 1) * size) });
  const blank = new Float32Array(size);

  function draw() {
    if (!sequence) return;
    const { frames, values, states } = sequence, future = frame - contextLength;
    drawMatrix(find("moving-truth"), matrix(frames, frame), "ink");
    drawMatrix(find("moving-predicted"), future < 0 ? { rows: side, cols: side, values: blank } : matrix(values, future), "ink");
    drawMatrix(find("moving-state"), states[frame], "states");
    find("moving-caption").textContent = future < 0 ? `frame ${frame + 1}, read by the net` : `frame ${frame + 1}, hidden from it`;
    slider.value = frame + 1;
    slider.setAttribute("aria-valuetext", `frame ${frame + 1} of ${total}, ${future < 0 ? "read" : "predicted"}`);
    strip.show(frame);
  }

  async function next() {
    const any = () => samples[Math.floor(Math.random() * samples.length)].values;
    const mine = find("moving-mine").checked && shown.input.some((value) => value > 0);
    const digits = [mine ? shown.input : any(), any()].map(halve);
    const frames = render(digits, total, side, Math.random);
    const context = frames.slice(0, contextLength * size);
    const { values, states, milliseconds } = await engine.call("moving", { context, steps: predicted });
    sequence = { frames, context, values, states };
    facts.moving = { ...sequence, contextLength, predicted, side, milliseconds };
    strip.fill((at) => matrix(frames, at), (at) => matrix(values, at));
    draw();
  }

  const button = find("moving-play");
  let playing = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  const play = (on) => {
    playing = on;
    button.textContent = on ? "Pause" : "Play";
    button.setAttribute("aria-pressed", on);
  };
  play(playing);
  button.addEventListener("click", () => play(!playing));
  slider.addEventListener("input", () => {
    play(false);
    frame = slider.value - 1;
    draw();
  });
  find("moving-new").addEventListener("click", () => next().then(() => { frame = 0; }));
  find("moving-mine").addEventListener("change", next);
  // Off screen nothing moves.
  let visible = true;
  new IntersectionObserver(([entry]) => { visible = entry.isIntersecting; }).observe(find("moving"));
  let turns = 0;
  setInterval(() => {
    if (!playing || !visible || !sequence) return;
    frame = (frame + 1) % total;
    if (frame === 0 && ++turns % 3 === 0) next();
    draw();
  }, MILLISECONDS);
  await next();
  withTheme(draw);
}

/** All frames in a row, and the predicted ones below those that they predict. */
function filmStrip(total, contextLength) {
  const holder = find("moving-strip");
  holder.style.gridTemplateColumns = `repeat(${total}, minmax(0, 1fr))`;
  const truth = Array.from({ length: total }, () => element("canvas"));
  const predictions = Array.from({ length: total - contextLength }, (_, at) => element("canvas", { style: `grid-column: ${contextLength + at + 1}` }));
  holder.append(...truth, ...predictions);
  return {
    fill(frame, prediction) {
      truth.forEach((canvas, at) => drawMatrix(canvas, frame(at), "ink"));
      predictions.forEach((canvas, at) => drawMatrix(canvas, prediction(at), "ink"));
    },
    show(now) {
      truth.forEach((canvas, at) => canvas.classList.toggle("now", at === now));
      predictions.forEach((canvas, at) => canvas.classList.toggle("now", at + contextLength === now));
    },
  };
}
