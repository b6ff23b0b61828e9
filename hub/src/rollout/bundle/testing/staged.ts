/** The staged rollouts of a leader, with caches that have every BundleRollout and Gate of an API server in memory. */
import type { Bundle, ClusterGroup, Schedule } from "@flotilla/shared/api";
import { type BundleRollout, bundleRollouts, type Gate, gates } from "@flotilla/shared/api/rollout";
import { createStore } from "@flotilla/shared/kube/cache";
import type { MemoryApiServer } from "@flotilla/shared/kube/testing";
import type { Clock } from "@flotilla/shared/time";
import { createDeploymentSigner } from "../../../rules/content/deployment-signature.ts";
import { createSchedules } from "../../../rules/schedule/schedules.ts";
import { createRolloutWindows } from "../../stages/rollout-windows.ts";
import { createStagedRollouts, type StagedRollouts } from "../../stages/staged-rollouts.ts";
import { signer } from "./preparer.ts";

export function testStagedRollouts(rest: MemoryApiServer, clock: Clock): StagedRollouts {
  const rollouts = createStore<BundleRollout>();
  for (const rollout of rest.all(bundleRollouts)) rollouts.set(rollout);
  const gateStore = createStore<Gate>();
  for (const gate of rest.all(gates)) gateStore.set(gate);
  const schedules = createStore<Schedule>();
  return createStagedRollouts({
    rest,
    rollouts,
    gates: gateStore,
    bundles: createStore<Bundle>(),
    strategyOf: ({ spec }) => spec.rolloutStrategy ?? undefined,
    awaited: { problemOf: () => undefined },
    signer,
    windows: createRolloutWindows({
      schedules,
      rules: createSchedules({ schedules, groups: createStore<ClusterGroup>() }),
    }),
    deploymentSigner: createDeploymentSigner(signer),
    contents: {
      ensure: () => Promise.resolve(),
      read: (id) => Promise.reject(new Error(`no content is stored: ${id}`)),
    },
    // No strategy of these tests waits for the approval of a plan.
    plans: {
      planOf: () => undefined,
      ask: () => undefined,
      store: () => Promise.resolve(),
      keep: () => undefined,
    },
    clock,
  });
}
