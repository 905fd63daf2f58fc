// Text, colours and small helpers. Names come from files: they reach the page through textContent,
// setAttribute and fillText only.
window.addEventListener("error", event => {
  const box = document.createElement("p");
  box.id = "failure";
  box.setAttribute("role", "alert");
  box.textContent = "This page could not be drawn in full: " + event.message;
  document.body.prepend(box);
});
const $ = id => document.getElementById(id);

// ---- numbers ------------------------------------------------------------------------------------
const digits = x => x >= 999.5 ? 0 : x >= 99.95 ? 1 : x >= 9.995 ? 2 : 3;
const fixed = (x, unit) => x.toFixed(digits(Math.abs(x))) + "\u00a0" + unit;
const scientific = (x, unit) => x.toExponential(3) + "\u00a0" + unit;
const time = us => us === 0 ? "0" : Math.abs(us) < 0.9995e-6 ? scientific(us, "µs")
  : Math.abs(us) < 0.9995e-3 ? fixed(us * 1e6, "ps") : Math.abs(us) < 0.9995 ? fixed(us * 1e3, "ns")
  : Math.abs(us) < 999.5 ? fixed(us, "µs") : Math.abs(us) < 999.5e3 ? fixed(us / 1e3, "ms")
  : Math.abs(us) < 1e15 ? fixed(us / 1e6, "s") : scientific(us / 1e6, "s");
const bytes = b => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let u = 0;
  while (b >= 1023.5 && u + 1 < units.length) { b /= 1024; ++u; }
  return (u === 0 ? b : b.toFixed(b >= 99.5 ? 0 : b >= 9.95 ? 1 : 2)) + "\u00a0" + units[u];
};
const percent = x => (100 * x).toFixed(x < 0.0995 ? 1 : 0) + "\u00a0%";
const count = n => n.toLocaleString("en");
// Cut in the middle; whoever shows it gives the whole text as a title where that matters.
const brief = (text, most) => text.length <= most ? text
  : text.slice(0, Math.ceil(most / 2) - 1) + "…" + text.slice(-Math.floor(most / 2));
const plural = (n, noun) => count(n) + " " + noun + (n === 1 ? "" : "s");
// A change by a factor: "+1.25 %", "−7.1 %", "±0", "3.2 ×".
function change(to, from) {
  if (!(from > 0)) return "–";
  const x = 100 * (to / from - 1), size = Math.abs(x);
  if (size < 0.0005) return "±0";
  if (x >= 100) return (to / from).toFixed(to / from >= 9.95 ? 0 : 1) + "\u00a0×";
  return (x < 0 ? "−" : "+") + size.toFixed(size >= 9.95 ? 1 : size >= 0.0995 ? 2 : 3) + "\u00a0%";
}

// ---- elements -----------------------------------------------------------------------------------
function element(tag, content, className) {
  const e = document.createElement(tag);
  if (content instanceof Node) e.append(content);
  else if (Array.isArray(content)) e.append(...content);
  else if (content !== undefined) e.textContent = content;
  if (className) e.className = className;
  return e;
}
function definitions(pairs) {
  return pairs.map(([term, value]) => element("div", [element("dt", term), element("dd", value)]));
}
// columns: [title, is text]. Cells are strings, nodes, or [content, class].
function table(parent, caption, columns, rows) {
  const head = element("tr", columns.map(([title, isText]) => {
    const cell = element("th", title, isText ? "text" : "");
    cell.scope = "col";
    return cell;
  }));
  const body = element("tbody");
  for (const { cells, className } of rows) {
    const row = element("tr", undefined, className);
    cells.forEach((cell, i) => {
      const [content, extra] = Array.isArray(cell) ? cell : [cell, ""];
      const e = element(i === 0 ? "th" : "td", content,
                        [extra, columns[i][1] ? "text" : ""].join(" ").trim());
      if (i === 0) e.scope = "row";
      if (extra === "name") e.title = e.textContent;
      row.append(e);
    });
    body.append(row);
  }
  parent.replaceChildren(element("caption", caption, "unseen"), element("thead", head), body);
  return parent;
}
function scrollable(tableElement, label) {
  const box = element("div", tableElement, "scroll");
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", label);
  return box;
}
function meter(share, colour, className) {
  const fill = element("i"), bar = element("span", fill, "meter " + (className || ""));
  fill.style.width = Math.max(0, Math.min(100 * share, 100)) + "%";
  if (colour) fill.style.background = colour;
  bar.setAttribute("aria-hidden", "true");
  return bar;
}

