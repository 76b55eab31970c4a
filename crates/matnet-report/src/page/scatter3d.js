// Interactive scatter plots in three dimensions on a canvas.
(() => {
  for (const figure of document.querySelectorAll("figure.scatter3d")) {
    const data = JSON.parse(figure.querySelector("script").textContent);
    const live = figure.querySelector(".live");
    const canvas = live.querySelector("canvas");
    const drawing = figure.querySelector(".static");
    const namespace = drawing.querySelector("svg").namespaceURI;
    const context = canvas.getContext("2d");
    if (!context) continue;
    live.hidden = false;
    drawing.style.display = "none";
    const shown = data.names.map(() => true);
    const marks = data.marks.map(path => new Path2D(path));
    const count = data.points.length / 4;
    const size = count < 150 ? 1 : count < 800 ? 0.8 : count < 3000 ? 0.62 : 0.45;
    let azimuth, elevation, zoom;
    const reset = () => { [azimuth, elevation, zoom] = [data.azimuth, data.elevation, 1]; };
    reset();

    data.names.forEach((name, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      const mark = document.createElementNS(namespace, "svg");
      mark.setAttribute("width", 14);
      mark.setAttribute("height", 14);
      mark.setAttribute("viewBox", "-7 -7 14 14");
      mark.setAttribute("aria-hidden", "true");
      const path = document.createElementNS(namespace, "path");
      path.setAttribute("d", data.marks[place]);
      path.setAttribute("class", "f-c" + place % data.colors);
      mark.append(path);
      button.append(mark, name);
      button.addEventListener("click", () => {
        shown[place] = !shown[place];
        button.setAttribute("aria-pressed", String(shown[place]));
        draw();
      });
      live.querySelector(".legend").append(button);
    });

    const project = (x, y, z) => {
      const [a, e] = [azimuth * Math.PI / 180, elevation * Math.PI / 180];
      const right = x * Math.cos(a) - y * Math.sin(a);
      const back = x * Math.sin(a) + y * Math.cos(a);
      return [right, z * Math.cos(e) + back * Math.sin(e), z * Math.sin(e) - back * Math.cos(e)];
    };

    let waiting = false;
    const draw = () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; paint(); });
    };

    const paint = () => {
      const width = canvas.clientWidth;
      const height = Math.min(data.height, width);
      const fine = window.devicePixelRatio || 1;
      canvas.style.height = height + "px";
      canvas.width = Math.round(width * fine);
      canvas.height = Math.round(height * fine);
      const style = getComputedStyle(document.documentElement);
      const color = name => style.getPropertyValue("--" + name).trim();
      const unit = Math.min(width, height) / 2 / 1.8 * zoom;
      const place = (x, y, z) => {
        const [right, up, near] = project(x, y, z);
        return [width / 2 + right * unit, height / 2 - up * unit, near];
      };
      context.setTransform(fine, 0, 0, fine, 0, 0);
      context.clearRect(0, 0, width, height);
      context.strokeStyle = color("gridline");
      context.fillStyle = color("muted");
      context.font = "12px system-ui, sans-serif";
      context.textAlign = "center";
      for (let axis = 0; axis < 3; axis++) {
        for (const a of [-1, 1]) for (const b of [-1, 1]) {
          const corner = at => { const p = []; p[axis] = at; p[(axis + 1) % 3] = a; p[(axis + 2) % 3] = b; return place(...p); };
          const [from, to] = [corner(-1), corner(1)];
          context.beginPath();
          context.moveTo(from[0], from[1]);
          context.lineTo(to[0], to[1]);
          context.stroke();
        }
        const end = [-1, -1, -1];
        end[axis] = 1.12;
        const [x, y] = place(...end);
        context.fillText(data.axes[axis], x, y + 4);
      }
      const points = [];
      for (let i = 0; i < data.points.length; i += 4) {
        const cls = data.points[i];
        if (!shown[cls]) continue;
        points.push([cls, ...place(data.points[i + 1] / 1000, data.points[i + 2] / 1000, data.points[i + 3] / 1000)]);
      }
      points.sort((a, b) => a[3] - b[3]);
      const colors = data.names.map((_, cls) => color("c" + cls % data.colors));
      for (const [cls, x, y, depth] of points) {
        const near = Math.max(-1, Math.min(1, depth / Math.sqrt(3)));
        const scale = size * (1 + 0.3 * near) * Math.sqrt(zoom);
        context.setTransform(fine * scale, 0, 0, fine * scale, fine * x, fine * y);
        context.globalAlpha = 0.75 + 0.2 * near;
        context.fillStyle = colors[cls];
        context.fill(marks[cls]);
      }
      context.globalAlpha = 1;
    };

    const rotate = (dx, dy) => {
      azimuth -= dx;
      elevation = Math.max(-90, Math.min(90, elevation + dy));
      draw();
    };
    const scale = factor => { zoom = Math.max(0.4, Math.min(12, zoom * factor)); draw(); };
    const pointers = new Map();
    const spread = () => {
      const [a, b] = [...pointers.values()];
      return Math.hypot(a.x - b.x, a.y - b.y);
    };
    canvas.addEventListener("pointerdown", event => {
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", event => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const now = { x: event.clientX, y: event.clientY };
      if (pointers.size === 1) {
        rotate(-(now.x - before.x) * 0.5, (now.y - before.y) * 0.5);
        pointers.set(event.pointerId, now);
      } else if (pointers.size === 2) {
        const old = spread();
        pointers.set(event.pointerId, now);
        if (old > 0) scale(spread() / old);
      }
    });
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, event => pointers.delete(event.pointerId));
    }
    // Only while the canvas has the focus, so that the wheel otherwise scrolls the page.
    canvas.addEventListener("wheel", event => {
      if (document.activeElement !== canvas) return;
      event.preventDefault();
      scale(Math.exp(-event.deltaY * 0.0015));
    }, { passive: false });
    canvas.addEventListener("keydown", event => {
      const keys = {
        ArrowLeft: () => rotate(5, 0), ArrowRight: () => rotate(-5, 0),
        ArrowUp: () => rotate(0, -5), ArrowDown: () => rotate(0, 5),
        "+": () => scale(1.15), "=": () => scale(1.15), "-": () => scale(1 / 1.15),
        0: () => { reset(); draw(); },
      };
      const act = keys[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    new ResizeObserver(draw).observe(live);
    draw();
  }
})();
