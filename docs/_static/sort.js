// A click on the head of a column sorts its table; the next click the other way.
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("article table")) {
    const body = table.tBodies[0];
    if (!body || body.rows.length < 12) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      let down = false;
      head.style.cursor = "pointer";
      head.addEventListener("click", () => {
        const value = (row) => row.cells[column].textContent.trim();
        const number = (row) => parseFloat(value(row).replace(/,/g, ""));
        const rows = [...body.rows];
        const counted = rows.some((row) => !isNaN(number(row))) && rows.every((row) => /^[\d.,–-]*$/.test(value(row)));
        rows.sort((a, b) => counted ? (number(a) || 0) - (number(b) || 0) : value(a).localeCompare(value(b)));
        if (down) rows.reverse();
        down = !down;
        body.append(...rows);
      });
    });
  }
});
