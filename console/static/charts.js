// Draws the charts of a page: <canvas data-chart="{labels, series}">. A table beside each says the same.

(() => {
  "use strict";

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const drawn = [];

  const draw = (canvas) => {
    const { labels, series } = JSON.parse(canvas.dataset.chart);
    const datasets = series.map(({ kind, name, values }) => ({
      label: name,
      data: values,
      backgroundColor: colour(`--chart-${kind}`),
      borderRadius: 2,
      maxBarThickness: 26,
    }));
    const ink = colour("--muted");
    const numbers = new Intl.NumberFormat(document.documentElement.lang);
    return new Chart(canvas, {
      type: "bar",
      data: { labels, datasets },
      options: {
        animation: false,
        maintainAspectRatio: false,
        interaction: { mode: "index", intersect: false },
        scales: {
          x: { stacked: true, grid: { display: false }, border: { color: colour("--line") }, ticks: { color: ink, maxRotation: 0, autoSkipPadding: 16 } },
          y: { stacked: true, beginAtZero: true, border: { display: false }, grid: { color: colour("--line") }, ticks: { color: ink, precision: 0, maxTicksLimit: 5, callback: (value) => numbers.format(value) } },
        },
        plugins: {
          legend: { position: "bottom", align: "start", labels: { color: ink, boxWidth: 10, boxHeight: 10, useBorderRadius: true, borderRadius: 3, padding: 16 } },
          tooltip: { callbacks: { label: (item) => ` ${item.dataset.label}: ${numbers.format(item.raw)}` } },
        },
      },
    });
  };

  const drawAll = () => {
    while (drawn.length) drawn.pop().destroy();
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    for (const canvas of document.querySelectorAll("canvas[data-chart]")) {
      canvas.closest("figure").hidden = false;
      drawn.push(draw(canvas));
    }
  };

  drawAll();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
})();
