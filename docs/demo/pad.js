// The area to draw a digit on, and the digit as MNIST would have it.

const SIDE = 280, PEN = 22, STEP = 10, DIGIT = 28, BOX = 20;

/** Turns a canvas into a drawing area; `onchange` is called after every change. */
export class Pad {
  #canvas;
  #ink;
  #pen = { x: SIDE / 2, y: SIDE / 4, down: false };
  #last = null;

  constructor(canvas, onchange) {
    this.#canvas = canvas;
    this.onchange = onchange;
    // What is drawn, apart from the cursor that is shown above it.
    this.#ink = new OffscreenCanvas(SIDE, SIDE).getContext("2d", { willReadFrequently: true });
    Object.assign(this.#ink, { lineWidth: PEN, lineCap: "round", lineJoin: "round", strokeStyle: "#fff", fillStyle: "#fff" });
    canvas.addEventListener("pointerdown", (event) => {
      // A second finger, or another button, does not draw.
      if (!event.isPrimary || event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      this.#last = null;
      this.#draw(this.#place(event));
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!event.isPrimary || !event.buttons || !this.#last) return;
      const steps = event.getCoalescedEvents?.() ?? [];
      for (const step of steps.length ? steps : [event]) this.#draw(this.#place(step));
    });
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, (event) => { if (event.isPrimary) this.#last = null; });
    }
    canvas.addEventListener("keydown", (event) => this.#key(event));
    for (const name of ["focus", "blur"]) canvas.addEventListener(name, () => this.#show());
    this.#show();
  }

  clear() {
    this.#ink.clearRect(0, 0, SIDE, SIDE);
    this.#pen.down = false;
    this.#changed();
  }

  /** Shows a picture of 28×28 as if it had been drawn. */
  set(values) {
    const small = new OffscreenCanvas(DIGIT, DIGIT), context = small.getContext("2d");
    const image = context.createImageData(DIGIT, DIGIT);
    values.forEach((value, at) => image.data.set([255, 255, 255, Math.round(255 * value)], 4 * at));
    context.putImageData(image, 0, 0);
    this.#ink.clearRect(0, 0, SIDE, SIDE);
    this.#ink.drawImage(small, 0, 0, SIDE, SIDE);
    this.#show();
  }

  /**
   * The digit, 28×28 between 0 and 1: scaled to fit a box of 20×20, its centre of mass in the middle, as the digits of MNIST are.
   * Empty if nothing is drawn.
   */
  digit() {
    const { data } = this.#ink.getImageData(0, 0, SIDE, SIDE);
    let [left, top, right, bottom, mass, x, y] = [SIDE, SIDE, -1, -1, 0, 0, 0];
    for (let row = 0; row < SIDE; row++) {
      for (let col = 0; col < SIDE; col++) {
        const ink = data[4 * (row * SIDE + col) + 3];
        if (ink < 32) continue;
        left = Math.min(left, col);
        right = Math.max(right, col);
        top = Math.min(top, row);
        bottom = Math.max(bottom, row);
        mass += ink;
        x += ink * (col + 0.5);
        y += ink * (row + 0.5);
      }
    }
    const digit = new Float32Array(DIGIT * DIGIT);
    if (!mass) return digit;
    const zoom = Math.max(right - left + 1, bottom - top + 1) / BOX;
    const samples = 6;
    for (let row = 0; row < DIGIT; row++) {
      for (let col = 0; col < DIGIT; col++) {
        let sum = 0;
        for (let part = 0; part < samples * samples; part++) {
          const across = col + ((part % samples) + 0.5) / samples - DIGIT / 2;
          const down = row + (Math.floor(part / samples) + 0.5) / samples - DIGIT / 2;
          const from = [Math.floor(y / mass + down * zoom), Math.floor(x / mass + across * zoom)];
          if (from.every((place) => place >= 0 && place < SIDE)) sum += data[4 * (from[0] * SIDE + from[1]) + 3];
        }
        digit[row * DIGIT + col] = sum / (255 * samples * samples);
      }
    }
    return digit;
  }

  #place(event) {
    const { left, top, width, height } = this.#canvas.getBoundingClientRect();
    return { x: ((event.clientX - left) / width) * SIDE, y: ((event.clientY - top) / height) * SIDE };
  }

  #draw(to) {
    const from = this.#last ?? to, ink = this.#ink;
    ink.beginPath();
    ink.moveTo(from.x, from.y);
    ink.lineTo(to.x, to.y + (from === to ? 0.01 : 0));
    ink.stroke();
    this.#last = to;
    Object.assign(this.#pen, to);
    this.#changed();
  }

  #key(event) {
    const moves = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] };
    const pen = this.#pen, move = moves[event.key];
    if (event.key === "Delete" || event.key === "Backspace") this.clear();
    else if (event.key === " ") {
      pen.down = !pen.down;
      this.#last = null;
      if (pen.down) this.#draw({ x: pen.x, y: pen.y });
      this.#show();
    } else if (move) {
      const to = { x: Math.min(SIDE, Math.max(0, pen.x + move[0])), y: Math.min(SIDE, Math.max(0, pen.y + move[1])) };
      if (pen.down) this.#draw(to);
      else Object.assign(pen, to);
      this.#show();
    } else return;
    event.preventDefault();
  }

  #changed() {
    this.#show();
    this.onchange();
  }

  #show() {
    const context = this.#canvas.getContext("2d");
    context.fillStyle = "#000";
    context.fillRect(0, 0, SIDE, SIDE);
    context.drawImage(this.#ink.canvas, 0, 0);
    if (!this.#canvas.matches(":focus-visible")) return;
    context.beginPath();
    context.arc(this.#pen.x, this.#pen.y, PEN / 2, 0, 2 * Math.PI);
    Object.assign(context, { lineWidth: 2, strokeStyle: this.#pen.down ? "#ff5d52" : "#58a6ff" });
    context.stroke();
  }
}
