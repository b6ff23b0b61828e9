/** `flotilla schedule check` and `flotilla schedule next`: when clusters may be changed. */
import { type Schedule, schedules } from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { keyOf } from "@flotilla/shared/kube/objects";
import { type WindowText, zoneOf } from "@flotilla/shared/quartz";
import type { CliConfig } from "../config.ts";
import { cliErrors } from "../errors.ts";
import type { HubOptions } from "../fleet/index.ts";
import { clusterWindowsText, type ShownAt } from "./cluster-windows.ts";
import { readClusterWindows } from "./read-cluster-windows.ts";
import { schedulesTable, startsTable } from "./schedule-table.ts";
import { clusterKinds, parseTarget, scheduleKinds } from "./target.ts";
import { withHub } from "./with-hub.ts";

export interface CheckOptions extends HubOptions {
  readonly namespace: string;
  readonly duration?: string;
  readonly location?: string;
  /** How many starts are printed. */
  readonly count: number;
}

/**
 * Prints the next starts of an expression, or of a Schedule by its name. Throws SCHEDULE_INVALID with what is wrong, also where
 * the window would overlap itself, OBJECT_NOT_FOUND and TARGET_INVALID.
 */
export async function checkSchedule(
  words: readonly string[],
  options: CheckOptions,
  config: CliConfig,
): Promise<void> {
  const text = words.join(" ");
  const { duration, location } = options;
  const window: WindowText = isExpression(text)
    ? { schedule: text, duration, location }
    : (await readSchedule(words, options, config)).spec;
  process.stdout.write(startsTable(window, { nowMs: Date.now(), count: options.count }));
}

export interface NextOptions extends HubOptions {
  readonly namespace: string;
  /** How many windows of a cluster are printed. */
  readonly count: number;
}

/**
 * Prints the Schedules of a namespace, or one of them, with their state now; or the windows of a cluster, and why it is closed. A name
 * alone is a Schedule or, where there is none, a Cluster. Throws OBJECT_NOT_FOUND, CLUSTER_NOT_FOUND and TARGET_INVALID.
 */
export async function nextWindows(
  words: readonly string[],
  options: NextOptions,
  config: CliConfig,
): Promise<void> {
  if (words.length === 0) return await listSchedules(options, config);
  const { namespace, count } = options;
  const here = zoneOf(new Intl.DateTimeFormat().resolvedOptions().timeZone);
  const at = { nowMs: Date.now(), here, count };
  const text = await withHub(options, config, (rest) => nextText(rest, words, { namespace, at }));
  process.stdout.write(text);
}

/** What `flotilla schedule next` prints for one object. */
export async function nextText(
  rest: Pick<KubeRest, "get" | "list" | "server">,
  words: readonly string[],
  { namespace, at }: { readonly namespace: string; readonly at: ShownAt },
): Promise<string> {
  const { resource, name } = parseTarget(words, [...scheduleKinds, ...clusterKinds]);
  if (resource.kind === schedules.kind) {
    const found = await rest.get(schedules, { namespace, name });
    if (found !== undefined) return schedulesTable([found], at.nowMs);
    // With its kind it is no other object.
    if (isKindGiven(words)) throw notFound(rest.server, { namespace, name });
  }
  return clusterWindowsText(await readClusterWindows(rest, { namespace, name }), at);
}

function isKindGiven(words: readonly string[]): boolean {
  return words.flatMap((word) => word.split("/")).length > 1;
}

async function listSchedules(options: NextOptions, config: CliConfig): Promise<void> {
  const { namespace } = options;
  const { items } = await withHub(options, config, (rest) => rest.list(schedules, { namespace }));
  const sorted = items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  process.stdout.write(
    sorted.length === 0
      ? `there are no Schedules in the namespace ${namespace}, so its clusters may be changed at any time\n`
      : schedulesTable(sorted, Date.now()),
  );
}

/** An expression has several fields or is one of `@daily` and so on; names of objects have neither. */
function isExpression(text: string): boolean {
  const words = text.trim().split(/\s+/);
  return words.length > 2 || text.trim().startsWith("@") || text.trim() === "";
}

async function readSchedule(
  words: readonly string[],
  options: HubOptions & { readonly namespace: string },
  config: CliConfig,
): Promise<Schedule> {
  const { namespace } = options;
  const { name } = parseTarget(words, scheduleKinds);
  return await withHub(options, config, async (rest) => {
    const found = await rest.get(schedules, { namespace, name });
    if (found === undefined) throw notFound(rest.server, { namespace, name });
    return found;
  });
}

function notFound(
  server: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): AppError {
  return new AppError(
    cliErrors.OBJECT_NOT_FOUND,
    `read Schedule ${namespace}/${name}: not found on ${server}; check -n, --kubeconfig and --context`,
  );
}
