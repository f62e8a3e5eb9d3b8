#pragma once

#include <string_view>

namespace sluice::emulator {

/// JavaScript of reports, for plots with numeric axes. If the pointer is on a plot, the nearest point's values are
/// shown. Dragging zooms all time series of one combination of swept values together; a double click or Escape resets
/// the zoom. Arrow keys move between points, + and - zoom. The script loads nothing and evaluates no text. `data-x`,
/// `data-y` (least, largest, lin or log) and `data-box` (left, top, right, bottom) of a plot map pixels to values
/// (svg_plot.cpp).
inline constexpr std::string_view report_script = R"js(
"use strict";
(() => {
const ns = document.querySelector("svg") ? document.querySelector("svg").namespaceURI : "";
const reading = document.body.appendChild(Object.assign(document.createElement("div"), {id: "reading"}));
const make = (name, attributes, text) => {
  const element = document.createElementNS(ns, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text) element.textContent = text;
  return element;
};
const written = value => String(Number(value.toPrecision(4)));
class Axis {
  constructor(text, from, to) {
    const [min, max, kind] = text.split(" ");
    Object.assign(this, {min: +min, max: +max, log: kind === "log", from, to});
  }
  value(pixel) {
    const share = (pixel - this.from) / (this.to - this.from);
    return this.log ? this.min * Math.pow(this.max / this.min, share) : this.min + share * (this.max - this.min);
  }
  pixel(value) {
    const share = this.log ? Math.log(value / this.min) / Math.log(this.max / this.min) : (value - this.min) / (this.max - this.min);
    return this.from + share * (this.to - this.from);
  }
}
function ticks(low, high, wanted, log) {
  const found = [];
  if (log && high / low > 2) {
    for (let decade = Math.floor(Math.log10(low)); decade <= Math.ceil(Math.log10(high)); ++decade)
      for (const step of high / low < 200 ? [1, 2, 5] : [1]) found.push(step * 10 ** decade);
  } else {
    const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find(each => each * power >= rough);
    for (let i = Math.ceil(low / step); i * step <= high; ++i) found.push(i * step);
  }
  return found.filter(each => each >= low * (1 - 1e-9) && each <= high * (1 + 1e-9));
}
class View {
  constructor(svg) {
    const [left, top, right, bottom] = svg.dataset.box.split(" ").map(Number);
    Object.assign(this, {svg, left, top, right, bottom, data: svg.querySelector(".data")});
    this.x = new Axis(svg.dataset.x, left, right);
    this.y = new Axis(svg.dataset.y, bottom, top);
    this.shapes = [];
    this.points = [];
    for (const element of this.data.children) this.take(element);
    this.points.sort((a, b) => a.x - b.x);
    this.show([left, right, top, bottom], true);
    svg.addEventListener("pointermove", event => this.moved(event));
    svg.addEventListener("pointerleave", () => this.leave());
    svg.addEventListener("pointerdown", event => { this.start = this.at(event); });
    svg.addEventListener("pointerup", event => this.dropped(event));
    svg.addEventListener("dblclick", () => this.all());
    svg.addEventListener("keydown", event => this.key(event));
    svg.addEventListener("blur", () => this.leave());
  }
  take(element) {
    const title = element.querySelector("title");
    const name = title ? title.textContent : "";
    if (title) title.remove();
    const place = element.getAttribute("transform");
    if (place) {
      const [x, y] = place.match(/-?[\d.]+/g).map(Number);
      this.shapes.push({element, x, y});
      this.points.push({x, y, name});
    } else if (element.tagName === "text") {
      this.shapes.push({element, text: true, x: +element.getAttribute("x"), y: +element.getAttribute("y")});
    } else if (element.tagName === "path") {
      const steps = element.getAttribute("d").match(/[MLZ]|-?[\d.]+/g) || [];
      this.shapes.push({element, steps});
      if (!name || element.classList.contains("area")) return;
      for (let i = 0; i + 2 < steps.length; ++i)
        if (steps[i] === "M" || steps[i] === "L") this.points.push({x: +steps[i + 1], y: +steps[i + 2], name, line: true});
    }
  }
  px(x) { return this.left + (x - this.part[0]) / (this.part[1] - this.part[0]) * (this.right - this.left); }
  py(y) { return this.top + (y - this.part[2]) / (this.part[3] - this.part[2]) * (this.bottom - this.top); }
  show(part, first) {
    this.part = part;
    if (first) return;
    for (const shape of this.shapes) {
      if (shape.steps) {
        let out = "", i = 0;
        while (i < shape.steps.length) {
          if (shape.steps[i] === "Z") { out += "Z"; ++i; continue; }
          out += shape.steps[i] + this.px(+shape.steps[i + 1]).toFixed(1) + " " + this.py(+shape.steps[i + 2]).toFixed(1);
          i += 3;
        }
        shape.element.setAttribute("d", out);
      } else if (shape.text) {
        shape.element.setAttribute("x", this.px(shape.x));
        shape.element.setAttribute("y", this.py(shape.y));
      } else {
        shape.element.setAttribute("transform", `translate(${this.px(shape.x).toFixed(1)} ${this.py(shape.y).toFixed(1)})`);
      }
    }
    for (const old of this.svg.querySelectorAll(".gx, .gy")) old.remove();
    const add = (...parts) => this.svg.insertBefore(make(...parts), this.data);
    const letter = 6.2;  // pixels, as the plots are drawn with
    let taken = 0;
    for (const tick of ticks(this.x.value(part[0]), this.x.value(part[1]), this.svg.viewBox.baseVal.width / 90, this.x.log)) {
      const at = this.px(this.x.pixel(tick));
      add("line", {x1: at, x2: at, y1: this.top, y2: this.bottom, class: "grid gx"});
      const half = written(tick).length * letter / 2;
      if (at - half < taken + letter) continue;
      add("text", {x: at, y: this.bottom + 14, "text-anchor": "middle", class: "tick gx"}, written(tick));
      taken = at + half;
    }
    for (const tick of ticks(this.y.value(part[3]), this.y.value(part[2]), (this.bottom - this.top) / 38, this.y.log)) {
      const at = this.py(this.y.pixel(tick));
      add("line", {x1: this.left, x2: this.right, y1: at, y2: at, class: "grid gy"});
      add("text", {x: this.left - 5, y: at + 3.5, "text-anchor": "end", class: "tick gy"}, written(tick));
    }
    this.leave();
  }
  /// The same stretch of time in the plots beside and below.
  spread(part) {
    const grid = this.svg.closest(".together");
    for (const view of views)
      if (view === this) view.show(part);
      else if (grid && view.svg.closest(".together") === grid) view.show([part[0], part[1], view.part[2], view.part[3]]);
  }
  all() {
    const grid = this.svg.closest(".together");
    for (const view of views)
      if (view === this || (grid && view.svg.closest(".together") === grid)) view.show([view.left, view.right, view.top, view.bottom]);
  }
  at(event) {
    const box = this.svg.getBoundingClientRect(), scale = this.svg.viewBox.baseVal.width / box.width;
    return {x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale};
  }
  moved(event) {
    const here = this.at(event);
    if (this.start && event.buttons & 1) return this.frame(here);
    let best = null, least = Infinity;
    this.points.forEach((point, index) => {
      const distance = Math.hypot(this.px(point.x) - here.x, (this.py(point.y) - here.y) * (point.line ? 0.3 : 1));
      if (distance < least) { least = distance; best = index; }
    });
    if (best === null || least > 40) return this.leave();
    this.read(best);
  }
  read(index) {
    this.leave();
    this.now = index;
    const point = this.points[index], x = this.px(point.x), y = this.py(point.y);
    this.cursor = this.svg.appendChild(make("line", {x1: x, x2: x, y1: this.top, y2: this.bottom, class: "cursor"}));
    const box = this.svg.getBoundingClientRect(), scale = box.width / this.svg.viewBox.baseVal.width;
    reading.textContent = point.line ? `${point.name}: ${written(this.x.value(point.x))}, ${written(this.y.value(point.y))}` : point.name;
    reading.style.display = "block";
    const right = box.left + x * scale + 12 + reading.offsetWidth < document.documentElement.clientWidth;
    reading.style.left = `${box.left + scrollX + x * scale + (right ? 12 : -12 - reading.offsetWidth)}px`;
    reading.style.top = `${box.top + scrollY + y * scale - 30}px`;
  }
  leave() {
    if (this.cursor) this.cursor.remove();
    this.cursor = null;
    reading.style.display = "none";
  }
  frame(here) {
    this.leave();
    if (!this.box) this.box = this.svg.appendChild(make("rect", {class: "frame"}));
    const [x, y] = [Math.min(here.x, this.start.x), Math.min(here.y, this.start.y)];
    const size = {x, y, width: Math.abs(here.x - this.start.x), height: Math.abs(here.y - this.start.y)};
    for (const key in size) this.box.setAttribute(key, size[key]);
  }
  dropped(event) {
    if (this.box) this.box.remove();
    const from = this.start, to = this.at(event);
    this.box = this.start = null;
    if (!from || Math.abs(to.x - from.x) < 6 || Math.abs(to.y - from.y) < 6) return;
    const held = (value, low, high) => Math.min(Math.max(value, low), high);
    const x = at => this.part[0] + (held(at, this.left, this.right) - this.left) / (this.right - this.left) * (this.part[1] - this.part[0]);
    const y = at => this.part[2] + (held(at, this.top, this.bottom) - this.top) / (this.bottom - this.top) * (this.part[3] - this.part[2]);
    const part = [x(Math.min(from.x, to.x)), x(Math.max(from.x, to.x)), y(Math.min(from.y, to.y)), y(Math.max(from.y, to.y))];
    if (part[1] - part[0] > 0.2 && part[3] - part[2] > 0.2) this.spread(part);
  }
  key(event) {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key], size = {"+": 0.5, "-": 2}[event.key];
    if (step && this.points.length) this.read(((this.now ?? -step) + step + this.points.length) % this.points.length);
    else if (size) {
      const point = this.points[this.now], half = size * (this.part[1] - this.part[0]) / 2;
      const middle = point ? point.x : (this.part[0] + this.part[1]) / 2;
      this.spread([Math.max(this.left, middle - half), Math.min(this.right, middle + half), this.part[2], this.part[3]]);
    } else if (event.key === "Escape") this.all();
    else return;
    event.preventDefault();
  }
}
const hints = [...document.querySelectorAll(".scroll")].map(part => {
  const hint = Object.assign(document.createElement("p"), {className: "soft hint", textContent: "This part has more to the right \u2192"});
  part.before(hint);
  return () => { hint.hidden = part.scrollWidth <= part.clientWidth; };
});
const showHints = () => hints.forEach(show => show());
showHints();
addEventListener("resize", showHints);
document.addEventListener("toggle", showHints, true);
const views = [...document.querySelectorAll("svg.plot[data-box]")].map(svg => new View(svg));
})();
)js";

}  // namespace sluice::emulator
