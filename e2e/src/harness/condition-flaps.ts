/** Conditions that change on the hub while something is done that must change none. */
import {
  type BundleDeployment,
  bundleDeployments,
  type Cluster,
  clusters,
  type HelmOp,
  helmOps,
} from "@flotilla/shared/api";
import type { ClusterClient } from "./cluster-client.ts";

type WithConditions = HelmOp | BundleDeployment | Cluster;

/**
 * `KIND NAME: BEFORE -> AFTER` for every object that had other statuses of its conditions meanwhile. One of a type that the
 * object did not have is not a change: newer versions report more.
 */
export async function flapsDuring(
  hub: ClusterClient,
  work: () => Promise<void>,
): Promise<readonly string[]> {
  const flaps = new Set<string>();
  const ended = new AbortController();
  const watches = [helmOps, bundleDeployments, clusters].map(async (resource) => {
    const { items, resourceVersion } = await hub.list<WithConditions>(resource, {});
    const before = new Map(items.map((each) => [each.metadata.uid, statusesOf(each)]));
    const events = hub.watch<WithConditions>(resource, {
      resourceVersion,
      timeoutSeconds: 300,
      signal: ended.signal,
    });
    return async () => {
      for await (const event of events) {
        if (event.type === "BOOKMARK") continue;
        const was = before.get(event.object.metadata.uid);
        if (was === undefined) continue;
        const is = statusesOf(event.object).filter(([type]) =>
          was.some(([known]) => known === type),
        );
        if (describe(was) !== describe(is))
          flaps.add(
            `${resource.kind} ${event.object.metadata.name}: ${describe(was)} -> ${describe(is)}`,
          );
      }
    };
  });
  const running = (await Promise.all(watches)).map((watch) => watch().catch(() => undefined));
  await work();
  ended.abort();
  await Promise.all(running);
  return [...flaps];
}

type Statuses = readonly (readonly [type: string, status: string])[];

function statusesOf({ status }: WithConditions): Statuses {
  return (status?.conditions ?? []).map(({ type, status: value }) => [type, value]);
}

function describe(statuses: Statuses): string {
  return statuses
    .map(([type, value]) => `${type}=${value}`)
    .sort()
    .join(" ");
}
