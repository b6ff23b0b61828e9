/** Two drawings of one run: the hub's memory over the number of agents, and agents that come back after a kill. Pure. */
import { drawPanels, type Panel, type Point, thinned } from "../measure/plot.ts";
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

const barKib = 160;
const barSeconds = 60;

export function drawAgents(plotted: Plotted): string {
  return drawPanels([memoryPanel(plotted), backPanel(plotted)]);
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
