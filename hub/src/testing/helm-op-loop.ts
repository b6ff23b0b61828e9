/** The loop of HelmOps over an API server in memory, with whatever resolver a test has, on a clock that stands still. */
import type { Bundle } from "@flotilla/shared/api/bundle.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import type { Policy } from "@flotilla/shared/api/policy.ts";
import { bundles, helmOps } from "@flotilla/shared/api/resources.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { createStore } from "@flotilla/shared/kube/cache/store.ts";
import type { Result } from "@flotilla/shared/kube/controller/reconcile.ts";
import type { EventNote } from "@flotilla/shared/kube/events/events.ts";
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects/object.ts";
import { aContext } from "@flotilla/shared/kube/testing/a-context.ts";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing/memory-api-server.ts";
import type { Resolver } from "@flotilla/shared/source/client/source-client.ts";
import { createFakeClock, type FakeClock } from "@flotilla/shared/time/testing/fake-clock.ts";
import { helmOpReconciler } from "../helmop/reconcile.ts";
import { helmOpStatus } from "../helmop/status.ts";
import { createPatterns } from "../policy/patterns.ts";
import type { HelmOpAccess } from "../resolve/chart-access.ts";
import { createDoubts } from "../resolve/doubts.ts";
import { createPinSeals } from "../resolve/pin-signature.ts";
import { createOutcomes, type HelmOpIntent } from "../status/intent.ts";
import { tallied } from "./tallied.ts";

export interface HelmOpLoop {
  readonly clock: FakeClock;
  readonly events: readonly EventNote[];
  put(helmOp: HelmOp): void;
  govern(policy: Policy): void;
  revoke(policy: Policy): void;
  /** The Bundle of a HelmOp, if it has one. */
  bundle(key: ObjectKey): Bundle | undefined;
  /** Somebody writes the Bundle of a HelmOp. */
  putBundle(bundle: Bundle): void;
  /** An agent says that it could not fetch what is pinned. */
  doubt(key: ObjectKey): void;
  /** What comes of reading what its charts are accessed with, the next times. */
  nextAccess(...next: readonly (Pick<HelmOpAccess, "hasChanged"> | AppError)[]): void;
  /** One run, after which the status is told, where there is anything to tell. */
  reconcile(key: ObjectKey): Promise<Result>;
  intent(key: ObjectKey): HelmOpIntent;
  helmOp(key: ObjectKey): HelmOp;
  /** As another process that begins with what is in the API server. */
  restart(): void;
}

export function createHelmOpLoop(resolver: Resolver, clock = createFakeClock()): HelmOpLoop {
  const rest = createMemoryApiServer();
  const events: EventNote[] = [];
  const stores = {
    helmOps: createStore<HelmOp>(),
    bundles: createStore<Bundle>(),
    deployments: createStore<BundleDeployment>(),
  };
  const policies = createStore<Policy>();
  const doubts = createDoubts(clock);
  const accesses: (Pick<HelmOpAccess, "hasChanged"> | AppError)[] = [];
  let outcomes = createOutcomes();
  let run = start();

  function start() {
    return helmOpReconciler({
      rest,
      ...stores,
      policies,
      patterns: createPatterns(),
      doubts,
      resolver,
      access: {
        of() {
          const next = accesses.shift() ?? { hasChanged: false };
          return next instanceof AppError
            ? Promise.reject(next)
            : Promise.resolve({ settingsFor: () => ({}), ...next });
        },
        users: () => [],
        forget: () => undefined,
      },
      outcomes,
      markStatus: () => undefined,
      events: {
        record: (_, note) => void events.push(note),
        flush: () => Promise.resolve(),
      },
      clock,
      hubId: "hub",
      seals: createPinSeals(Buffer.from("seal")),
    });
  }

  function helmOpOf(key: ObjectKey): HelmOp {
    const found = stores.helmOps.get(key);
    if (found === undefined) throw new Error(`there is no HelmOp ${key}`);
    return found;
  }

  function intentOf(key: ObjectKey): HelmOpIntent {
    const intent = outcomes.helmOps.get(key);
    if (intent === undefined) throw new Error(`nothing was told of ${key}`);
    return intent;
  }

  return {
    clock,
    events,
    put: (helmOp) => void stores.helmOps.set(rest.put(helmOps, helmOp)),
    govern: (policy) => void policies.set(policy),
    revoke: (policy) => void policies.remove(policy),
    bundle: (key) => rest.peek(bundles, refOf(key)),
    putBundle: (bundle) => void stores.bundles.set(rest.put(bundles, bundle)),
    doubt: (key) => void doubts.raise(key),
    nextAccess: (...next) => void accesses.push(...next),
    async reconcile(key) {
      const outcome = await run(key, aContext());
      const [ours, made] = [rest.peek(helmOps, refOf(key)), rest.peek(bundles, refOf(key))];
      if (ours !== undefined) stores.helmOps.set(ours);
      if (made !== undefined) stores.bundles.set(made);
      const helmOp = helmOpOf(key);
      const intent = outcomes.helmOps.get(key);
      if (intent === undefined) return outcome;
      const status = helmOpStatus({
        helmOp,
        intent,
        bundle: made,
        targeting: undefined,
        ...tallied([]),
        now: new Date(clock.now()).toISOString(),
      });
      stores.helmOps.set(rest.put(helmOps, { ...helmOp, status }));
      return outcome;
    },
    intent: intentOf,
    helmOp: helmOpOf,
    restart() {
      outcomes = createOutcomes();
      run = start();
    },
  };
}

/** The key of `aHelmOp()`. */
export const web: ObjectKey = keyOf({ namespace: "fleet-default", name: "web" });
