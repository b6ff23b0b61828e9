/** HelmReleases and their sources as the measurements create them, in the workspace. */
import { workspaceNamespace } from "@flotilla/shared/api/names";
import {
  type GitRepository,
  gitRepositories,
  type HelmRelease,
  type HelmRepository,
  helmReleases,
  helmRepositories,
} from "@flotilla/shared/flux";
import type { KubeRest } from "@flotilla/shared/kube/client";

export interface Source {
  readonly kind: "HelmRepository" | "GitRepository";
  readonly name: string;
}

export interface SourceSpec {
  readonly url: string;
  readonly interval: string;
}

export interface ReleaseSpec {
  readonly source: Source;
  /** The chart of a GitRepository: its path. */
  readonly chart: string;
  readonly version: string;
  readonly clusterName: string;
}

export async function createSource(
  hub: KubeRest,
  { kind, name }: Source,
  { url, interval }: SourceSpec,
): Promise<void> {
  const apiVersion = "source.toolkit.fluxcd.io/v1";
  const metadata = { namespace: workspaceNamespace, name };
  if (kind === "HelmRepository")
    await hub.create<HelmRepository>(helmRepositories, {
      ...{ apiVersion, kind, metadata },
      spec: { url, interval, provider: "generic" },
    });
  else
    await hub.create<GitRepository>(gitRepositories, {
      ...{ apiVersion, kind, metadata },
      spec: { url, interval, ref: { branch: "main" }, provider: "generic", timeout: "60s" },
    });
}

/** Its release has its name, in a namespace of its name. */
export async function createHelmRelease(
  hub: KubeRest,
  name: string,
  { source, chart, version, clusterName }: ReleaseSpec,
): Promise<void> {
  await hub.create<HelmRelease>(helmReleases, {
    apiVersion: "helm.toolkit.fluxcd.io/v2",
    kind: "HelmRelease",
    metadata: { namespace: workspaceNamespace, name },
    spec: {
      interval: "1h",
      chart: { spec: { chart, version, reconcileStrategy: "ChartVersion", sourceRef: source } },
      releaseName: name,
      targetNamespace: name,
      install: { createNamespace: true },
      targets: [{ clusterName }],
    },
  });
}
