/** Joins concerns that have the same cause, which no object of the fleet stands for: a network, a login, a rack. Pure. */
import { byName, type Concern, type ObjectName, startMs } from "./concern.ts";
import type { ErrorCode } from "./error-codes.ts";
import { byHarm } from "./harm.ts";

/** Clusters that went offline within this time of each other did so for one reason. */
const sameOutageMs = 120_000;

/** Errors that are about the host or the login of a repository, not about one chart. */
const ofHost: ReadonlySet<string> = new Set<ErrorCode>([
  "EGRESS_DENIED",
  "INDEX_FETCH",
  "REGISTRY_RATE_LIMITED",
  "REGISTRY_UNAUTHORIZED",
  "REGISTRY_UNREACHABLE",
  "REPOSITORY_SECRET_INVALID",
]);

export function joinSame(concerns: readonly Concern[]): readonly Concern[] {
  const groups = new Map<string, Concern[]>();
  const outages = outageOf(concerns);
  for (const concern of concerns) {
    const key = outages.get(concern) ?? keyOf(concern);
    groups.set(key, [...(groups.get(key) ?? []), concern]);
  }
  return [...groups.values()].flatMap(joined);
}

/** The earliest stands for all. What the status of one cluster says is about that one only. */
function joined(group: readonly Concern[]): readonly Concern[] {
  if (group.length < 2) return group;
  const all = group.toSorted(earliestFirst);
  const [first] = all;
  if (first === undefined) return [];
  const [harm = first.harm] = group.map((each) => each.harm).toSorted(byHarm);
  return [
    {
      ...first,
      harm,
      message: first.kind === "Cluster" ? "" : first.message,
      clusters: group.reduce((sum, { clusters }) => sum + clusters, 0),
      same: all.map(nameOf),
      affected: group.flatMap(({ affected }) => affected),
    },
  ];
}

function keyOf({ kind, namespace, name, state, code, host, secret }: Concern): string {
  // Nothing has ever run there: there is nothing to tell them apart by.
  if (state === "WaitCheckIn") return JSON.stringify([state, namespace]);
  if (host !== "" && ofHost.has(code)) return JSON.stringify([namespace, code, host, secret]);
  return JSON.stringify([kind, namespace, name]);
}

/** The outage of clusters that are offline: the one that was the first of its outage. */
function outageOf(concerns: readonly Concern[]): ReadonlyMap<Concern, string> {
  const offline = concerns
    .filter(({ kind, state }) => kind === "Cluster" && state === "Offline")
    .toSorted(earliestFirst);
  const outages = new Map<Concern, string>();
  let [start] = offline;
  let lastMs = Number.NaN;
  for (const concern of offline) {
    const sinceMs = Date.parse(concern.since);
    if (!(sinceMs - lastMs <= sameOutageMs)) start = concern;
    lastMs = sinceMs;
    if (start !== undefined)
      outages.set(concern, JSON.stringify(["outage", start.namespace, start.name]));
  }
  return outages;
}

/** The same one in each order of the fleet, so that the entry stays the same. */
function earliestFirst(one: Concern, other: Concern): number {
  return startMs(one) - startMs(other) || byName(one, other);
}

function nameOf({ kind, namespace, name }: Concern): ObjectName {
  return { kind, namespace, name };
}
