/** The reconciler of HelmReleases on an API server in memory. The test decides when watches deliver. */
import {
  type Bundle,
  type BundleDeployment,
  bundleDeployments,
  bundles,
  type Cluster,
  clusters,
  type Policy,
  policies,
} from "@flotilla/shared/api";
import {
  type Bucket,
  type GitRepository,
  type HelmChart,
  type HelmRelease,
  type HelmReleaseStatus,
  type HelmRepository,
  helmCharts,
  helmReleases,
  helmRepositories,
  type OCIRepository,
  ociRepositories,
} from "@flotilla/shared/flux";
import type { Result } from "@flotilla/shared/kube/controller";
import type { EventNote, EventRecorder } from "@flotilla/shared/kube/events";
import {
  type KubeObject,
  keyOf,
  type ObjectKey,
  type ObjectMeta,
  type Resource,
} from "@flotilla/shared/kube/objects";
import {
  aContext,
  createMemoryApiServer,
  type MemoryApiServer,
} from "@flotilla/shared/kube/testing";
import { createPatterns } from "@flotilla/shared/regex";
import type { Pin } from "@flotilla/shared/source";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { createPinSigner, type PinSigner } from "../../../rules/resolve/pin-signature.ts";
import { chartArtifact, pinMetadata } from "../../../sources/helmchart/artifact.ts";
import {
  createWatchedStore,
  digestA,
  httpPin,
  now,
  type WatchedStore,
} from "../../../testing/index.ts";
import { frontEndReconciler } from "../../lifecycle/reconcile.ts";
import { helmReleaseFrontEnd } from "../front-end.ts";
import type { ValidationOptions } from "../validate.ts";

export interface TestReleases {
  readonly rest: MemoryApiServer;
  readonly events: readonly EventNote[];
  readonly signer: PinSigner;
  /** Watches deliver, one reconcile, its status is written, and watches deliver that. */
  reconcile(name?: string): Promise<Result>;
  /** The HelmRelease `apps/web`, unless another name is given. */
  release(name?: string): HelmRelease | undefined;
  /** `False SourceNotReady`: the condition Accepted. */
  accepted(name?: string): string;
  chart(key?: string): HelmChart | undefined;
  bundle(name?: string): Bundle | undefined;
  /** The HelmRepository `apps/charts`. */
  putHelmRepository(): void;
  /** The HelmChart is resolved to this pin, as by its controller. */
  resolveChart(pin?: Pin, name?: string): void;
  /** The OCIRepository `apps/web`, with this pin. */
  putOciRepository(
    pin: Pin,
    /** In another namespace, with a Secret. */
    shared?: Pick<ObjectMeta, "annotations"> & { readonly namespace: string },
  ): void;
}

const namespace = "apps";
const everything: ValidationOptions = {
  crossNamespaceReferences: false,
  requireLocalAccount: false,
};

export function createTestReleases(options: ValidationOptions = everything): TestReleases {
  const rest = createMemoryApiServer();
  const signer = createPinSigner(Buffer.from("the key of this hub"));
  const events: EventNote[] = [];
  const published = new Map<ObjectKey, HelmReleaseStatus>();
  const flux = {
    helmReleases: createWatchedStore<HelmRelease>(),
    helmCharts: createWatchedStore<HelmChart>(),
    helmRepositories: createWatchedStore<HelmRepository>(),
    ociRepositories: createWatchedStore<OCIRepository>(),
    gitRepositories: createWatchedStore<GitRepository>(),
    buckets: createWatchedStore<Bucket>(),
  };
  const caches = {
    bundles: createWatchedStore<Bundle>(),
    deployments: createWatchedStore<BundleDeployment>(),
    clusters: createWatchedStore<Cluster>(),
    policies: createWatchedStore<Policy>(),
  };
  const recorder: EventRecorder = {
    record: (_, note) => void events.push(note),
    flush: () => Promise.resolve(),
  };
  const frontEnd = helmReleaseFrontEnd({
    rest,
    signer,
    options,
    flux,
    deployments: caches.deployments.store,
    clusters: caches.clusters.store,
    statuses: {
      current: (release) => published.get(keyOf(release)) ?? release.status,
      publish: (release, status) => void published.set(keyOf(release), status),
    },
    events: recorder,
  });
  const run = frontEndReconciler(frontEnd, {
    rest,
    signer,
    bundles: caches.bundles.store,
    policies: caches.policies.store,
    patterns: createPatterns(),
    events: recorder,
    clock: createFakeClock(),
  });

  function deliver<T extends KubeObject>(cache: WatchedStore<T>, resource: Resource<T>): void {
    const objects = rest.all(resource);
    const found = new Set(objects.map(keyOf));
    for (const object of objects) cache.saw(object);
    for (const key of cache.keys()) if (!found.has(key)) cache.missed(key);
  }

  function deliverAll(): void {
    deliver(flux.helmReleases, helmReleases);
    deliver(flux.helmCharts, helmCharts);
    deliver(flux.helmRepositories, helmRepositories);
    deliver(flux.ociRepositories, ociRepositories);
    deliver(caches.bundles, bundles);
    deliver(caches.deployments, bundleDeployments);
    deliver(caches.clusters, clusters);
    deliver(caches.policies, policies);
  }

  function release(name = "web"): HelmRelease | undefined {
    return rest.peek(helmReleases, { namespace, name });
  }

  return {
    ...{ rest, events, signer, release },
    async reconcile(name = "web") {
      deliverAll();
      const result = await run(keyOf({ namespace, name }), aContext());
      const status = published.get(keyOf({ namespace, name }));
      const stored = release(name);
      published.clear();
      if (stored !== undefined && status !== undefined)
        rest.put(helmReleases, { ...stored, status });
      deliverAll();
      return result;
    },
    accepted(name) {
      const found = release(name)?.status?.conditions?.find(({ type }) => type === "Accepted");
      return `${found?.status} ${found?.reason}`;
    },
    chart: (name = "apps-web") => rest.peek(helmCharts, { namespace, name }),
    bundle: (name = "helmrelease-web") => rest.peek(bundles, { namespace, name }),
    putHelmRepository: () =>
      void rest.put(helmRepositories, {
        metadata: { namespace, name: "charts", uid: "uid-charts", generation: 1 },
        spec: { url: "https://charts.example.com", provider: "generic" },
      }),
    resolveChart(pin = httpPin("1.2.9"), name = "apps-web") {
      const chart = rest.peek(helmCharts, { namespace, name });
      if (chart === undefined) throw new Error(`there is no HelmChart ${name}`);
      const url = "https://charts.example.com";
      const artifact = chartArtifact(chart, { name: "web", pin, digest: digestA, url }, signer);
      rest.put(helmCharts, {
        ...chart,
        status: {
          observedGeneration: chart.metadata.generation,
          artifact: { ...artifact, lastUpdateTime: now },
        },
      });
    },
    putOciRepository(pin, shared) {
      const metadata = { namespace, name: "web", uid: "uid-oci", generation: 1, ...shared };
      const artifact = {
        revision: "1.0.0",
        digest: digestA,
        url: "",
        path: "",
        lastUpdateTime: now,
      };
      rest.put(ociRepositories, {
        metadata,
        spec: {
          url: "oci://r.example.com/web",
          interval: "1h",
          timeout: "60s",
          provider: "generic",
          ...(shared !== undefined && { secretRef: { name: "login" } }),
        },
        status: {
          observedGeneration: 1,
          artifact: {
            ...artifact,
            metadata: pinMetadata("OCIRepository", metadata, pin, signer),
          },
        },
      });
    },
  };
}
