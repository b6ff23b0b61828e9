/** Sources of Flux on the hub of a test fleet, and waits for what they say. */

import { reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import {
  type Bucket,
  type BucketSpec,
  buckets,
  type HelmChart,
  type HelmChartSpec,
  type HelmRelease,
  helmCharts,
  type helmRepositories,
  type OCIRepository,
  type OCIRepositorySpec,
  ociRepositories,
} from "@flotilla/shared/flux";
import {
  type KubeObject,
  type ObjectRef,
  type Resource,
  secrets,
} from "@flotilla/shared/kube/objects";
import type { ClusterClient } from "../harness/cluster-client.ts";
import { currentCondition, type WithConditions, waitForObject } from "../harness/wait.ts";

import type { ReleaseFleet } from "./release-fleet.ts";

const apiVersion = "source.toolkit.fluxcd.io/v1";

export interface SourceObjects {
  createOci(ref: ObjectRef, spec: Partial<OCIRepositorySpec>): Promise<OCIRepository>;
  createBucket(ref: ObjectRef, spec: Partial<BucketSpec>): Promise<Bucket>;
  createChart(ref: ObjectRef, spec: Partial<HelmChartSpec>): Promise<HelmChart>;
  createSecret(ref: ObjectRef, stringData: Readonly<Record<string, string>>): Promise<void>;
  /** A Secret of the type `kubernetes.io/dockerconfigjson`. */
  createRegistrySecret(ref: ObjectRef, host: string, login: Login): Promise<void>;
  patchSecret(ref: ObjectRef, stringData: Readonly<Record<string, string>>): Promise<void>;
  /** `spec`: a merge patch of it. */
  patch(resource: SourceResource, ref: ObjectRef, spec: unknown): Promise<void>;
  /** As `flux reconcile source`: resolves once the source was read, with whatever result. */
  readAgain(resource: SourceResource, ref: ObjectRef): Promise<void>;
  /** With a condition of this status, of its current generation, and with this message. */
  waitFor<T extends KubeObject & WithConditions>(
    resource: Resource<T>,
    ref: ObjectRef,
    type: string,
    status: string,
    message?: RegExp,
  ): Promise<T>;
}

interface WithRequest {
  readonly status?: { readonly lastHandledReconcileAt?: string | undefined } | undefined;
}

export interface Login {
  readonly username: string;
  readonly password: string;
}

type SourceResource =
  | typeof ociRepositories
  | typeof buckets
  | typeof helmCharts
  | typeof helmRepositories;

export function createSourceObjects(hub: ClusterClient): SourceObjects {
  async function patchObject(resource: SourceResource, ref: ObjectRef, body: object) {
    await hub.patch<KubeObject>(resource, ref, { type: "merge", body });
  }

  return {
    createOci: (ref, spec) =>
      hub.create(ociRepositories, {
        ...{ apiVersion, kind: "OCIRepository", metadata: { ...ref } },
        spec: { url: "", interval: "1h", timeout: "60s", provider: "generic", ...spec },
      }),
    createBucket: (ref, spec) =>
      hub.create(buckets, {
        ...{ apiVersion, kind: "Bucket", metadata: { ...ref } },
        spec: {
          ...{ provider: "generic", endpoint: "", bucketName: "", insecure: true },
          ...{ interval: "1h", timeout: "60s", ...spec },
        },
      }),
    createChart: (ref, spec) =>
      hub.create(helmCharts, {
        ...{ apiVersion, kind: "HelmChart", metadata: { ...ref } },
        spec: {
          ...{ chart: ref.name, version: "*", interval: "1h", reconcileStrategy: "ChartVersion" },
          sourceRef: { kind: "HelmRepository", name: "charts" },
          ...spec,
        },
      }),
    async createSecret(ref, stringData) {
      await hub.create(secrets, { metadata: { ...ref }, stringData });
    },
    async createRegistrySecret(ref, host, login) {
      await hub.create(secrets, {
        metadata: { ...ref },
        type: "kubernetes.io/dockerconfigjson",
        stringData: { ".dockerconfigjson": JSON.stringify({ auths: { [host]: login } }) },
      });
    },
    async patchSecret(ref, stringData) {
      await hub.patch(secrets, ref, { type: "merge", body: { stringData } });
    },
    patch: (resource, ref, spec) => patchObject(resource, ref, { spec }),
    async readAgain(resource, ref) {
      const requestedAt = new Date().toISOString();
      await patchObject(resource, ref, {
        metadata: { annotations: { [reconcileRequestAnnotation]: requestedAt } },
      });
      await waitForObject<KubeObject & WithRequest>(
        hub,
        resource,
        ref,
        "read again",
        ({ status }) => status?.lastHandledReconcileAt === requestedAt,
      );
    },
    waitFor: (resource, ref, type, status, message = /^/) =>
      waitForObject(hub, resource, ref, `${type}=${status} ${message}`, (object) => {
        const found = currentCondition(object, type);
        return found?.status === status && message.test(found.message ?? "");
      }),
  };
}

/** Waits until a HelmRelease of its current generation is not ready, with this message. */
export function waitForRejection(
  releases: Pick<ReleaseFleet, "waitFor">,
  ref: ObjectRef,
  message: RegExp,
): Promise<HelmRelease> {
  return releases.waitFor(ref, `not ready: ${message}`, (release) => {
    const ready = currentCondition(release, "Ready");
    return ready?.status === "False" && message.test(ready.message ?? "");
  });
}

/** The version of a chart from an OCIRepository, as in Flux: its own, and the digest of the artifact. */
export function artifactVersion(version: string, digest: string): string {
  return `${version}+${digest.slice("sha256:".length).slice(0, 12)}`;
}
