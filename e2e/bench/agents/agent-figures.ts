/** What was measured, as figures with their baselines and bars. Pure. */
import { type Figure, median } from "../measure/figures.ts";
import type { Lag } from "./agents-fleet.ts";
import type { BareFigures } from "./bare-grpc.ts";
import type { Changed } from "./change-for-all.ts";
import type { Asked } from "./idle-requests.ts";
import type { Restarted } from "./restart-hub.ts";

const lagBarMs = 100;
const tick = "the clock that measures it ticks every 10 ms, which are part of it";

interface Measured {
  readonly agents: number;
  readonly bare: BareFigures;
}

/** `cpu`: of the hub while all enrol and connect, seconds. */
export function connectFigures(
  { agents, bare }: Measured,
  { lag, cpu }: { readonly lag: Lag; readonly cpu: number },
): readonly Figure[] {
  return [
    {
      what: "the hub's event loop lag while all enrol and connect, 99th percentile",
      unit: "ms",
      value: lag.p99Ms,
      baseline: { what: "a bare server whose clients connect at once", value: bare.connectLagMs },
      bar: lagBarMs,
      detail: `${tick}; ${longest(lag)}; the hub's CPU for each: ${((cpu * 1000) / agents).toFixed(1)} ms`,
    },
  ];
}

export interface Idle {
  readonly lag: Lag;
  /** Share of a processor. */
  readonly cpu: number;
  readonly requestsOfOne: Asked;
  readonly requestsOfAll: Asked;
}

export function idleFigures(
  { agents, bare }: Measured,
  { lag, cpu, requestsOfOne, requestsOfAll }: Idle,
): readonly Figure[] {
  return [
    {
      what: "the same while they are idle",
      unit: "ms",
      value: lag.p99Ms,
      baseline: { what: "the bare server", value: bare.idleLagMs },
      bar: lagBarMs,
      detail: `${longest(lag)}; the hub's CPU meanwhile: ${(cpu * 100).toFixed(1)} % of a processor`,
    },
    {
      what: `requests of an idle hub with ${agents} agents, renewed watches apart`,
      unit: "requests/min",
      value: requestsOfAll.perMinute,
      baseline: { what: "with 1 agent", value: requestsOfOne.perMinute },
      bar: requestsOfOne.perMinute,
      detail: requestsOfAll.detail,
    },
    {
      what: "renewals of its Leases meanwhile",
      unit: "requests/min",
      value: requestsOfAll.renewalsPerMinute,
      baseline: { what: "with 1 agent", value: requestsOfOne.renewalsPerMinute },
      bar: 30,
    },
  ];
}

/** `kibPerAgent`: memory of the hub. */
export function changeFigures(
  { agents, bare }: Measured,
  changed: readonly Changed[],
  kibPerAgent: number,
): readonly Figure[] {
  return [
    {
      what: `a change for ${agents} agents: from the last write of a BundleDeployment to the last agent`,
      unit: "ms",
      value: median(changed.map(({ handedOutMs }) => handedOutMs)),
      baseline: { what: "one message to all clients of the bare server", value: bare.broadcastMs },
      bar: 3_000,
      detail: each(changed, ({ handedOutMs }) => handedOutMs),
    },
    {
      what: "the hub's event loop lag meanwhile, 99th percentile",
      unit: "ms",
      value: median(changed.map(({ lag }) => lag.p99Ms)),
      bar: lagBarMs,
      detail: `${each(changed, ({ lag }) => lag.p99Ms)}; the longest: ${each(changed, ({ lag }) => lag.longestMs)}`,
    },
    {
      what: `memory of the hub for each of ${agents} agents, its Cluster and one BundleDeployment included`,
      unit: "KiB",
      value: kibPerAgent,
      baseline: { what: "grpc-js with mutual TLS alone", value: bare.kibPerClient },
      bar: 160,
    },
  ];
}

/** With the baseline that can only be measured when the hub has ended. */
export function readyFigures(
  { agents }: Measured,
  changed: readonly Changed[],
  bareWritesMs: number,
): readonly Figure[] {
  return [
    {
      what: `a change for ${agents} agents until the HelmOp is Ready in all`,
      unit: "ms",
      value: median(changed.map(({ readyMs }) => readyMs)),
      baseline: { what: `${3 * agents} bare writes`, value: bareWritesMs },
      bar: 2 * bareWritesMs,
      detail: `${each(changed, ({ readyMs }) => readyMs)}; the hub's CPU: ${each(changed, ({ hubCpu }) => hubCpu * 1000)}`,
    },
  ];
}

export function restartFigures(
  { agents, bare }: Measured,
  { backMs, errors, offline, lag, hubCpu }: Restarted,
): readonly Figure[] {
  return [
    {
      what: `all ${agents} back, from the start of a hub that was killed`,
      unit: "ms",
      value: backMs,
      baseline: { what: "as many bare clients connect", value: bare.connectMs },
      bar: 2 * bare.connectMs,
      detail: `the hub's CPU: ${hubCpu.toFixed(1)} s`,
    },
    {
      what: "errors of the agents meanwhile, that the hub was away apart",
      unit: "errors",
      value: errors.length,
      bar: 0,
      ...(errors[0] !== undefined && { detail: `the first one: ${errors[0]}` }),
    },
    {
      what: "agents that were taken for offline meanwhile",
      unit: "agents",
      value: offline,
      bar: 0,
    },
    {
      what: "the hub's event loop lag meanwhile, 99th percentile",
      unit: "ms",
      value: lag.p99Ms,
      bar: lagBarMs,
      detail: longest(lag),
    },
  ];
}

function longest({ longestMs }: Lag): string {
  return `the longest: ${longestMs.toFixed(0)} ms`;
}

function each<T>(all: readonly T[], read: (one: T) => number): string {
  return `${all.map((one) => read(one).toFixed(0)).join(", ")} ms`;
}
