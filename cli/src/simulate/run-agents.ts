/** What a person reads while a simulation runs. Pure. */
import type { Counts } from "@flotilla/agent/simulation/tally.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { cliErrors } from "../errors.ts";

export interface Progress extends Counts {
  readonly agents: number;
  /** The last warning of any agent. */
  readonly trouble: string;
}

/** One line: how many are connected, how their deployments are, and why some are not. */
export function describeProgress({ agents, connected, deployments, trouble }: Progress): string {
  const { ready, failed, other } = deployments;
  const all = ready + failed + other;
  return [
    `${connected} of ${agents} agents connected`,
    ...(all > 0 ? [`, ${ready} of ${all} deployments ready`] : []),
    ...(failed > 0 ? [`, ${failed} failed`] : []),
    ...(trouble !== "" && (connected < agents || failed > 0) ? [`; last warning: ${trouble}`] : []),
  ].join("");
}

/** The warning in a line of the agents' log; undefined where the line is none. */
export function warningIn(line: string): string | undefined {
  if (!/"level":"(warn|error)"/.test(line)) return undefined;
  const { agent, err, msg }: Record<string, unknown> = JSON.parse(line);
  return [agent, msg, err].filter((part) => typeof part === "string").join(": ");
}

/** Whether a process may have as many connections as a simulation needs. */

/** What the process opens besides. */
const besides = 100;

/** How many files this process may open, sockets included; undefined where that is not known or not limited. */
export function openFilesLimit(): number | undefined {
  const report: { readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } } } =
    process.report.getReport();
  const limit = report.userLimits?.open_files?.soft;
  return typeof limit === "number" ? limit : undefined;
}

/** Throws OPEN_FILES_LIMIT. */
export function checkOpenFiles(agents: number, limit: number | undefined): void {
  const needed = agents + besides;
  if (limit === undefined || limit >= needed) return;
  throw new AppError(
    cliErrors.OPEN_FILES_LIMIT,
    `${agents} agents need ${needed} open files, and this process may have ${limit}; raise that with \`ulimit -n ${needed}\`, for the hub's process as well, or simulate fewer`,
  );
}
