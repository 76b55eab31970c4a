"use strict";
// Hints of drawings at once and at the pointer, instead of the browser's slow ones.
(() => {
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  for (const svg of document.querySelectorAll("figure svg")) {
    const hints = new Map();
    for (const title of svg.querySelectorAll("title")) {
      hints.set(title.parentNode, title.textContent);
      title.remove();
    }
    if (!hints.size) continue;
    const guide = document.createElementNS(svg.namespaceURI, "line");
    guide.setAttribute("class", "guide");
    const hide = () => { tip.hidden = true; guide.remove(); };
    svg.addEventListener("pointerleave", hide);
    svg.addEventListener("pointermove", event => {
      const text = hints.get(event.target);
      if (text === undefined) return hide();
      tip.textContent = text;
      tip.hidden = false;
      const right = event.clientX + 14 + tip.offsetWidth > document.documentElement.clientWidth;
      tip.style.left = Math.max(4, event.pageX + (right ? -14 - tip.offsetWidth : 14)) + "px";
      tip.style.top = event.pageY + 14 + "px";
      if (event.target.getAttribute("class") !== "hint") return guide.remove();
      const area = event.target;
      const number = name => Number(area.getAttribute(name));
      guide.setAttribute("x1", number("data-x"));
      guide.setAttribute("x2", number("data-x"));
      guide.setAttribute("y1", number("y"));
      guide.setAttribute("y2", number("y") + number("height"));
      svg.append(guide);
    });
  }
})();
// Tables sorted by a click on a column's name: numbers by size, empty cells last.
(() => {
  for (const table of document.querySelectorAll("table.sort")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach(other => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = table.tBodies[0];
        const key = row => row.cells[column];
        const compare = (a, b) => {
          const [x, y] = [key(a).dataset.v, key(b).dataset.v];
          const numeric = head.classList.contains("n");
          if (numeric && (x === undefined || y === undefined)) return (x === undefined) - (y === undefined);
          const order = numeric ? x - y : key(a).textContent.localeCompare(key(b).textContent);
          return down ? -order : order;
        };
        body.append(...[...body.rows].sort(compare));
      });
    });
  }
})();
