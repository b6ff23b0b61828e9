/** The events on the objects of a release, as lines of JSON: the newest first. */

import { AppError } from "@flotilla/shared/errors";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import { type Event, events } from "@flotilla/shared/kube/objects";
import { agentErrors } from "../../base/errors/index.ts";
import type { AnswerSink } from "./open-requests.ts";
import type { RequestedRelease } from "./requested-release.ts";
import { resourceTree, type TreeDeps } from "./resource-tree.ts";

const maxEvents = 200;
const pageSize = 500;
/** The limit of one namespace. */
const maxPages = 10;

/** Throws REQUEST_FAILED if the account may not list events, or if there is no release. */
export async function writeEvents(
  deps: TreeDeps,
  release: RequestedRelease,
  { write, signal }: AnswerSink,
): Promise<void> {
  const objects = new Set<string>();
  const namespaces = new Set<string>();
  for await (const { kind, ref, object } of resourceTree(deps, release, signal)) {
    // Events of an object without a namespace are in the default one.
    const namespace = ref.namespace ?? "default";
    namespaces.add(namespace);
    objects.add(`${kind}/${ref.namespace ?? ""}/${ref.name}`);
    if (typeof object === "object" && object.metadata.uid !== undefined)
      objects.add(object.metadata.uid);
  }
  const found: Event[] = [];
  for (const namespace of namespaces)
    for await (const event of eventsIn(release, namespace, signal)) {
      const { uid = "", kind = "", namespace: own = "", name = "" } = event.regarding ?? {};
      if (objects.has(uid) || (uid === "" && objects.has(`${kind}/${own}/${name}`)))
        found.push(event);
    }
  for (const event of found
    .sort((one, other) => (timeOf(one) < timeOf(other) ? 1 : -1))
    .slice(0, maxEvents))
    await write(`${JSON.stringify(eventEntry(event))}\n`);
}

async function* eventsIn(
  { rest, subject }: RequestedRelease,
  namespace: string,
  signal: AbortSignal,
): AsyncIterable<Event> {
  let next: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const read = await rest
      .list(events, { namespace, limit: pageSize, signal, ...(next !== undefined && { next }) })
      .catch((thrown: unknown) => {
        if (!(thrown instanceof KubeStatusError)) throw thrown;
        throw new AppError(
          agentErrors.REQUEST_FAILED,
          `list the events in namespace ${namespace} as ${subject}: ${thrown.serverMessage}`,
        );
      });
    yield* read.items;
    next = read.next;
    if (next === undefined) return;
  }
}

/** When it was reported last, also for events that were written through the older API. */
function timeOf(event: Event): string {
  const { series, eventTime, deprecatedLastTimestamp, metadata } = event;
  const time = series?.lastObservedTime || deprecatedLastTimestamp || eventTime;
  return String(time || metadata.creationTimestamp || "");
}

/** Pure. */
export function eventEntry(event: Event) {
  const { type, reason = "", note = "", regarding, series, deprecatedCount } = event;
  const { kind = "", namespace = "", name = "" } = regarding ?? {};
  return {
    time: timeOf(event),
    type: type ?? "Normal",
    reason,
    message: note,
    count: series?.count ?? deprecatedCount ?? 1,
    object: { kind, namespace, name },
    reporter: event.reportingController || event.deprecatedSource?.component || "",
  };
}
