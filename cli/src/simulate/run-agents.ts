/** Runs the agents of a simulation and prints their progress. */
import { createWriteStream } from "node:fs";
import { createSimulatedFleet, type FleetCounts } from "@flotilla/agent/process";
import type { Bootstrap } from "@flotilla/agent/state";
import { buildVersion } from "@flotilla/shared/buildinfo";
import { AppError } from "@flotilla/shared/errors";
import { lineLog } from "@flotilla/shared/log";
import { systemClock as clock } from "@flotilla/shared/time";
import { cliErrors } from "../errors.ts";

const progressIntervalMs = 5_000;

/** Files that the process opens besides one connection for each agent. */
const reservedFiles = 100;

export interface AgentRun {
  /** Name of the simulation. */
  readonly name: string;
  /** One for each agent. */
  readonly bootstraps: readonly Bootstrap[];
  readonly helm: { readonly latencyMs: number; readonly failureRate: number };
  readonly changesPerSecond: number;
  readonly planGroups: number;
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
  /** The logs of the agents are appended to it. */
  readonly logFile?: string;
}

/** Resolves when `signal` has aborted and all agents have disconnected. */
export async function runAgents(run: AgentRun): Promise<void> {
  const { print, logFile, bootstraps, helm, changesPerSecond, planGroups } = run;
  const agents = bootstraps.length;
  const file = logFile === undefined ? undefined : createWriteStream(logFile, { flags: "a" });
  let lastWarning = "";
  const fleet = createSimulatedFleet(
    { bootstraps, agentVersion: buildVersion, helm, changesPerSecond, planGroups },
    {
      clock,
      log: lineLog({
        name: "agent",
        level: file === undefined ? "warn" : "info",
        write(line) {
          file?.write(line);
          lastWarning = warningIn(line) ?? lastWarning;
        },
      }),
      random: Math.random,
    },
  );
  const startedMs = performance.now();
  let printed = "";
  let allConnected = false;
  function printProgress(): void {
    const line = describeProgress({ ...fleet.counts, agents, lastWarning });
    if (line === printed) return;
    printed = line;
    print(`[${((performance.now() - startedMs) / 1000).toFixed(1).padStart(6)} s] ${line}`);
  }
  fleet.onChange(() => {
    if (allConnected || fleet.counts.connected < agents) return;
    allConnected = true;
    printProgress();
    print(`All agents of ${run.name} are connected. Press Ctrl-C to stop.`);
  });
  const timer = setInterval(printProgress, progressIntervalMs);
  try {
    await fleet.run(run.signal);
  } finally {
    clearInterval(timer);
    file?.end();
  }
  print(`${agents} agents disconnected`);
}

export interface Progress extends FleetCounts {
  readonly agents: number;
  /** The last warning of any agent; "" before the first. */
  readonly lastWarning: string;
}

/**
 * One line: connected agents, ready and failed deployments, and the last warning while an agent is offline or a deployment
 * has failed. Pure.
 */
export function describeProgress(progress: Progress): string {
  const { agents, connected, deployments, lastWarning } = progress;
  const { ready, failed, other } = deployments;
  const all = ready + failed + other;
  const hasProblem = connected < agents || failed > 0;
  return [
    `${connected} of ${agents} agents connected`,
    ...(all > 0 ? [`, ${ready} of ${all} deployments ready`] : []),
    ...(failed > 0 ? [`, ${failed} failed`] : []),
    ...(lastWarning !== "" && hasProblem ? [`; last warning: ${lastWarning}`] : []),
  ].join("");
}

/** The text of a warning or an error in a line of the agents' log; undefined for other lines. Pure. */
export function warningIn(line: string): string | undefined {
  if (!/"level":"(warn|error)"/.test(line)) return undefined;
  const { agent, err, msg }: Record<string, unknown> = JSON.parse(line);
  return [agent, msg, err].filter((part) => typeof part === "string").join(": ");
}

/** How many files this process may open, sockets included; undefined when unknown or unlimited. */
export function openFilesLimit(): number | undefined {
  const report: { readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } } } =
    process.report.getReport();
  const limit = report.userLimits?.open_files?.soft;
  return typeof limit === "number" ? limit : undefined;
}

/** Throws OPEN_FILES_LIMIT when the limit is too low for a connection for each agent. */
export function validateOpenFiles(agents: number, limit: number | undefined): void {
  const needed = agents + reservedFiles;
  if (limit === undefined || limit >= needed) return;
  throw new AppError(
    cliErrors.OPEN_FILES_LIMIT,
    `simulate ${agents} agents: they need ${needed} open files, the limit is ${limit}; raise it with \`ulimit -n ${needed}\`, for the hub as well, or simulate fewer agents`,
  );
}
