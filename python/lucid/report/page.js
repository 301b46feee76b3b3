/* SPDX-License-Identifier: BSD-3-Clause */
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const state = { session: data.sessions[0], view: "all", by: "bytes" };
  const byId = (id) => document.getElementById(id);
  const svg = document.querySelector("#figure svg");
  const plot = svg.querySelector(".cells").parentNode;
  const side = 560;
  const colors = data.colors.map((c) => [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)));

  /* figures as the rest of the page writes them */
  const three = (v) => (v >= 99.95 ? v.toFixed(0) : v >= 9.995 ? v.toFixed(1) : v.toFixed(2));
  function size(v) {
    if (v < 1000) return (Number.isInteger(v) ? v : three(v)) + " B";
    const units = ["kB", "MB", "GB", "TB", "PB", "EB"];
    let u = -1;
    do { v /= 1000; u += 1; } while (v >= 999.5 && u < units.length - 1);
    return three(v) + " " + units[u];
  }
  const count = (v) => v.toLocaleString("en-US");
  function percent(part, whole) {
    if (!(whole > 0) || !(part > 0)) return "0 %";
    const p = 100 * part / whole;
    if (part >= whole) return "100 %";
    if (p < 0.1) return "< 0.1 %";
    if (p > 99.9) return "> 99.9 %";
    return (p < 1 || p > 99 ? p.toFixed(1) : p.toFixed(0)) + " %";
  }
  const messages = (v) => count(v) + (v === 1 ? " message" : " messages");
  const amount = (v) => (state.by === "bytes" ? size(v) : count(Math.round(v)));

  /* the matrix of a view: key i * n + j -> [messages, bytes] */
  function fold(session, kinds) {
    const wanted = new Set(kinds), sums = new Map(), c = session.cells;
    for (let k = 0; k < c.length; k += 5) {
      if (!wanted.has(c[k + 2])) continue;
      const key = c[k] * session.size + c[k + 1], sum = sums.get(key);
      if (sum) { sum[0] += c[k + 3]; sum[1] += c[k + 4]; } else sums.set(key, [c[k + 3], c[k + 4]]);
    }
    return sums;
  }
  function range(sums, index) {
    let low = Infinity, high = 0;
    for (const sum of sums.values()) {
      const v = sum[index];
      if (v > 0) { low = Math.min(low, v); high = Math.max(high, v); }
    }
    return { low, high };
  }
  const place = (r, v) => (r.high > r.low ? Math.log(v / r.low) / Math.log(r.high / r.low) : 1);

  function picture(size, sums, index, r) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = size;
    const context = canvas.getContext("2d"), image = context.createImageData(size, size);
    image.data.fill(255);
    for (const [key, sum] of sums) {
      if (sum[index] > 0) image.data.set(colors[Math.round(255 * place(r, sum[index]))], 4 * key);
    }
    context.putImageData(image, 0, 0);
    return canvas.toDataURL();
  }

  function element(name, attributes, text) {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) e.setAttribute(key, attributes[key]);
    if (text !== undefined) e.textContent = text;
    return e;
  }

  /* powers of ten, or the two ends where there are fewer than two; as scale.py has it */
  function ticks(r) {
    const first = Math.ceil(Math.log10(r.low) - 1e-9), last = Math.floor(Math.log10(r.high) + 1e-9);
    if (last - first < 1) return r.high > r.low ? [r.low, r.high] : [r.low];
    const step = Math.ceil((last - first + 1) / 7), found = [];
    for (let e = first; e <= last; e += step) found.push(10 ** e);
    return found;
  }
  const tickLabel = (v) => (state.by === "bytes" ? size(v).replace(/\.0+ /, " ") : count(Math.round(v)));

  function renewBar(r) {
    const bar = svg.querySelector(".bar");
    if (!bar) return;
    bar.querySelectorAll(".tick, .tick + text").forEach((e) => e.remove());
    bar.querySelector("text").textContent = state.by;
    const length = 0.62 * side;
    if (!(r.high > 0)) return;
    for (const v of ticks(r)) {
      const y = length * (1 - place(r, v));
      bar.append(element("path", { d: `M14 ${y}h4`, stroke: "#1b1f24", "stroke-width": .75, class: "tick" }),
        element("text", { x: 22, y: y + 3.5 }, tickLabel(v)));
    }
  }

  let shownSums = new Map();
  const view = () => state.session.views.find((v) => v.key === state.view) || state.session.views[0];
  const index = () => (state.by === "bytes" ? 1 : 0);

  function renewMatrix() {
    shownSums = fold(state.session, view().kinds);
    const r = range(shownSums, index());
    const cells = element("g", { class: "cells" });
    cells.append(element("image", { width: side, height: side, href: picture(state.session.size, shownSums, index(), r),
      preserveAspectRatio: "none", style: "image-rendering:pixelated" }));
    plot.querySelector(".cells").replaceWith(cells);
    renewBar(r);
  }

  const row = (cells) => {
    const tr = document.createElement("tr");
    for (const [name, text, width] of cells) {
      const cell = document.createElement(name);
      if (width === undefined) cell.textContent = text;
      else {
        cell.className = "bar";
        if (width > 0) cell.appendChild(document.createElement("i")).style.width = width + "%";
      }
      tr.append(cell);
    }
    return tr;
  };

  function renewTables() {
    const v = view(), total = v.total, at = index(), nodes = state.session.rankNodes;
    const words = { itself: "a rank to itself", package: "within a package", node: "within a node", between: "between nodes" };
    byId("distances").replaceChildren(...Object.keys(words).map((name) => {
      const d = v.distances[name], share = total[at] ? 100 * d[at] / total[at] : 0;
      return row([["th", words[name]], ["td", count(d[0])], ["td", size(d[1])], ["td", percent(d[at], total[at])], ["td", "", share]]);
    }));
    const most = Math.max(1, ...v.bins.map((b) => b[1])), all = v.bins.reduce((s, b) => s + b[1], 0);
    byId("sizes").replaceChildren(...v.bins.map(([label, n]) =>
      row([["th", label], ["td", "", 100 * n / most], ["td", count(n)], ["td", percent(n, all)]])));
    byId("pairs").replaceChildren(...v.pairs[state.by].map(([s, r, m, b]) =>
      row([["td", `${s} → ${r}`], ["td", `${nodes[s]} → ${nodes[r]}`], ["td", count(m)], ["td", size(b)],
        ["td", percent([m, b][at], total[at])]])));
  }

  function renewGallery() {
    for (const button of document.querySelectorAll(".view")) {
      const v = state.session.views.find((w) => w.key === button.dataset.view);
      button.hidden = !v;
      button.setAttribute("aria-pressed", String(v === view()));
      if (!v) continue;
      const sums = fold(state.session, v.kinds);
      button.querySelector("img").src = picture(state.session.size, sums, index(), range(sums, index()));
      button.querySelector(".amount").textContent =
        `${amount(v.total[index()])}, ${percent(v.total[index()], state.session.views[0].total[index()])}`;
    }
  }

  function renewWords() {
    const button = document.querySelector(`.view[data-view="${CSS.escape(view().key)}"] .name`);
    const name = (button ? button.textContent : view().key) + (data.sessions.length > 1 ? `, ${state.session.label}` : "");
    byId("shown").textContent = `Shown: ${name}: ${size(view().total[1])} in ${messages(view().total[0])}.`;
    document.querySelectorAll(".what").forEach((e) => { e.textContent = name; });
  }

  function renew(gallery) {
    renewMatrix();
    renewTables();
    if (gallery) renewGallery();
    document.querySelectorAll(".view").forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.view === view().key)));
    renewWords();
  }

  /* the tooltip and the crosshair */
  const hint = byId("hint"), mark = element("rect", { fill: "none", stroke: "#d9480f", "stroke-width": 1.5, "pointer-events": "none" });
  function point(event) {
    const frame = plot.getScreenCTM(), n = state.session.size;
    const x = (event.clientX - frame.e) / frame.a, y = (event.clientY - frame.f) / frame.d;
    if (x < 0 || y < 0 || x >= side || y >= side) { hint.hidden = true; mark.remove(); return; }
    const j = Math.floor(x * n / side), i = Math.floor(y * n / side), step = side / n, s = state.session;
    const sum = shownSums.get(i * n + j) || [0, 0];
    const seat = (k) => (s.unit === "rank" ? "rank " : s.unit === "ranks" ? "ranks " : "") + s.labels[k] + (s.nodes[k] ? ` (${s.nodes[k]})` : "");
    hint.textContent = `${seat(i)} → ${seat(j)}\n${sum[0] ? `${size(sum[1])}${sum[1] < 1000 ? "" : ` (${count(sum[1])} B)`} in ${messages(sum[0])}` : "nothing"}`;
    hint.hidden = false;
    hint.style.left = Math.min(event.clientX + 14, innerWidth - hint.offsetWidth - 8) + "px";
    hint.style.top = Math.min(event.clientY + 16, innerHeight - hint.offsetHeight - 8) + "px";
    for (const [key, value] of Object.entries({ x: j * step, y: i * step, width: step, height: step })) mark.setAttribute(key, value);
    plot.append(mark);
  }
  svg.addEventListener("pointermove", point);
  svg.addEventListener("pointerleave", () => { hint.hidden = true; mark.remove(); });

  byId("gallery").addEventListener("click", (event) => {
    const button = event.target.closest(".view");
    if (button) { state.view = button.dataset.view; renew(false); }
  });
  document.querySelectorAll("[data-by]").forEach((button) => button.addEventListener("click", () => {
    state.by = button.dataset.by;
    document.querySelectorAll("[data-by]").forEach((b) => b.setAttribute("aria-pressed", String(b === button)));
    renew(true);
  }));
  const sessions = byId("session");
  if (sessions) sessions.addEventListener("change", () => { state.session = data.sessions[sessions.value]; renew(true); });

  document.body.classList.add("scripted");
  renew(false);
})();
