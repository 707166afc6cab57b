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
    if (table.tBodies[0].rows.length < 2) continue;
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

  const store = document.getElementById("pattern-points");
  const cloud = store ? JSON.parse(store.textContent) : null;
  const percent = (share) => `${(100 * share).toFixed(1)} %`;

  const scatter = (svg) => {
    const [xLow, xHigh, xStart, xEnd] = svg.dataset.x.split(" ").map(Number);
    const [yLow, yHigh, yStart, yEnd] = svg.dataset.y.split(" ").map(Number);
    const places = cloud.points.map(([support, p]) => [
      xStart + (Math.log(support / xLow) / Math.log(xHigh / xLow)) * (xEnd - xStart),
      yStart + ((p - yLow) / (yHigh - yLow)) * (yEnd - yStart),
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
      const [support, p, series, pattern] = cloud.points[best];
      const spot = document.createElementNS(svg.namespaceURI, "circle");
      spot.setAttribute("class", "spot");
      spot.setAttribute("cx", places[best][0]);
      spot.setAttribute("cy", places[best][1]);
      spot.setAttribute("r", 6);
      svg.append(spot);
      const label = cloud.labels[series];
      show(`${pattern} → ${label}: ${percent(p)} of ${support.toLocaleString("en")} examples`, event.clientX, event.clientY);
    });
  };

  for (const svg of document.querySelectorAll("svg.figure")) {
    const marks = [...svg.querySelectorAll(".mark")];
    for (const mark of marks) {
      const title = mark.querySelector("title");
      mark.dataset.tip = title.textContent;
      title.remove();
    }
    if (svg.dataset.points && cloud) scatter(svg);
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
  // What the pointer showed is no longer under it; what the keyboard chose moves along.
  addEventListener("scroll", () => {
    const mark = active && active.ownerSVGElement === document.activeElement ? active : null;
    leave();
    if (mark) enter(mark);
  }, { passive: true });

  // On paper nothing can be folded out.
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll(".how")) fold.open = true;
  });
})();
