/**
 * Signs the BundleDeployments of a hub that did not sign them, once: from then on those without a signature count for nothing
 * (docs/adr/0046). What they say was believed until now. Their Bundles' controller signs what it writes itself, but not what is
 * paused, or of a Bundle that is not accepted.
 */
import {
  type Bundle,
  type BundleDeployment,
  bundleDeployments,
  type Cluster,
  isManagedElsewhere,
} from "@flotilla/shared/api";
import { createSemaphore } from "@flotilla/shared/concurrency";
import type { Store } from "@flotilla/shared/kube/cache";
import { isConflict, isNotFound, type KubeRest, listAll } from "@flotilla/shared/kube/client";
import { createController, done, requeueAfter } from "@flotilla/shared/kube/controller";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import type { Registry } from "prom-client";
import { bundleKeyOf, clusterKeyOf } from "../../base/index.ts";
import type { DeploymentSigner } from "../../rules/index.ts";

export interface SigningDeps {
  readonly rest: KubeRest;
  readonly clusters: Pick<Store<Cluster>, "get">;
  readonly bundles: Pick<Store<Bundle>, "get">;
  readonly signer: DeploymentSigner;
}

export interface SigningControllerDeps extends SigningDeps {
  /** Records that all are signed. */
  readonly record: (signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
}

const parallelWrites = 16;

/** Runs until `signal` aborts; does nothing more when all are signed. */
export async function runSigning(deps: SigningControllerDeps, signal: AbortSignal): Promise<void> {
  const controller = createController({
    name: "deployment-signing",
    reconcile: async (_, context) => {
      if (!(await signExisting(deps, context.signal)))
        return requeueAfter(0, "deployments were signed; lists them again");
      await deps.record(context.signal);
      deps.log.info("every BundleDeployment is signed");
      return done();
    },
    log: deps.log,
    metrics: deps.metrics,
    clock: deps.clock,
  });
  controller.enqueue(keyOf({ name: "all" }));
  await controller.run(signal);
}

/** Signs all as they are now. Whether there was nothing to sign. */
export async function signExisting(
  { rest, clusters, bundles, signer }: SigningDeps,
  signal: AbortSignal,
): Promise<boolean> {
  // From the API server: one that the cache does not have yet would have no signature for ever.
  const { objects } = await listAll({
    rest,
    resource: bundleDeployments,
    selection: {},
    transform: ({ status: _, ...deployment }) => deployment,
    signal,
  });
  const unsigned = objects.filter(
    (deployment) => !signer.isSigned(deployment) && isOurs(deployment, clusters),
  );
  const writes = createSemaphore(parallelWrites);
  await Promise.all(
    unsigned.map((deployment) => {
      const bundleUid = bundles.get(bundleKeyOf(deployment))?.metadata.uid;
      return writes.run(() => sign(rest, signer.signed(deployment, bundleUid), signal));
    }),
  );
  return unsigned.length === 0;
}

/** Deployments for a Cluster that another system manages stay as they are. */
function isOurs(deployment: BundleDeployment, clusters: SigningDeps["clusters"]): boolean {
  const cluster = clusters.get(clusterKeyOf(deployment));
  return cluster === undefined || !isManagedElsewhere(cluster);
}

async function sign(rest: KubeRest, signed: BundleDeployment, signal: AbortSignal): Promise<void> {
  const { uid, resourceVersion, annotations } = signed.metadata;
  const body = { metadata: { uid, resourceVersion, annotations } };
  try {
    await rest.patch(bundleDeployments, signed.metadata, { type: "merge", body }, { signal });
  } catch (thrown) {
    // Written or deleted meanwhile: the next list shows it.
    if (!isNotFound(thrown) && !isConflict(thrown)) throw thrown;
  }
}
