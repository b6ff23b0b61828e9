/** The reconciler of HelmOps on an API server in memory, with a given resolver and a fake clock. */
import {
  type Bundle,
  type BundleDeployment,
  bundles,
  type HelmOp,
  helmOps,
  type Policy,
} from "@flotilla/shared/api";
import { AppError } from "@flotilla/shared/errors";
import { createStore } from "@flotilla/shared/kube/cache";
import type { Result } from "@flotilla/shared/kube/controller";
import type { EventNote, EventRecorder } from "@flotilla/shared/kube/events";
import { keyOf, type ObjectKey, refOf } from "@flotilla/shared/kube/objects";
import { aContext, createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { createPatterns } from "@flotilla/shared/regex";
import type { DownloadPin } from "@flotilla/shared/source";
import type { Resolver } from "@flotilla/shared/source/client";
import { createFakeClock, type FakeClock } from "@flotilla/shared/time/testing";
import { helmOpFrontEnd } from "../frontends/helmop/front-end.ts";
import { helmOpStatus } from "../frontends/helmop/status.ts";
import { frontEndReconciler } from "../frontends/lifecycle/reconcile.ts";
import { createChartResolver } from "../rules/resolve/chart-resolver.ts";
import { createPinSigner } from "../rules/resolve/pin-signature.ts";
import { chartNotFetched } from "../rules/summary/deployment-state.ts";
import { aggregated } from "./aggregated.ts";
import { aDeployment } from "./objects.ts";

export interface TestHelmOps {
  readonly clock: FakeClock;
  readonly events: readonly EventNote[];
  put(helmOp: HelmOp): void;
  govern(policy: Policy): void;
  revoke(policy: Policy): void;
  /** The Bundle of a HelmOp, if it has one. */
  bundle(key: ObjectKey): Bundle | undefined;
  /** Another client writes the Bundle of a HelmOp. */
  putBundle(bundle: Bundle): void;
  /** Whether the agent of the cluster paris reports that it cannot fetch the pinned chart of the HelmOp `web`. */
  fetchFails(isFailing: boolean): void;
  /** The results of the next reads of credentials: their version, or an error. */
  nextAccess(...next: readonly (string | AppError)[]): void;
  /** One reconcile, after which the status is written. */
  reconcile(key: ObjectKey, retries?: number): Promise<Result>;
  /** Writes the status that was published last, while a reconcile runs; whether there was one. */
  write(key: ObjectKey): boolean;
  helmOp(key: ObjectKey): HelmOp;
  /** A user deletes the HelmOp; our watch is behind. */
  deleteUnseen(key: ObjectKey): Promise<unknown>;
  /** The watch of HelmOps has caught up. */
  catchUp(key: ObjectKey): void;
  /** The Bundle ceases to exist, and our watch delivers it. */
  removeBundle(key: ObjectKey): void;
  /** Our watch of Bundles is behind: it has not delivered the Bundle yet. */
  forgetBundle(key: ObjectKey): void;
  /** Whether the HelmOp still exists in the API server. */
  exists(key: ObjectKey): boolean;
  /** Another leader, which has only the objects in the API server. */
  restart(): void;
}

export function createTestHelmOps(resolver: Resolver, clock = createFakeClock()): TestHelmOps {
  const rest = createMemoryApiServer();
  const events: EventNote[] = [];
  const stores = {
    helmOps: createStore<HelmOp>(),
    bundles: createStore<Bundle>(),
    policies: createStore<Policy>(),
  };
  const deployments = createStore<BundleDeployment>();
  const accesses: (string | AppError)[] = [];
  const published = new Map<ObjectKey, NonNullable<HelmOp["status"]>>();
  let charts = createChartResolver({ resolver, deployments, clock, hubId: "hub" });
  let run = start();

  function start() {
    charts = createChartResolver({ resolver, deployments, clock, hubId: "hub" });
    const recorder: EventRecorder = {
      record: (_, note) => void events.push(note),
      flush: () => Promise.resolve(),
    };
    const signer = createPinSigner(Buffer.from("key"));
    const frontEnd = helmOpFrontEnd({
      ...stores,
      statuses: {
        current: (helmOp) => published.get(keyOf(helmOp)) ?? helmOpOf(keyOf(helmOp)).status,
        publish: (helmOp, status) => void published.set(keyOf(helmOp), status),
      },
      charts,
      access: {
        of(_, options) {
          const next = accesses.shift() ?? "";
          return next instanceof AppError
            ? Promise.reject(next)
            : Promise.resolve({
                settingsFor: () => ({ showsResponses: options?.showsResponses === true }),
                version: next,
              });
        },
        keysUsing: () => [],
        forget: () => undefined,
      },
      events: recorder,
      clock,
      signer,
    });
    const lifecycle = { rest, ...stores, signer, clock, patterns: createPatterns() };
    return frontEndReconciler(frontEnd, { ...lifecycle, events: recorder });
  }

  function helmOpOf(key: ObjectKey): HelmOp {
    const found = stores.helmOps.get(key);
    if (found === undefined) throw new Error(`there is no HelmOp ${key}`);
    return found;
  }

  function forgetBundle(key: ObjectKey): void {
    const known = stores.bundles.get(key);
    if (known !== undefined) stores.bundles.remove(known);
  }

  function writeStatus(key: ObjectKey): boolean {
    const ours = rest.peek(helmOps, refOf(key));
    const decided = published.get(key);
    published.delete(key);
    if (ours === undefined || decided === undefined) return false;
    const written = { ...ours, status: decided };
    const status = helmOpStatus({
      helmOp: written,
      bundle: rest.peek(bundles, refOf(key)),
      ...aggregated([]),
      retryingSinceMs: charts.retryingSinceMs(written),
      now: new Date(clock.now()).toISOString(),
    });
    stores.helmOps.set(rest.put(helmOps, { ...written, ...(status !== undefined && { status }) }));
    return true;
  }

  return {
    clock,
    events,
    put: (helmOp) => void stores.helmOps.set(rest.put(helmOps, helmOp)),
    govern: (policy) => void stores.policies.set(policy),
    revoke: (policy) => void stores.policies.remove(policy),
    bundle: (key) => rest.peek(bundles, refOf(key)),
    putBundle: (bundle) => void stores.bundles.set(rest.put(bundles, bundle)),
    fetchFails(isFailing) {
      const condition = { type: "Deployed", status: "False", reason: chartNotFetched } as const;
      const failing = { conditions: [{ ...condition, observedGeneration: 1 }] };
      const resourceVersion = isFailing ? "1" : "2";
      deployments.set(
        aDeployment("paris", {
          metadata: { resourceVersion },
          ...(isFailing && { status: failing }),
        }),
      );
    },
    nextAccess: (...next) => void accesses.push(...next),
    async reconcile(key, retries) {
      const outcome = await run(key, aContext(retries === undefined ? {} : { retries }));
      writeStatus(key);
      const made = rest.peek(bundles, refOf(key));
      if (made !== undefined) stores.bundles.set(made);
      return outcome;
    },
    write: writeStatus,
    helmOp: helmOpOf,
    deleteUnseen: (key) => rest.delete(helmOps, refOf(key)),
    catchUp(key) {
      const known = stores.helmOps.get(key);
      const now = rest.peek(helmOps, refOf(key));
      if (now !== undefined) stores.helmOps.set(now);
      else if (known !== undefined) stores.helmOps.remove(known);
    },
    removeBundle(key) {
      rest.remove(bundles, refOf(key));
      forgetBundle(key);
    },
    forgetBundle,
    exists: (key) => rest.peek(helmOps, refOf(key)) !== undefined,
    restart() {
      run = start();
    },
  };
}

/** The key of `aHelmOp()`. */
export const web: ObjectKey = keyOf({ namespace: "fleet-default", name: "web" });

interface Answers {
  current: DownloadPin | AppError;
  readonly requests: number;
  /** They come once this has passed. */
  slow: Promise<void>;
}

/** HelmOps, and the repository of their charts: its answer, which a test sets, and the number of its requests. */
export function testRepository(first: DownloadPin | AppError): {
  readonly answers: Answers;
  readonly helmOps: TestHelmOps;
} {
  const answers = { current: first, requests: 0, slow: Promise.resolve() };
  const resolver: Resolver = {
    async resolve() {
      answers.requests += 1;
      await answers.slow;
      const { current } = answers;
      if (current instanceof AppError) throw current;
      return { pin: current, problems: [] };
    },
  };
  return { answers, helmOps: createTestHelmOps(resolver) };
}
