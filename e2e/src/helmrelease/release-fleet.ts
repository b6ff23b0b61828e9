/** A fleet with the hub's own cluster and others of a workspace, and HelmReleases on it as users of Flux write them. */
import { reconcileRequestAnnotation } from "@flotilla/shared/api/names";
import {
  type HelmRelease,
  type HelmReleaseSpec,
  type HelmRepository,
  type HelmRepositorySpec,
  helmReleases,
  helmRepositories,
} from "@flotilla/shared/flux";
import { namespaces, type ObjectRef } from "@flotilla/shared/kube/objects";
import type { ChartServer } from "../harness/chart-server.ts";
import type { ClusterClient } from "../harness/cluster-client.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import type { TestCluster, TestFleet, TestFleetSpec } from "../harness/fleet.ts";
import { currentCondition, waitForObject, waitUntilGone } from "../harness/wait.ts";

type Annotations = Readonly<Record<string, string>>;

export interface ReleaseFleet {
  readonly fleet: TestFleet;
  readonly charts: ChartServer;
  readonly hub: ClusterClient;
  /** The hub's own cluster. */
  readonly local: TestCluster;
  /** Creates a namespace on the hub with a HelmRepository `charts` of the chart server. */
  createNamespace(name: string): Promise<void>;
  createRepository(ref: ObjectRef, spec?: Partial<HelmRepositorySpec>): Promise<HelmRepository>;
  /** For the HelmRepository `charts`; `chart` is the name of the HelmRelease unless the spec has one. */
  create(
    ref: ObjectRef,
    spec?: Partial<HelmReleaseSpec>,
    annotations?: Annotations,
  ): Promise<HelmRelease>;
  /** `spec`: a merge patch of it. */
  patch(ref: ObjectRef, spec: unknown): Promise<HelmRelease>;
  annotate(ref: ObjectRef, annotations: Annotations): Promise<void>;
  /** As `flux reconcile source helm`, without the wait. */
  requestRepository(ref: ObjectRef): Promise<void>;
  waitFor(
    ref: ObjectRef,
    what: string,
    isDesired: (release: HelmRelease) => boolean,
  ): Promise<HelmRelease>;
  /** Ready of its current generation, in each cluster with this version. */
  ready(ref: ObjectRef, version: string): Promise<HelmRelease>;
  /** With a condition of this status and reason, and with this message. */
  waitForCondition(
    ref: ObjectRef,
    type: string,
    status: string,
    reason: string,
    message?: RegExp,
  ): Promise<HelmRelease>;
  /** Resolves when it is gone. */
  delete(ref: ObjectRef): Promise<void>;
}

/** The `spec.chart` of a chart in the HelmRepository `charts`. */
export function chartOf(
  chart: string,
  version = "*",
  repository = "charts",
): Pick<HelmReleaseSpec, "chart"> {
  return {
    chart: {
      spec: {
        chart,
        version,
        reconcileStrategy: "ChartVersion",
        sourceRef: { kind: "HelmRepository", name: repository },
      },
    },
  };
}

/** Lasts for the file. */
export async function startReleaseFleet(spec: Partial<TestFleetSpec> = {}): Promise<ReleaseFleet> {
  const { fleet, charts } = await startFleetForFile({
    clusters: [],
    local: true,
    hubFlags: () => ["--local-without-account"],
    ...spec,
  });
  const { hub } = fleet;
  const local = fleet.clusters.at(-1);
  if (local === undefined) throw new Error("the fleet has no local cluster");
  const waitFor: ReleaseFleet["waitFor"] = (ref, what, isDesired) =>
    waitForObject(hub, helmReleases, ref, what, isDesired);
  const createRepository: ReleaseFleet["createRepository"] = (ref, more) =>
    hub.create(helmRepositories, {
      apiVersion: "source.toolkit.fluxcd.io/v1",
      kind: "HelmRepository",
      metadata: { ...ref },
      spec: { url: charts.url, interval: "1h", provider: "generic", ...more },
    });
  return {
    fleet,
    charts,
    hub,
    local,
    async createNamespace(name) {
      await hub.create(namespaces, { metadata: { name } });
      await createRepository({ namespace: name, name: "charts" });
    },
    createRepository,
    create: (ref, { chart, chartRef, ...more } = {}, annotations = {}) =>
      hub.create(helmReleases, {
        apiVersion: "helm.toolkit.fluxcd.io/v2",
        kind: "HelmRelease",
        metadata: { ...ref, annotations },
        spec: {
          interval: "1h",
          ...(chartRef !== undefined
            ? { chartRef }
            : { ...chartOf(ref.name), ...(chart && { chart }) }),
          ...more,
        },
      }),
    patch: (ref, body) => hub.patch(helmReleases, ref, { type: "merge", body: { spec: body } }),
    async annotate(ref, annotations) {
      const body = { metadata: { annotations } };
      await hub.patch(helmReleases, ref, { type: "merge", body });
    },
    async requestRepository(ref) {
      const annotations = { [reconcileRequestAnnotation]: new Date().toISOString() };
      await hub.patch(helmRepositories, ref, {
        type: "merge",
        body: { metadata: { annotations } },
      });
    },
    waitFor,
    ready: (ref, version) =>
      waitFor(
        ref,
        `ready with ${version}`,
        (release) =>
          currentCondition(release, "Ready")?.status === "True" &&
          release.status?.lastAttemptedRevision === version &&
          release.status.clusters?.every((each) => each.version === version) === true,
      ),
    waitForCondition: (ref, type, status, reason, message = /^/) =>
      waitFor(ref, `${type}=${status} ${reason} ${message}`, (release) => {
        const found = currentCondition(release, type);
        return (
          found?.status === status && found.reason === reason && message.test(found.message ?? "")
        );
      }),
    async delete(ref) {
      await hub.delete(helmReleases, ref);
      await waitUntilGone(hub, helmReleases, ref);
    },
  };
}
