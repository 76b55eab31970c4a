"use strict";
// Tooltips of drawings without the browser's delay, and by touch.
(() => {
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  let guide;
  const hide = () => { tip.hidden = true; guide?.remove(); };
  for (const svg of document.querySelectorAll("figure svg")) {
    const texts = new Map();
    for (const title of svg.querySelectorAll("title")) {
      texts.set(title.parentNode, title.textContent);
      title.remove();
    }
    if (!texts.size) continue;
    guide ??= document.createElementNS(svg.namespaceURI, "line");
    guide.setAttribute("class", "guide");
    const show = event => {
      const text = texts.get(event.target);
      if (text === undefined) return hide();
      tip.textContent = text;
      tip.hidden = false;
      const right = event.clientX + 14 + tip.offsetWidth > document.documentElement.clientWidth;
      tip.style.left = Math.max(4, event.pageX + (right ? -14 - tip.offsetWidth : 14)) + "px";
      tip.style.top = event.pageY + 14 + "px";
      if (event.target.getAttribute("class") !== "hover") return guide.remove();
      const area = event.target;
      const number = name => Number(area.getAttribute(name));
      guide.setAttribute("x1", number("data-x"));
      guide.setAttribute("x2", number("data-x"));
      guide.setAttribute("y1", number("y"));
      guide.setAttribute("y2", number("y") + number("height"));
      svg.append(guide);
    };
    svg.addEventListener("pointermove", show);
    svg.addEventListener("pointerdown", show);
    // A finger leaves as soon as it is lifted: its tooltip stays until the next touch elsewhere.
    svg.addEventListener("pointerleave", event => { if (event.pointerType !== "touch") hide(); });
  }
  document.addEventListener("pointerdown", event => { if (!event.target.closest("figure svg")) hide(); });
})();
