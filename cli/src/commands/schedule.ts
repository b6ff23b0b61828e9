/** `flotilla schedule check` and `flotilla schedule next`: when clusters may be changed. */
import { type Schedule, schedules } from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { WindowText } from "@flotilla/shared/quartz";
import type { CliConfig } from "../config.ts";
import { cliErrors } from "../errors.ts";
import type { HubOptions } from "../fleet/index.ts";
import { schedulesTable, startsTable } from "./schedule-table.ts";
import { parseTarget, scheduleKinds } from "./target.ts";
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

/** Prints the Schedules of a namespace, or one of them, with their state now. Throws OBJECT_NOT_FOUND and TARGET_INVALID. */
export async function nextWindows(
  words: readonly string[],
  options: HubOptions & { readonly namespace: string },
  config: CliConfig,
): Promise<void> {
  const list =
    words.length === 0
      ? await withHub(
          options,
          config,
          async (rest) => (await rest.list(schedules, { namespace: options.namespace })).items,
        )
      : [await readSchedule(words, options, config)];
  const sorted = list.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  process.stdout.write(
    sorted.length === 0
      ? `there are no Schedules in the namespace ${options.namespace}, so its clusters may be changed at any time\n`
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
    if (found === undefined)
      throw new AppError(
        cliErrors.OBJECT_NOT_FOUND,
        `read Schedule ${namespace}/${name}: not found on ${rest.server}; check -n, --kubeconfig and --context`,
      );
    return found;
  });
}
