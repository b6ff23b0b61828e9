/** Whether a process may have as many connections as a simulation needs. */
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { cliErrors } from "../errors.ts";

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
