/** Drawings of measurements: panels side by side, as an SVG that is readable on light and on dark. Pure. */

export type Point = readonly [x: number, y: number];

export interface Line {
  readonly name: string;
  readonly points: readonly Point[];
  readonly style: LineStyle;
}

/** Ours, what it is compared with, the bar, and more of ours. */
export type LineStyle = "ours" | "bare" | "bar" | "second" | "third";

export interface Panel {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  /** How both axes are drawn; logarithmic: all values are above zero. Default: linear, from zero. */
  readonly scale?: "linear" | "logarithmic";
  readonly lines: readonly Line[];
}

/** An axis: where a value lies on it, from 0 to 1, and what is written beside it. */
interface Axis {
  readonly ticks: readonly number[];
  at(value: number): number;
}

const panelWidth = 400;
const panelHeight = 300;
const margin = { left: 56, right: 20, top: 40, bottom: 48 };
const mostPoints = 200;

export function drawPanels(panels: readonly Panel[]): string {
  const width = panels.length * panelWidth;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${panelHeight}" font-family="sans-serif" font-size="12">`,
    `<title>${panels.map(({ title }) => title).join("; ")}</title>`,
    "<style>",
    "text { fill: #24292f } .axis { stroke: #6e7781 } .grid { stroke: #d0d7de }",
    ".line { fill: none; stroke-width: 2 } .ours { stroke: #0969da } .bare { stroke: #8250df } .bar { stroke: #cf222e; stroke-dasharray: 5 4 } .second { stroke: #1a7f37 } .third { stroke: #bc4c00 }",
    "@media (prefers-color-scheme: dark) {",
    "text { fill: #e6edf3 } .axis { stroke: #8b949e } .grid { stroke: #30363d }",
    ".ours { stroke: #58a6ff } .bare { stroke: #bc8cff } .bar { stroke: #ff7b72 } .second { stroke: #3fb950 } .third { stroke: #ffa657 }",
    "}",
    "</style>",
    ...panels.map(
      (panel, index) => `<g transform="translate(${index * panelWidth} 0)">${draw(panel)}</g>`,
    ),
    "</svg>",
    "",
  ].join("\n");
}

/** So many that the drawing looks the same. */
export function thinned(points: readonly Point[]): readonly Point[] {
  const step = Math.max(1, Math.floor(points.length / mostPoints));
  return points.filter((_, index) => index % step === 0 || index === points.length - 1);
}

function draw({ title, x, y, scale, lines }: Panel): string {
  const all = lines.flatMap(({ points }) => points);
  const axis = scale === "logarithmic" ? logarithmic : linear;
  const xAxis = axis(all.map(([at]) => at));
  const yAxis = axis(all.map(([, at]) => at));
  const bottom = panelHeight - margin.bottom;
  const right = panelWidth - margin.right;
  const toX = (value: number): number => margin.left + xAxis.at(value) * (right - margin.left);
  const toY = (value: number): number => bottom - yAxis.at(value) * (bottom - margin.top);
  const path = (points: readonly Point[]): string =>
    points.map((point) => `${toX(point[0]).toFixed(1)},${toY(point[1]).toFixed(1)}`).join(" ");
  return [
    `<text x="${margin.left}" y="20" font-size="14" font-weight="bold">${title}</text>`,
    ...yAxis.ticks.map(
      (at) =>
        `<line class="grid" x1="${margin.left}" x2="${right}" y1="${toY(at)}" y2="${toY(at)}"/><text x="${margin.left - 6}" y="${toY(at) + 4}" text-anchor="end">${at}</text>`,
    ),
    ...xAxis.ticks.map(
      (at) => `<text x="${toX(at)}" y="${bottom + 16}" text-anchor="middle">${at}</text>`,
    ),
    `<line class="axis" x1="${margin.left}" x2="${right}" y1="${bottom}" y2="${bottom}"/>`,
    `<text x="${(margin.left + right) / 2}" y="${bottom + 36}" text-anchor="middle">${x}</text>`,
    `<text x="${margin.left - 6}" y="${margin.top - 8}" text-anchor="end">${y}</text>`,
    ...lines.map(
      ({ points, style }) => `<polyline class="line ${style}" points="${path(points)}"/>`,
    ),
    ...lines.map(({ name, style }, index) => {
      const at = margin.top + 14 + index * 16;
      return `<line class="line ${style}" x1="${margin.left + 10}" x2="${margin.left + 30}" y1="${at - 4}" y2="${at - 4}"/><text x="${margin.left + 36}" y="${at}">${name}</text>`;
    }),
  ].join("\n");
}

/** From 0 to at least the largest, in round steps. */
function linear(values: readonly number[]): Axis {
  const most = Math.max(...values);
  const rough = Math.max(most, 1) / 5;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * magnitude).find((size) => size >= rough) ?? 1;
  const ticks = Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => index * step);
  return { ticks, at: (value) => value / (ticks.at(-1) ?? 1) };
}

/** Whole powers of ten. */
function logarithmic(values: readonly number[]): Axis {
  const from = Math.floor(Math.log10(Math.min(...values)));
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values))));
  return {
    ticks: Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index)),
    at: (value) => (Math.log10(value) - from) / (to - from),
  };
}
