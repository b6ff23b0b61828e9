/** Two drawings of one run: the hub's memory over the number of agents, and agents that come back after a kill. Pure. */
import type { BareFigures } from "./bare-grpc.ts";
import type { MemorySample } from "./sample-memory.ts";

export interface Plotted {
  readonly agents: number;
  readonly memoryByAgents: readonly MemorySample[];
  /** The memory of the hub without agents, MB. */
  readonly beforeMb: number;
  readonly bare: BareFigures;
  readonly connectedByMs: readonly number[];
}

type Point = readonly [x: number, y: number];

interface Line {
  readonly name: string;
  readonly points: readonly Point[];
  readonly style: "ours" | "bare" | "bar";
}

interface Panel {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly lines: readonly Line[];
}

const panelWidth = 400;
const panelHeight = 300;
const margin = { left: 56, right: 20, top: 40, bottom: 48 };
const mostPoints = 200;
const barKib = 160;
const barSeconds = 60;

/** An SVG that is readable on light and on dark. */
export function drawAgents(plotted: Plotted): string {
  const panels = [memoryPanel(plotted), backPanel(plotted)];
  const width = panels.length * panelWidth;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${panelHeight}" font-family="sans-serif" font-size="12">`,
    `<title>${panels.map(({ title }) => title).join("; ")}</title>`,
    "<style>",
    "text { fill: #24292f } .axis { stroke: #6e7781 } .grid { stroke: #d0d7de }",
    ".line { fill: none; stroke-width: 2 } .ours { stroke: #0969da } .bare { stroke: #8250df } .bar { stroke: #cf222e; stroke-dasharray: 5 4 }",
    "@media (prefers-color-scheme: dark) {",
    "text { fill: #e6edf3 } .axis { stroke: #8b949e } .grid { stroke: #30363d }",
    ".ours { stroke: #58a6ff } .bare { stroke: #bc8cff } .bar { stroke: #ff7b72 }",
    "}",
    "</style>",
    ...panels.map(
      (panel, index) => `<g transform="translate(${index * panelWidth} 0)">${draw(panel)}</g>`,
    ),
    "</svg>",
    "",
  ].join("\n");
}

function memoryPanel({ agents, memoryByAgents, beforeMb, bare }: Plotted): Panel {
  const upTo = (kibEach: number): readonly Point[] => [
    [0, beforeMb],
    [agents, beforeMb + (agents * kibEach) / 1024],
  ];
  return {
    title: "Memory of the hub (PSS)",
    x: "connected agents",
    y: "MB",
    lines: [
      {
        name: "hub, garbage included",
        style: "ours",
        points: thinned(memoryByAgents.map(({ agents: count, mb }) => [count, mb] as const)),
      },
      { name: "grpc-js with mutual TLS alone", style: "bare", points: upTo(bare.kibPerClient) },
      { name: `bar: ${barKib} KiB each`, style: "bar", points: upTo(barKib) },
    ],
  };
}

function backPanel({ agents, connectedByMs }: Plotted): Panel {
  const back = connectedByMs.map((ms, index) => [ms / 1_000, index + 1] as const);
  return {
    title: "Back after kill -9 of the hub",
    x: "seconds since the new process began",
    y: "agents",
    lines: [
      { name: "connected agents", style: "ours", points: thinned([[0, 0], ...back]) },
      {
        name: `bar: all within ${barSeconds} s`,
        style: "bar",
        points: [
          [barSeconds, 0],
          [barSeconds, agents],
        ],
      },
    ],
  };
}

function thinned(points: readonly Point[]): readonly Point[] {
  const step = Math.max(1, Math.floor(points.length / mostPoints));
  return points.filter((_, index) => index % step === 0 || index === points.length - 1);
}

function draw({ title, x, y, lines }: Panel): string {
  const all = lines.flatMap(({ points }) => points);
  const xTicks = ticks(Math.max(...all.map(([at]) => at)));
  const yTicks = ticks(Math.max(...all.map(([, at]) => at)));
  const bottom = panelHeight - margin.bottom;
  const right = panelWidth - margin.right;
  const toX = (at: number): number =>
    margin.left + (at / (xTicks.at(-1) ?? 1)) * (right - margin.left);
  const toY = (at: number): number => bottom - (at / (yTicks.at(-1) ?? 1)) * (bottom - margin.top);
  const path = (points: readonly Point[]): string =>
    points.map((point) => `${toX(point[0]).toFixed(1)},${toY(point[1]).toFixed(1)}`).join(" ");
  return [
    `<text x="${margin.left}" y="20" font-size="14" font-weight="bold">${title}</text>`,
    ...yTicks.map(
      (at) =>
        `<line class="grid" x1="${margin.left}" x2="${right}" y1="${toY(at)}" y2="${toY(at)}"/><text x="${margin.left - 6}" y="${toY(at) + 4}" text-anchor="end">${at}</text>`,
    ),
    ...xTicks.map(
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

/** From 0 to at least `most`, in round steps. */
function ticks(most: number): readonly number[] {
  const rough = Math.max(most, 1) / 5;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * magnitude).find((size) => size >= rough) ?? 1;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => index * step);
}
