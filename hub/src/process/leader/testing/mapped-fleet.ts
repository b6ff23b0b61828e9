/** A leader on an API server in memory, with the Bundle `web` of `platform` and the clusters of two teams. */
import assert from "node:assert/strict";
import {
  type BundleNamespaceMapping,
  type BundleSpec,
  bundleDeployments,
  bundleNamespaceMappings,
  bundles,
  clusters,
} from "@flotilla/shared/api";
import { clusterLabel } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { unpackContent } from "@flotilla/shared/content";
import { namespaces, secrets } from "@flotilla/shared/kube/objects";
import type { TestContext } from "vitest";
import { aBundle, aCluster, createTestLeader } from "../../../testing/index.ts";
import { type RepositoryState, repo, resolverOf } from "./fleet-steps.ts";

/** Longer than the delay of statuses. */
const quietMs = 3_000;
export const home = "platform";
export const all = {};
export const tenants = { matchLabels: { tenant: "yes" } };
export const mapped = {
  bundleSelector: { matchLabels: { tier: "base" } },
  namespaceSelector: tenants,
};
export const helm = { repo, chart: "web", version: "1.2.3" };
export const everywhere = [{ name: "all", clusterSelector: {} }];

type Selectors = Pick<BundleNamespaceMapping, "bundleSelector" | "namespaceSelector">;

/** Three workspaces with a cluster each: `platform`, and `team-a` and `team-b`, which are tenants. */
export function startMappedFleet(t: TestContext) {
  const repository: RepositoryState = { version: "1.2.3", isUp: true, requests: 0 };
  const leader = createTestLeader(resolverOf(repository));
  t.onTestFinished(() => leader.stop());
  const { rest } = leader;
  const namespaceOf = new Map([
    ["own", home],
    ["paris", "team-a"],
    ["rome", "team-b"],
  ]);

  function label(namespace: string, labels: Readonly<Record<string, string>>): void {
    const before = rest.peek(namespaces, { name: namespace });
    rest.put(namespaces, { ...before, metadata: { ...before?.metadata, name: namespace, labels } });
  }

  function join(name: string, namespace: string): void {
    const metadata = { namespace, uid: `uid-${namespace}-${name}` };
    const agent = { connected: true, epoch: 1, lastSeen: "2025-12-24T18:00:00Z" };
    rest.put(clusters, aCluster(name, { metadata, status: { agent } }));
  }

  label(home, {});
  label("team-a", { tenant: "yes" });
  label("team-b", { tenant: "yes" });
  for (const [name, namespace] of namespaceOf) join(name, namespace);

  const fleet = {
    leader,
    label,
    join,
    pass: () => leader.pass(quietMs),
    bundle(spec: Partial<BundleSpec> = {}, namespace = home, name = "web") {
      const ref = { namespace, name };
      rest.put(bundles, {
        ...aBundle(
          { helm, targets: everywhere, ...spec },
          { ...ref, uid: `uid-${namespace}-${name}`, labels: { tier: "base" } },
        ),
      });
    },
    map(selectors: Selectors, name = "shared", namespace = home) {
      rest.put(bundleNamespaceMappings, {
        apiVersion: "fleet.cattle.io/v1alpha1",
        kind: "BundleNamespaceMapping",
        metadata: { namespace, name, uid: `uid-${name}` },
        ...selectors,
      });
    },
    unmap: (name = "shared") => rest.remove(bundleNamespaceMappings, { namespace: home, name }),
    mapping: (name = "shared") => rest.peek(bundleNamespaceMappings, { namespace: home, name }),
    deployments: () => rest.all(bundleDeployments),
    /** The clusters with a deployment that is not withdrawn, as `CLUSTER` or, of another Bundle than `web`, `CLUSTER BUNDLE`. */
    deployed: () =>
      rest
        .all(bundleDeployments)
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata }) => metadata.labels?.[clusterLabel] ?? "")
        .toSorted(),
    message: () =>
      findCondition(
        rest.peek(bundles, { namespace: home, name: "web" })?.status?.conditions,
        "Accepted",
      )?.message ?? "",
    accepted: (name = "shared") =>
      findCondition(fleet.mapping(name)?.status?.conditions, "Accepted"),
    /** The content of the deployment in a cluster. */
    async content(cluster: string) {
      const deployment = rest
        .all(bundleDeployments)
        .find(({ metadata }) => metadata.labels?.[clusterLabel] === cluster);
      const deploymentId = deployment?.spec.deploymentID ?? "";
      const secret = rest
        .all(secrets)
        .find(
          ({ metadata }) => metadata.name === `content-${deploymentId.slice("sha256:".length)}`,
        );
      const bytes = Buffer.from(Object.values(secret?.data ?? {})[0] ?? "", "base64");
      return await unpackContent({ deploymentId, bytes });
    },
  };
  return fleet;
}

export type MappedFleet = Awaited<ReturnType<typeof startMappedFleet>>;

/** The agent of a cluster reports that what is desired is ready. */
export function reportReady({ leader }: MappedFleet, cluster: string): void {
  const found = leader.rest
    .all(bundleDeployments)
    .find(({ metadata }) => metadata.labels?.[clusterLabel] === cluster);
  assert.ok(found, `${cluster} has no deployment`);
  const ready = {
    type: "Ready",
    status: "True",
    reason: "",
    message: "",
    lastTransitionTime: "2025-12-24T18:00:00Z",
  } as const;
  const status = {
    appliedDeploymentID: found.spec.deploymentID,
    ready: true,
    conditions: [ready],
  };
  leader.rest.put(bundleDeployments, { ...found, status });
}
