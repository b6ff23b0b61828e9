/** What is reported of a release whose objects were not ready in time. Pure. */
import { AppError } from "@flotilla/shared/errors";
import { agentErrors } from "../../base/errors/index.ts";
import type { ReleaseKey } from "../../helm/index.ts";
import type { Readiness } from "../../observe/index.ts";

type Unready = Pick<Readiness, "notReady" | "counts" | "runningJob">;

/** In a message. */
const maxReasons = 5;

export function notReadyError({ namespace, name }: ReleaseKey, readiness: Unready): AppError {
  return new AppError(
    agentErrors.RELEASE_NOT_READY,
    `release ${namespace}/${name} was not ready at the end of its timeout: ${reasonsOf(readiness)}`,
  );
}

function reasonsOf({ notReady, counts, runningJob }: Unready): string {
  if (notReady.length === 0) return `Job ${runningJob ?? ""} is not complete`;
  const shown = notReady.slice(0, maxReasons);
  const total = counts.notReady + counts.missing + counts.unknown;
  const reasons = shown.map(({ kind, name, message }) => `${kind} ${name}: ${message}`).join("; ");
  return total > shown.length ? `${reasons}; and ${total - shown.length} more` : reasons;
}
