// Sorting, filtering and another baseline for tables of values. Without scripts, the page is whole.
"use strict";
(() => {
  const tables = [...document.querySelectorAll("table.values, table.parts")];
  if (!tables.length) return;
  const make = (name, properties, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };
  const rowsOf = table => [...table.rows].slice(1);
  const nameOf = row => row.cells[0].textContent;
  const valueOf = cell => (cell && cell.dataset.v ? Number(cell.dataset.v) : NaN);

  // Filter: rows of workloads whose name has one of the words. Their bars stay full, others fade.
  const status = make("span", { className: "soft" });
  const input = make("input", { type: "search", placeholder: "workloads, such as bfs spmv", size: 26 });
  const filter = () => {
    const words = input.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
    const keeps = name => !words.length || words.some(word => name.toLowerCase().includes(word));
    let all = new Set(), shown = new Set();
    for (const table of tables) {
      // In a table of parts, the lines of a workload follow its heading.
      let keep = true;
      for (const row of rowsOf(table)) {
        const isHead = table.className.includes("values") || row.classList.contains("head");
        const isMean = isHead && (row.classList.contains("mean") || nameOf(row).startsWith("mean"));
        if (isHead) keep = isMean || keeps(nameOf(row));
        row.hidden = !keep;
        if (isHead && !isMean) (all.add(nameOf(row)), keep && shown.add(nameOf(row)));
      }
      const details = table.closest("details");
      if (details && words.length) details.open = true;
    }
    for (const title of document.querySelectorAll("svg title")) {
      const name = title.textContent;
      title.parentNode.style.opacity = name.startsWith("mean") || keeps(name.split(", ")[0]) ? "" : 0.12;
    }
    status.textContent = words.length ? ` ${shown.size} of ${all.size} rows` : "";
  };
  input.addEventListener("input", filter);
  const bar = make("div", { className: "tools" }, make("label", {}, "Filter ", input), status);
  document.querySelector("h2").before(bar);

  // Sorting: a click on a heading sorts down, then up, then as it was.
  const order = new Map();
  tables.filter(table => table.classList.contains("values")).forEach(table => {
    rowsOf(table).forEach((row, number) => order.set(row, number));
    [...table.rows[0].cells].forEach((head, column) => {
      const button = make("button", { type: "button", title: "Sort" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const next = { descending: "ascending", ascending: "none" }[head.ariaSort] || "descending";
        [...table.rows[0].cells].forEach(cell => (cell.ariaSort = null));
        head.ariaSort = next === "none" ? null : next;
        const sign = next === "ascending" ? 1 : -1;
        const compare = (a, b) => {
          if (next === "none") return order.get(a) - order.get(b);
          if (!column) return sign * nameOf(b).localeCompare(nameOf(a));
          const [x, y] = [a, b].map(row => valueOf(row.cells[column]));
          // What has no value comes last.
          if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y) || order.get(a) - order.get(b);
          return sign * (x - y) || order.get(a) - order.get(b);
        };
        table.tBodies[0].append(...rowsOf(table).sort(compare));
      });
    });
  });

  // Another baseline: every value divided by that of the chosen column in its row.
  const format = value => {
    const size = Math.abs(value);
    return value.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
  };
  document.querySelectorAll("section.figure").forEach(section => {
    const own = [...section.querySelectorAll("table.values")];
    const heads = own.length ? [...own[0].rows[0].cells].slice(1) : [];
    if (heads.length < 2) return;
    const original = new Map();
    own.forEach(table => rowsOf(table).forEach(row => [...row.cells].slice(1).forEach(cell => {
      original.set(cell, [...cell.childNodes]);
    })));
    const options = heads.map((head, n) => make("option", { value: n + 1 }, head.textContent));
    const hint = make("span", { className: "soft" });
    const hasMeans = own.some(table => table.querySelector("tr.mean") && !("geometric" in table.dataset));
    const select = make("select", {}, make("option", { value: 0 }, "as measured"), ...options);
    select.addEventListener("change", () => {
      const base = Number(select.value);
      hint.textContent = base && hasMeans ? " (only geometric means can be relative to another bar)" : "";
      own.forEach(table => rowsOf(table).forEach(row => {
        const divisor = valueOf(row.cells[base]);
        // Only a geometric mean of quotients is the quotient of the means.
        const isKnown = !row.classList.contains("mean") || "geometric" in table.dataset;
        [...row.cells].slice(1).forEach(cell => {
          const value = valueOf(cell) / divisor;
          const text = isKnown && isFinite(value) ? format(value) : "–";
          cell.replaceChildren(...(base ? [text] : original.get(cell)));
        });
      }));
    });
    own[0].closest("div.wide").before(make("label", { className: "tools" }, "Values relative to ", select, hint));
  });
})();
