/** The hub is killed in the middle of a rollout and started again: whether the limits hold, and when it goes on. */
import { hubNamespace } from "@flotilla/shared/api/names";
import { createInformer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { leases } from "@flotilla/shared/kube/objects";
import { silentLog } from "@flotilla/shared/log";
import { brokenLimits } from "../../src/rollout/observed-limits.ts";
import type { Figure } from "../measure/figures.ts";
import {
  change,
  contentsNow,
  observedQuarters,
  quarters,
  rolloutAs,
  type StagedFleet,
  untilReady,
} from "./staged-fleet.ts";

const barMs = 15_000;
/** In flight at a time, of a quarter. */
const share = 10;
/** The Lease of the leader. */
const leaderLease = "flotilla-hub";

export async function killedHubFigures(fleet: StagedFleet): Promise<readonly Figure[]> {
  const { bench, agents, observer } = fleet;
  const inStage = Math.ceil(agents / 4);
  const maxUnavailable = Math.max(1, Math.floor(inStage / share));
  const before = contentsNow(observer);
  const from = observer.states.length;
  await change(fleet, quarters(agents, { maxUnavailable }));
  // In the middle of the second quarter.
  const content = await untilReady(fleet, Math.floor(inStage * 1.5), { from, before });

  const lease = await watchLeader(bench.fleet.hub);
  const hub = bench.fleet.hubProcess();
  const killedAtMs = performance.now();
  process.kill(hub.identity.pid, "SIGKILL");
  await hub.exited;
  const promotedBefore = promotions();
  const startedAtMs = performance.now();
  await bench.fleet.startHub();
  await observer.until(() => promotions() > promotedBefore);
  const goesOnMs = performance.now() - killedAtMs;
  const leadsMs = (await lease.renewed(startedAtMs)) - killedAtMs;
  await lease.close();
  await untilReady(fleet, agents, { from, before });
  await rolloutAs(fleet, ({ status }) => status?.phase === "Completed");
  const broken = brokenLimits(
    observer.states.slice(from),
    content,
    observedQuarters(fleet, maxUnavailable),
  );
  return [
    {
      what: `hub killed in a rollout of ${agents} clusters, from its end to the next promotion`,
      unit: "ms",
      value: goesOnMs,
      baseline: { what: "until the new one has its Lease", value: leadsMs },
      bar: barMs,
    },
    {
      what: `limits of ${maxUnavailable} in flight that were broken before, meanwhile and after`,
      unit: "errors",
      value: broken.length,
      bar: 0,
      detail:
        broken[0] ?? `${observer.states.length - from} states of BundleDeployments were checked`,
    },
  ];

  function promotions(): number {
    let count = 0;
    for (const { desired } of observer.latest.values()) if (desired === content) count += 1;
    return count;
  }
}

/** When the Lease of the leader was written. */
async function watchLeader(rest: KubeRest) {
  const stop = new AbortController();
  const informer = createInformer({
    rest,
    resource: leases,
    namespace: hubNamespace,
    log: silentLog(),
  });
  const watching = informer.run(stop.signal);
  await informer.synced;
  const writtenAtMs: number[] = [];
  informer.onChange(({ after }) => {
    if (after?.metadata.name === leaderLease) writtenAtMs.push(performance.now());
  });
  return {
    /** The first time after another one. It was: a leader promotes nothing before. */
    renewed: (afterMs: number) =>
      Promise.resolve(writtenAtMs.find((each) => each > afterMs) ?? Number.NaN),
    async close() {
      stop.abort();
      await watching;
    },
  };
}
