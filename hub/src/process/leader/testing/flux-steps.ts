/** Random changes of Flux's kinds: HelmReleases of a HelmRepository and of a Bucket, which change, and a Receiver. */
import { createHash } from "node:crypto";
import { reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import {
  type Bucket,
  buckets,
  type HelmRelease,
  type HelmReleaseSpec,
  type HelmRepository,
  helmReleases,
  helmRepositories,
  type Receiver,
  receivers,
} from "@flotilla/shared/flux";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { objectsDigest } from "@flotilla/shared/source/bucket";
import type { ReadIndex } from "@flotilla/shared/source/client";
import fc from "fast-check";
import { type TestLeader, workspace } from "../../../testing/index.ts";
import type { FluxDeps } from "../deps.ts";
import {
  applyStep,
  type FleetStep,
  fleetStep,
  indexUnreachable,
  type RepositoryState,
  repo,
} from "./fleet-steps.ts";

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

const ownKinds = [
  "release",
  "source",
  "bucket",
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
  /** What is in the bucket, and how often the Bucket reads it. */
  | { readonly kind: "bucket"; readonly version: string; readonly interval: string }
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

const releaseSpec: fc.Arbitrary<Partial<HelmReleaseSpec>> = fc
  .record({
    version,
    isOfBucket: fc.boolean(),
    suspend: fc.boolean(),
    seconds: fc.constantFrom(30, 300),
  })
  .map(({ version: constraint, isOfBucket, suspend, seconds }) => ({
    chart: isOfBucket ? bucketChart : chartSpec(constraint),
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
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("bucket" as const),
      version: fc.constantFrom("1.0.0", "1.1.0"),
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

/** The index of a repository: its digest is another one after each new version. */
export function readIndexOf(repository: RepositoryState): ReadIndex {
  return () => {
    repository.requests += 1;
    if (!repository.isUp) return Promise.reject(indexUnreachable());
    const text = `web ${repository.version}`;
    return Promise.resolve({
      indexUrl: `${repo}/index.yaml`,
      digest: `sha256:${createHash("sha256").update(text).digest("hex")}`,
      sizeBytes: text.length,
      names: ["web"],
    });
  };
}

/** A bucket with one chart. Lists are kept in memory, so its requests are not counted. */
export function bucketClientOf(repository: RepositoryState): FluxDeps["bucketClient"] {
  const textOf = (version: string) => `name: web\nversion: ${version}\n`;
  return {
    list() {
      const { inBucket } = repository;
      const objects =
        inBucket === undefined
          ? []
          : [{ key: "web/Chart.yaml", etag: inBucket, sizeBytes: textOf(inBucket).length }];
      return Promise.resolve({ digest: objectsDigest(objects), objects, sizeBytes: 0 });
    },
    readObject: (_location, { etag = "" }) => Promise.resolve(Buffer.from(textOf(etag))),
  };
}

const sourceRef = { namespace: workspace, name: "charts" };
const bucketRef = { namespace: workspace, name: "objects" };
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
        spec: { interval: "5m", chart: chartSpec("~1.2"), targets, ...step.spec },
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
