/** The revisions of a release that Helm has stored, as `helm history` shows them, with the results of their tests. */
import { cleanText } from "@flotilla/proto";
import type { StoredRelease } from "../../helm/index.ts";
import { applyRemarks } from "../../release/index.ts";
import type { InventoryRevision } from "../../state/index.ts";
import type { AnswerSink } from "./open-requests.ts";
import {
  type RequestedRelease,
  readRevision,
  revisionsOf,
  type StoredDeps,
} from "./requested-release.ts";

/** The newest. Each is read by itself: a Secret may have a megabyte. */
const maxRevisions = 50;
/** The error of a failed revision can be long. */
const descriptionChars = 1_000;

export interface HistoryRequest extends RequestedRelease {
  /** Removes values of Secrets, which errors of the API server name. Absent: they cannot be read now. */
  readonly redact: ((text: string) => string) | undefined;
}

/** Writes a line of JSON for each revision, newest first. */
export async function writeHistory(
  deps: StoredDeps,
  release: HistoryRequest,
  { write, signal }: AnswerSink,
): Promise<void> {
  for (const revision of revisionsOf(deps, release).slice(0, maxRevisions)) {
    const stored = await readRevision(deps, release, revision, signal);
    const known = release.known?.find((each) => each.revision === revision);
    if (stored === undefined) continue;
    const description = shownDescription(stored, release.redact);
    await write(`${JSON.stringify(historyEntry({ ...stored, description }, known))}\n`);
  }
}

/** Pure. What Helm says of a revision that has not failed is always the same. */
function shownDescription(
  { status, description = "" }: StoredRelease,
  redact: HistoryRequest["redact"],
): string {
  if (redact !== undefined) return redact(description);
  return status === "failed"
    ? "failed, with an error that is not shown: it may have values of Secrets, and they cannot be read now"
    : description;
}

/** Pure. `known`: what the agent knows of the revision, if it has created it. */
export function historyEntry(
  release: StoredRelease,
  { notes, reasons }: Pick<InventoryRevision, "notes" | "reasons"> = {},
) {
  const remarks = applyRemarks(notes);
  const description = [...(release.description ? [release.description] : []), ...remarks];
  const { namespace, name, revision, status, chartName, chartVersion, appVersion } = release;
  return {
    namespace,
    release: name,
    revision,
    status,
    chartName,
    chartVersion,
    appVersion,
    ...(release.deployedAt !== undefined && { deployedAt: release.deployedAt }),
    ...(reasons !== undefined && reasons.length > 0 && { reasons }),
    description: cleanText(description.join("; "), descriptionChars),
    tests: release.tests.map(({ name: test, phase, startedAt, completedAt }) => ({
      name: test,
      phase: phase ?? "not run",
      ...(startedAt !== undefined && { startedAt }),
      ...(completedAt !== undefined && { completedAt }),
    })),
  };
}
