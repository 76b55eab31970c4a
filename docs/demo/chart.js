// A small line chart.

import { svg } from "./picture.js";

const WIDTH = 460, HEIGHT = 260, LEFT = 46, RIGHT = 62, TOP = 10, BOTTOM = 34;

/** Round numbers from 0 to at least `most`. */
function ticks(most) {
  const raw = most / 4, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= raw);
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, at) => at * step);
}

/** Draws series `[{ name, className, points: [[epoch, value], …] }]` over so many epochs into an element. */
export function drawChart(holder, series, epochs, label) {
  const values = series.flatMap(({ points }) => points.map(([, value]) => value)).filter(Number.isFinite);
  const marks = ticks(values.length ? Math.max(...values, 1e-3) : 1);
  const top = marks.at(-1);
  const x = (epoch) => LEFT + ((WIDTH - LEFT - RIGHT) * epoch) / epochs;
  const y = (value) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * Math.min(value, top)) / top;
  const last = series.filter(({ points }) => points.length).map(({ name, points }) => `${name} ${points.at(-1)[1].toFixed(3)} after epoch ${points.at(-1)[0]}`);
  const chart = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${label}: ${last.join(", ") || "no epoch yet"}` });
  for (const mark of marks) {
    const text = svg("text", { x: LEFT - 6, y: y(mark) + 4, "text-anchor": "end" });
    text.textContent = Number(mark.toPrecision(3));
    chart.append(svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(mark), y2: y(mark) }), text);
  }
  for (const epoch of new Set([0, Math.round(epochs / 2), epochs])) {
    const text = svg("text", { x: x(epoch), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" });
    text.textContent = epoch;
    chart.append(text);
  }
  const name = svg("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 2, "text-anchor": "middle" });
  name.textContent = "epoch";
  chart.append(name);
  const ends = [];
  for (const { name, className, points } of series) {
    if (!points.length) continue;
    const line = points.map(([epoch, value], at) => `${at ? "L" : "M"}${x(epoch).toFixed(1)} ${y(value).toFixed(1)}`).join("");
    chart.append(svg("path", { class: `${className}-line`, d: line }));
    ends.push({ name, className, x: x(points.at(-1)[0]), y: y(points.at(-1)[1]) });
  }
  // Names at the ends of the lines, apart from each other and above the axis.
  ends.sort((a, b) => b.y - a.y);
  ends.forEach((end, at) => {
    end.y = Math.min(end.y, at ? ends[at - 1].y - 15 : HEIGHT - BOTTOM - 6);
    const text = svg("text", { class: `${end.className}-name`, x: end.x + 6, y: end.y + 4 });
    text.textContent = end.name;
    chart.append(text);
  });
  holder.replaceChildren(chart);
}
