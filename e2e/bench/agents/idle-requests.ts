/** The requests of an idle fleet to the hub's API server. */
import { setTimeout as sleep } from "node:timers/promises";
import { hubNamespace } from "@flotilla/shared/api/names";
import { createInformer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { leases } from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";
import { requestCounts, since } from "../measure/request-counts.ts";
import type { AgentsFleet } from "./agents-fleet.ts";

export interface Asked {
  readonly perMinute: number;
  readonly detail: string;
  /** The renewals per minute of the Leases of the leader and of the replica; `perMinute` is without them. */
  readonly renewalsPerMinute: number;
}

/** The time for pending writes before the measurement. */
const settleMs = 5_000;

/** Without watches that are restarted after their timeout, Events, and the control plane's own requests. */
export async function idleRequests({ fleet }: AgentsFleet, idleMs: number): Promise<Asked> {
  await sleep(settleMs);
  const before = await requestCounts({ fleet });
  const renewals = await renewalsDuring(fleet.hub, idleMs);
  const made = since(before, await requestCounts({ fleet })).filter(
    ([what]) => what.includes("fleet.cattle.io") && !what.startsWith("WATCH"),
  );
  const perMinute = (count: number): number => (count * 60_000) / idleMs;
  return {
    perMinute: perMinute(made.reduce((sum, [, count]) => sum + count, 0)),
    detail: made.map(([what, count]) => `${what}: ${count}`).join(", "),
    renewalsPerMinute: perMinute(renewals),
  };
}

/** The API server counts Leases of all together, and has one itself: these are seen by a watch. */
async function renewalsDuring(rest: KubeRest, forMs: number): Promise<number> {
  const stop = new AbortController();
  const informer = createInformer({
    rest,
    resource: leases,
    namespace: hubNamespace,
    log: silentLog(),
  });
  const watching = informer.run(stop.signal);
  await informer.synced;
  let renewals = 0;
  informer.onChange(() => {
    renewals += 1;
  });
  await sleep(forMs);
  stop.abort();
  await watching;
  return renewals;
}
