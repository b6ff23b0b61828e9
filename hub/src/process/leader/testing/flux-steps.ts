/** Random changes of Flux's kinds: HelmReleases of each kind of source, which change, and a Receiver. */
import { reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import {
  type Bucket,
  buckets,
  type GitRepository,
  gitRepositories,
  type HelmRelease,
  type HelmReleaseSpec,
  type HelmRepository,
  helmReleases,
  helmRepositories,
  type OCIRepository,
  ociRepositories,
  type Receiver,
  receivers,
} from "@flotilla/shared/flux";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import fc from "fast-check";
import { type TestLeader, workspace } from "../../../testing/index.ts";
import { applyStep, type FleetStep, fleetStep, type RepositoryState, repo } from "./fleet-steps.ts";
import { sourceVersions } from "./flux-sources.ts";

/** Those that concern releases of any kind. */
const commonKinds = [
  "publish",
  "repository",
  "secret",
  "policy",
  "cluster",
  "agents",
  "wait",
] as const;

/** Sources that have one version of the chart at a time. */
const singleKinds = ["bucket", "git", "registry"] as const;

const ownKinds = [
  "release",
  "source",
  ...singleKinds,
  "deleteRelease",
  "deleteSource",
  "requestFlux",
  "receiver",
  "deleteReceiver",
] as const;

type CommonStep = Extract<FleetStep, { readonly kind: (typeof commonKinds)[number] }>;

/** A change of one thing, or time that passes. */
export type FluxStep =
  | CommonStep
  | { readonly kind: "release"; readonly name: string; readonly spec: Partial<HelmReleaseSpec> }
  | { readonly kind: "source"; readonly spec: Partial<NonNullable<HelmRepository["spec"]>> }
  /** What is in it, and how often its source reads it. */
  | {
      readonly kind: (typeof singleKinds)[number];
      readonly version: (typeof sourceVersions)[number];
      readonly interval: string;
    }
  | { readonly kind: "deleteRelease"; readonly name: string }
  | { readonly kind: "deleteSource" }
  | { readonly kind: "requestFlux"; readonly of: "release" | "source"; readonly value: string }
  | { readonly kind: "receiver"; readonly token: string | undefined; readonly suspend: boolean }
  | { readonly kind: "deleteReceiver" };

const name = fc.constantFrom("web", "db");

const version = fc.constantFrom("~1.2", "~1.3", "1.2.3");

/** A chart of the HelmRepository `charts`. */
function chartSpec(constraint: string): NonNullable<HelmReleaseSpec["chart"]> {
  return {
    spec: {
      chart: "web",
      version: constraint,
      reconcileStrategy: "ChartVersion",
      sourceRef: { kind: "HelmRepository", name: "charts" },
    },
  };
}

/** The chart of the Bucket `objects`. */
export const bucketChart: NonNullable<HelmReleaseSpec["chart"]> = {
  spec: {
    chart: "web",
    version: "*",
    reconcileStrategy: "ChartVersion",
    sourceRef: { kind: "Bucket", name: "objects" },
  },
};

/** The chart of the GitRepository `app`. */
export const gitChart: NonNullable<HelmReleaseSpec["chart"]> = {
  spec: {
    chart: "./charts/web",
    version: "*",
    reconcileStrategy: "ChartVersion",
    sourceRef: { kind: "GitRepository", name: "app" },
  },
};

/** The OCIRepository `artifacts`, which is a chart. */
export const registryChart: NonNullable<HelmReleaseSpec["chartRef"]> = {
  kind: "OCIRepository",
  name: "artifacts",
};

const releaseSpec: fc.Arbitrary<Partial<HelmReleaseSpec>> = fc
  .record({
    version,
    of: fc.constantFrom("repository", ...singleKinds),
    suspend: fc.boolean(),
    seconds: fc.constantFrom(30, 300),
  })
  .map(({ version: constraint, of, suspend, seconds }) => ({
    ...{
      repository: { chart: chartSpec(constraint) },
      bucket: { chart: bucketChart },
      git: { chart: gitChart },
      registry: { chartRef: registryChart },
    }[of],
    suspend,
    interval: `${seconds}s`,
  }));

const sourceSpec: fc.Arbitrary<Partial<NonNullable<HelmRepository["spec"]>>> = fc
  .record({
    interval: fc.constantFrom("20s", "1m", "10m"),
    suspend: fc.boolean(),
    hasSecret: fc.boolean(),
  })
  .map(({ interval, suspend, hasSecret }) => ({
    interval,
    suspend,
    ...(hasSecret && { secretRef: { name: "login" } }),
  }));

const ownStep: fc.Arbitrary<FluxStep> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("release" as const), name, spec: releaseSpec }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("source" as const), spec: sourceSpec }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom(...singleKinds),
      version: fc.constantFrom(...sourceVersions),
      interval: fc.constantFrom("20s", "10m"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("deleteRelease" as const), name }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("deleteSource" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("requestFlux" as const),
      of: fc.constantFrom("release" as const, "source" as const),
      value: fc.constantFrom("one", "two"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("receiver" as const),
      token: fc.constantFrom("a", "b", undefined),
      suspend: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("deleteReceiver" as const) }) },
);