// ---- colours ------------------------------------------------------------------------------------
// Eight hues that stay apart for colour-blind readers: any two differ by at least 23 in CIE Lab as
// they are seen and under deuteranopia and protanopia (Machado, Oliveira and Fernandes, "A
// physiologically-based model for simulation of color vision deficiency", 2009), and each stands
// out 3:1 against the panel. A device has the same one everywhere.
const HUES = 8;
let theme = {};
function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const value = name => style.getPropertyValue("--" + name).trim();
  theme = { hues: [...Array(HUES).keys()].map(i => value("d" + i)) };
  for (const name of ["page", "panel", "ink", "soft", "line", "grid", "lane", "accent", "bad",
                      "other"]) theme[name] = value(name);
  mixed.clear();
}
const rgb = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
const mixed = new Map();
function mix(a, b, share) {
  const key = a + b + share;
  if (!mixed.has(key)) {
    const x = rgb(a), y = rgb(b);
    mixed.set(key, "#" + x.map((v, i) => Math.round(v * share + y[i] * (1 - share))
      .toString(16).padStart(2, "0")).join(""));
  }
  return mixed.get(key);
}
// Of a device. Beyond eight the hues come again, darker and lighter.
function hue(d) {
  const i = hueRank[d], colour = theme.hues[i % HUES], round = Math.floor(i / HUES) % 3;
  return round === 0 ? colour : mix(colour, round === 1 ? theme.ink : theme.panel, 0.6);
}
const tint = colour => mix(colour, theme.panel, 0.34);
function luminance(hex) {
  const [r, g, b] = rgb(hex).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function textOn(colour) {
  const key = "text" + colour;
  if (!mixed.has(key)) mixed.set(key, luminance(colour) > 0.2 ? "#14171c" : "#ffffff");
  return mixed.get(key);
}
function swatch(colour) {
  const e = element("span", "", "swatch");
  e.style.background = colour;
  e.setAttribute("aria-hidden", "true");
  return e;
}

// ---- canvases -----------------------------------------------------------------------------------
const FONT = "system-ui, \"Segoe UI\", Roboto, \"DejaVu Sans\", sans-serif";
const TALLEST = 16000;  // pixels: browsers draw nothing on larger canvases
// Sizes the canvas to its parent's width; drawing is in CSS pixels afterwards.
function fitCanvas(canvas, context, height) {
  const width = Math.max(canvas.parentElement.clientWidth, 280);
  const ratio = Math.min(window.devicePixelRatio || 1, Math.max(TALLEST / height, 0.25));
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = height + "px";
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return width;
}
function clipped(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  let low = 0, high = Math.min(text.length, 200);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(text.slice(0, middle) + "…").width <= room) low = middle;
    else high = middle - 1;
  }
  return low > 1 ? text.slice(0, low) + "…" : "";
}
// Calls paint once before the next frame, however often it is asked for.
function painter(paint) {
  let pending = false;
  const request = () => {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => { pending = false; paint(); });
  };
  request.now = paint;
  return request;
}
function showTip(event, title, lines) {
  const tip = $("tip");
  tip.replaceChildren(element("b", title), ...lines.map(line => element("p", line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect(), gap = 16;
  const left = event.clientX + gap + box.width > innerWidth ? event.clientX - gap - box.width
    : event.clientX + gap;
  const top = event.clientY + gap + box.height > innerHeight ? event.clientY - gap - box.height
    : event.clientY + gap;
  tip.style.left = Math.max(4, left) + "px";
  tip.style.top = Math.max(4, top) + "px";
}
const hideTip = () => { $("tip").hidden = true; };
// Dragging of a canvas: move(dx, dy) since the last call; click(event) if it did not move.
function draggable(canvas, move, click, hover) {
  let drag = null;
  canvas.addEventListener("pointerdown", event => {
    if (event.button !== 0) return;
    drag = { x: event.clientX, y: event.clientY, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    if (!drag) return hover(event);
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
    hideTip();
    canvas.classList.add("moving");
    drag = { x: event.clientX, y: event.clientY, moved: true };
    move(dx, dy);
  });
  const end = event => {
    if (drag && !drag.moved && event.type === "pointerup") click(event);
    drag = null;
    canvas.classList.remove("moving");
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", hideTip);
}
function onKeys(canvas, keys) {
  canvas.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = keys[(event.shiftKey && event.key.length > 1 ? "Shift+" : "") + name];
    if (!action || action() === false) return;
    event.preventDefault();
    event.stopPropagation();
    hideTip();
  });
}
