"use strict";
(() => {
  // Tables sort by the buttons that stand in for their headings.
  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.sort !== undefined ? Number(cell.dataset.sort) : cell.textContent.trim();
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  };
  const sort = (table, column, heading) => {
    const numeric = heading.classList.contains("number");
    const now = heading.getAttribute("aria-sort");
    const next = now === "none" ? (numeric ? "descending" : "ascending") : now === "ascending" ? "descending" : "ascending";
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", next);
    const sign = next === "ascending" ? 1 : -1;
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, key: value(row, column) }));
    // In a column of numbers a text says "not defined", and stays last either way.
    const undefinedLast = (item) => (numeric && typeof item.key !== "number" ? 1 : 0);
    rows.sort((a, b) => undefinedLast(a) - undefinedLast(b) || sign * compare(a.key, b.key));
    body.append(...rows.map((item) => item.row));
  };
  for (const table of document.querySelectorAll("table")) {
    if (!table.tHead || table.tBodies[0].rows.length < 2) continue;
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      heading.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(table, column, heading));
    });
  }
  // A box that scrolls must be reachable by keyboard.
  const reach = () => {
    for (const box of document.querySelectorAll(".scroll")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  reach();
  addEventListener("resize", reach);

  // One tooltip for all pictures, for pointer and keyboard alike.
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.setAttribute("role", "status");
  tip.hidden = true;
  document.body.append(tip);
  const show = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(6, Math.min(x + 14, innerWidth - box.width - 6))}px`;
    tip.style.top = `${y - box.height - 12 > 6 ? y - box.height - 12 : y + 18}px`;
  };
  let active = null;
  const leave = () => {
    tip.hidden = true;
    if (active) active.classList.remove("active");
    active = null;
    for (const spot of document.querySelectorAll(".spot")) spot.remove();
  };
  const enter = (mark, x, y) => {
    leave();
    active = mark;
    mark.classList.add("active");
    const box = mark.getBoundingClientRect();
    show(mark.dataset.tip, x ?? box.right, y ?? box.top);
  };

  // The data of pictures with more points than elements, read once each.
  const stores = new Map();
  const stored = (id, read) => {
    const element = id ? document.getElementById(id) : null;
    if (element && !stores.has(id)) stores.set(id, read(JSON.parse(element.textContent)));
    return stores.get(id);
  };
  const printed = {
    percent: (share) => `${(100 * share).toFixed(1)} %`,
    points: (share) => (100 * share).toFixed(1),
    count: (value) => value.toLocaleString("en"),
  };

  const scatter = (svg, cloud) => {
    const [xLow, xHigh, xStart, xEnd] = svg.dataset.x.split(" ").map(Number);
    const [yLow, yHigh, yStart, yEnd] = svg.dataset.y.split(" ").map(Number);
    const places = cloud.points.map(([x, y]) => [
      xStart + (Math.log(x / xLow) / Math.log(xHigh / xLow)) * (xEnd - xStart),
      yStart + ((y - yLow) / (yHigh - yLow)) * (yEnd - yStart),
    ]);
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      const scale = box.width / svg.viewBox.baseVal.width;
      const x = (event.clientX - box.left) / scale;
      const y = (event.clientY - box.top) / scale;
      let best = -1;
      let least = 14 * 14;
      places.forEach(([a, b], i) => {
        const distance = (a - x) ** 2 + (b - y) ** 2;
        if (distance < least) [best, least] = [i, distance];
      });
      leave();
      if (best < 0) return;
      const [across, up, series, name] = cloud.points[best];
      const spot = document.createElementNS(svg.namespaceURI, "circle");
      spot.setAttribute("class", "spot");
      spot.setAttribute("cx", places[best][0]);
      spot.setAttribute("cy", places[best][1]);
      spot.setAttribute("r", 6);
      svg.append(spot);
      const values = {
        name, series: cloud.labels[series], x: printed[cloud.x_unit](across), y: printed[cloud.y_unit](up),
      };
      const text = cloud.hover.replace(/\{(name|series|x|y)\}/g, (_, key) => values[key]);
      show(text, event.clientX, event.clientY);
    });
  };

  // Maps: drawn anew by label, group or the group's value, and only above a value if asked.
  const unpack = (text, Kind) => {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return new Kind(bytes.buffer);
  };
  const readMap = (land) => {
    for (const name of ["x", "y", "groups"]) land[name] = unpack(land[name], Uint16Array);
    land.labels = unpack(land.labels, Uint8Array);
    return Object.assign(land, { by: "label", above: 0, drawings: [] });
  };
  const EXTENT = 4095;
  const PIXELS = 1240;
  const maps = new Set();
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const paint = (land) => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = PIXELS;
    const brush = canvas.getContext("2d");
    const series = [0, 1, 2, 3, 4, 5].map((i) => color(`s${i}`));
    const [muted, hot] = [color("uncovered"), color("s2")];
    const most = Math.max(...land.values, 0.01);
    const radius = 3.4;
    for (let i = 0; i < land.x.length; i += 1) {
      const value = land.values[land.groups[i]];
      const kept = value >= land.above;
      brush.globalAlpha = kept ? 0.75 : 0.12;
      if (!kept) brush.fillStyle = muted;
      else if (land.by === "label") brush.fillStyle = series[land.labels[i] % 6];
      else if (land.by === land.group_is) brush.fillStyle = `hsl(${(land.groups[i] * 137.508) % 360} 60% 50%)`;
      else {
        brush.fillStyle = hot;
        brush.globalAlpha = 0.08 + 0.85 * Math.min(1, value / most);
      }
      brush.beginPath();
      brush.arc((land.x[i] / EXTENT) * PIXELS, (1 - land.y[i] / EXTENT) * PIXELS, radius, 0, 7);
      brush.fill();
    }
    const address = canvas.toDataURL();
    for (const { image, outlines } of land.drawings) {
      image.setAttribute("href", address);
      outlines.forEach((path, i) => {
        const hidden = land.values[land.outlined[i]] < land.above;
        if (hidden) path.setAttribute("display", "none");
        else path.removeAttribute("display");
      });
    }
  };
  const controls = (svg, land) => {
    const box = document.createElement("div");
    box.className = "controls";
    const set = document.createElement("fieldset");
    const legend = document.createElement("legend");
    legend.textContent = "Color by";
    set.append(legend);
    for (const by of ["label", land.group_is, land.value_is]) {
      const label = document.createElement("label");
      const choice = document.createElement("input");
      choice.type = "radio";
      choice.name = `${svg.dataset.map}-color-${land.drawings.length}`;
      choice.value = by;
      choice.checked = by === land.by;
      choice.addEventListener("change", () => {
        land.by = by;
        paint(land);
      });
      label.append(choice, ` ${by}`);
      set.append(label);
    }
    const label = document.createElement("label");
    const slider = document.createElement("input");
    const output = document.createElement("output");
    slider.type = "range";
    slider.min = 0;
    slider.max = Math.max(...land.values).toFixed(3);
    slider.step = 0.005;
    slider.value = 0;
    output.textContent = "0.00";
    slider.addEventListener("input", () => {
      land.above = Number(slider.value);
      output.textContent = land.above.toFixed(2);
      paint(land);
    });
    label.append(`${land.value_is[0].toUpperCase()}${land.value_is.slice(1)} from `, slider, " ", output);
    box.append(set, label);
    svg.before(box);
  };
  const pointMap = (svg, land) => {
    controls(svg, land);
    maps.add(land);
    land.drawings.push({ image: svg.querySelector("image"), outlines: [...svg.querySelectorAll(".outline")] });
    const [top, side] = [Number(svg.dataset.top), Number(svg.dataset.side)];
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      const scale = box.width / svg.viewBox.baseVal.width;
      const x = (((event.clientX - box.left) / scale) / side) * EXTENT;
      const y = (1 - ((event.clientY - box.top) / scale - top) / side) * EXTENT;
      let best = -1;
      let least = (7 / side * EXTENT) ** 2;
      for (let i = 0; i < land.x.length; i += 1) {
        const distance = (land.x[i] - x) ** 2 + (land.y[i] - y) ** 2;
        if (distance < least && land.values[land.groups[i]] >= land.above) [best, least] = [i, distance];
      }
      leave();
      const outline = event.target.closest(".outline");
      if (best < 0) {
        if (outline) enter(outline, event.clientX, event.clientY);
        return;
      }
      const spot = document.createElementNS(svg.namespaceURI, "circle");
      spot.setAttribute("class", "spot");
      spot.setAttribute("cx", (land.x[best] / EXTENT) * side);
      spot.setAttribute("cy", top + (1 - land.y[best] / EXTENT) * side);
      spot.setAttribute("r", 5);
      svg.append(spot);
      const group = land.groups[best];
      const text = land.texts ? `${land.texts[best]}\n` : "";
      const place = `${land.group_is} ${group}, ${land.value_is} ${land.values[group].toFixed(3)}`;
      show(`${text}${land.label_names[land.labels[best]]} · ${place}`, event.clientX, event.clientY);
    });
  };

  for (const svg of document.querySelectorAll("svg.figure")) {
    const marks = [...svg.querySelectorAll(".mark")];
    for (const mark of marks) {
      const title = mark.querySelector("title");
      mark.dataset.tip = title.textContent;
      title.remove();
    }
    const cloud = stored(svg.dataset.cloud, (data) => data);
    const land = stored(svg.dataset.map, readMap);
    if (cloud) scatter(svg, cloud);
    else if (land) pointMap(svg, land);
    else {
      svg.addEventListener("pointerover", (event) => {
        const mark = event.target.closest(".mark");
        if (mark) enter(mark, event.clientX, event.clientY);
        else leave();
      });
    }
    svg.addEventListener("pointerleave", leave);
    if (!marks.length) continue;
    svg.setAttribute("tabindex", "0");
    svg.setAttribute("aria-label", `${svg.getAttribute("aria-label")} Arrow keys step through the values.`);
    svg.addEventListener("keydown", (event) => {
      const at = marks.indexOf(active);
      const to = {
        ArrowRight: at + 1, ArrowDown: at + 1,
        ArrowLeft: at < 0 ? marks.length - 1 : at - 1, ArrowUp: at < 0 ? marks.length - 1 : at - 1,
        Home: 0, End: marks.length - 1,
      }[event.key];
      if (event.key === "Escape") leave();
      if (to === undefined) return;
      event.preventDefault();
      enter(marks[(to + marks.length) % marks.length]);
    });
    svg.addEventListener("blur", leave);
  }
  const paintAll = () => maps.forEach(paint);
  paintAll();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paintAll);
  // What the pointer showed is no longer under it; what the keyboard chose moves along.
  addEventListener("scroll", () => {
    const mark = active && active.ownerSVGElement === document.activeElement ? active : null;
    leave();
    if (mark) enter(mark);
  }, { passive: true });

  // On paper nothing can be folded out.
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll(".how, .folded")) fold.open = true;
  });
})();