/** Whether it is none that concerns HelmOps and Bundles alone. */
export function isFluxStep(step: FleetStep | FluxStep): step is FluxStep {
  return isCommon(step) || ownKinds.some((kind) => kind === step.kind);
}

function isCommon(step: FleetStep | FluxStep): step is CommonStep {
  return commonKinds.some((kind) => kind === step.kind);
}

export const fluxStep: fc.Arbitrary<FluxStep> = fc.oneof(ownStep, fleetStep.filter(isCommon));

const sourceRef = { namespace: workspace, name: "charts" };
const bucketRef = { namespace: workspace, name: "objects" };
const gitRef = { namespace: workspace, name: "app" };
const registryRef = { namespace: workspace, name: "artifacts" };
const receiverRef = { namespace: workspace, name: "pushes" };

/** Makes a change; `wait` is for the caller. */
export function applyFluxStep(
  leader: TestLeader,
  repository: RepositoryState,
  step: FluxStep,
): void {
  const { rest } = leader;
  switch (step.kind) {
    case "release": {
      const targets = [{ clusterSelector: {} }];
      put<HelmRelease>(leader, helmReleases, {
        metadata: { namespace: workspace, name: step.name, uid: `uid-release-${step.name}` },
        spec: {
          interval: "5m",
          ...(step.spec.chartRef === undefined && { chart: chartSpec("~1.2") }),
          targets,
          ...step.spec,
        },
      });
      return;
    }
    case "source":
      put<HelmRepository>(leader, helmRepositories, {
        metadata: { ...sourceRef, uid: "uid-charts" },
        spec: { url: repo, provider: "generic", ...step.spec },
      });
      return;
    case "bucket": {
      const { version: inBucket, interval } = step;
      repository.inBucket = inBucket;
      put<Bucket>(leader, buckets, {
        metadata: { ...bucketRef, uid: "uid-objects" },
        spec: {
          provider: "generic",
          bucketName: "charts",
          endpoint: "s3.example.com",
          interval,
          timeout: "60s",
        },
      });
      // Between a change of what is in it and the next list, what is kept of the last one decides whether a chart is still found.
      requestReconcile(leader, buckets, bucketRef.name, inBucket);
      return;
    }
    case "git": {
      const { version: inGit, interval } = step;
      repository.inGit = inGit;
      put<GitRepository>(leader, gitRepositories, {
        metadata: { ...gitRef, uid: "uid-app" },
        spec: {
          ...{ url: "https://git.example.com/app", ref: { branch: "main" } },
          ...{ interval, timeout: "60s" },
        },
      });
      requestReconcile(leader, gitRepositories, gitRef.name, inGit);
      return;
    }
    case "registry": {
      const { version: inRegistry, interval } = step;
      repository.inRegistry = inRegistry;
      put<OCIRepository>(leader, ociRepositories, {
        metadata: { ...registryRef, uid: "uid-artifacts" },
        spec: {
          ...{ url: "oci://registry.example.com/web", ref: { tag: "stable" } },
          ...{ interval, timeout: "60s", provider: "generic" },
        },
      });
      requestReconcile(leader, ociRepositories, registryRef.name, inRegistry);
      return;
    }
    case "deleteRelease":
      void rest.delete(helmReleases, { namespace: workspace, name: step.name });
      return;
    case "deleteSource":
      void rest.delete(helmRepositories, sourceRef);
      return;
    case "requestFlux":
      if (step.of === "source") requestReconcile(leader, helmRepositories, "charts", step.value);
      else requestReconcile(leader, helmReleases, "web", step.value);
      return;
    case "receiver": {
      const { token, suspend } = step;
      leader.putSecret(workspace, "token", token === undefined ? undefined : { token });
      put<Receiver>(leader, receivers, {
        metadata: { ...receiverRef, uid: "uid-pushes" },
        spec: {
          type: "generic",
          interval: "10m",
          secretRef: { name: "token" },
          resources: [{ kind: "HelmRepository", name: "charts" }],
          suspend,
        },
      });
      return;
    }
    case "deleteReceiver":
      void rest.delete(receivers, receiverRef);
      return;
    default:
      applyStep(leader, repository, step);
  }
}

/** Creates it, or changes its spec. */
function put<T extends KubeObject & { readonly spec?: unknown }>(
  { rest }: TestLeader,
  resource: Resource<T>,
  object: T,
): void {
  const { group, version: apiVersion, kind } = resource;
  const before = rest.peek(resource, object.metadata);
  if (before?.metadata.deletionTimestamp !== undefined) return;
  const typed = { ...object, apiVersion: `${group}/${apiVersion}`, kind };
  rest.put(resource, before === undefined ? typed : { ...before, spec: object.spec });
}

function requestReconcile<T extends KubeObject>(
  { rest }: TestLeader,
  resource: Resource<T>,
  objectName: string,
  value: string,
): void {
  const found = rest.peek(resource, { namespace: workspace, name: objectName });
  if (found === undefined) return;
  const annotations = { ...found.metadata.annotations, [reconcileRequestAnnotation]: value };
  rest.put(resource, { ...found, metadata: { ...found.metadata, annotations } });
}
