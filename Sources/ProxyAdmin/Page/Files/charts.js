// Charts: one sample per minute, for a day.

import { make, makeSVG, replace } from "./dom.js";
import { get } from "./api.js";
import { duration, size } from "./format.js";

export const title = "Charts";

const WIDTH = 600, HEIGHT = 160, LEFT = 60, BOTTOM = 20, TOP = 8;
const share = (part, whole) => (whole === 0 ? null : (100 * part) / whole);
const CHARTS = [
  { name: "Hit rate", show: (value) => `${value.toFixed(0)} %`, top: 100, lines: [["hits", (sample) => share(sample.hits, sample.requests)]] },
  { name: "Bytes per minute", show: (value) => size(Math.round(value)), lines: [["saved", (sample) => sample.saved_bytes], ["sent", (sample) => sample.sent_bytes]] },
  { name: "Latency", show: (value) => duration(Math.round(value)), lines: [["p50", (sample) => sample.p50_us], ["p99", (sample) => sample.p99_us]] },
  { name: "Refused and failed requests per minute", show: (value) => value.toFixed(0), lines: [["denied", (sample) => sample.denied], ["failed", (sample) => sample.failed]] },
];

export function open(container) {
  const grid = make("div", { class: "charts" });
  const note = make("p", { class: "quiet" });
  replace(container, make("h2", {}, "Charts"), note, grid);
  load();
  const timer = setInterval(load, 15_000);

  async function load() {
    try {
      const { samples } = await get("/v1/history");
      note.textContent = `The last ${samples.length === 1 ? "minute" : `${samples.length} minutes`}. Larder keeps one sample per minute for a day, until it stops.`;
      replace(grid, CHARTS.map((chart) => figure(chart, samples)));
    } catch (refusal) {
      note.textContent = refusal.message;
    }
  }

  return { close: () => clearInterval(timer) };
}

function figure(chart, samples) {
  const series = chart.lines.map(([name, value]) => [name, samples.map(value)]);
  const highest = chart.top ?? Math.max(1, ...series.flatMap(([, values]) => values.map((value) => value ?? 0)));
  const latest = series.map(([name, values]) => `${name} ${values.at(-1) === null ? "none" : chart.show(values.at(-1))}`).join(", ");
  const x = (index) => LEFT + ((WIDTH - LEFT) * (samples.length === 1 ? 1 : index / (samples.length - 1)));
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / highest);
  const first = new Date(samples[0].at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  return make("figure", {}, make("figcaption", {}, chart.name),
    makeSVG("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${chart.name}, this minute: ${latest}` },
      makeSVG("line", { class: "axis", x1: LEFT, y1: y(0), x2: WIDTH, y2: y(0) }), makeSVG("line", { class: "axis", x1: LEFT, y1: y(highest), x2: WIDTH, y2: y(highest) }),
      makeSVG("text", { x: LEFT - 6, y: y(highest) + 8, "text-anchor": "end" }, chart.show(highest)),
      makeSVG("text", { x: LEFT - 6, y: y(0), "text-anchor": "end" }, chart.show(0)),
      makeSVG("text", { x: LEFT, y: HEIGHT - 4 }, first), makeSVG("text", { x: WIDTH, y: HEIGHT - 4, "text-anchor": "end" }, "now"),
      series.map(([, values], index) => makeSVG("path", { class: ["one", "two"][index], d: path(values, x, y) }))),
    make("p", {}, `This minute: ${latest}. ${series.length > 1 ? `Solid: ${series[0][0]}. Dashed: ${series[1][0]}.` : ""}`));
}

/** A line with gaps where there is no value. A single value is a short line. */
function path(values, x, y) {
  let text = "";
  let isOpen = false;
  values.forEach((value, index) => {
    if (value === null) isOpen = false;
    else {
      text += `${isOpen ? "L" : `M${(x(index) - 4).toFixed(1)} ${y(value).toFixed(1)}L`}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
      isOpen = true;
    }
  });
  return text;
}
