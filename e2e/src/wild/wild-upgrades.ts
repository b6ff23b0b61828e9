/**
 * Upgrades of the charts of the wild, held so that they can be planned: the HelmOps get a version with the same templates, the
 * HelmReleases one in which a text is changed.
 */
import assert from "node:assert/strict";
import { askHub } from "@flotilla/cli/fleet";
import { bundleDeployments, bundles, helmOps } from "@flotilla/shared/api";
import { workspaceNamespace as namespace } from "@flotilla/shared/api/names";
import { helmReleases, ociRepositories } from "@flotilla/shared/flux";
import { type KubeObject, type Resource, serviceAccounts } from "@flotilla/shared/kube/objects";
import { type FleetPlan, fleetPlanSchema } from "@flotilla/shared/plan";
import { vi } from "vitest";
import type { ChartServer } from "../harness/chart-server.ts";
import type { TestFleet } from "../harness/fleet.ts";
import { hangMs } from "../harness/hang.ts";
import { type ArtifactTarget, pushChartIndex } from "../harness/push-artifact.ts";
import { clusterRoleBindings } from "../harness/rbac.ts";
import type { WildCase, WildKind } from "./read-case.ts";

/** A release of a case. */
interface WildUpgrade {
  readonly name: string;
  readonly kind: WildKind;
  readonly of: WildCase;
}

const upgradedVersions = { HelmOp: "1.1.0", HelmRelease: "2.0.0" } as const;

/** What the version for the HelmReleases has in its templates. */
const changedTexts: Readonly<Record<string, readonly [from: string, to: string]>> = {
  "01-folded-text-grows": ["> 10", "> 20"],
  "02-list-with-anchor": ["colour: green", "colour: blue"],
  "05-duplicate-label-key": ["tier: back", "tier: middle"],
  "07-duplicate-env": ["value: custom", "value: other"],
  "09-unknown-field": ["web:1", "web:2"],
  "13-drift-not-compared": ["value: custom", "value: other"],
  "14-null-replicas": ["web:1", "web:2"],
  "17-crd-policy-and-capabilities": ["data: {", 'data: {more: "1", '],
  "18-oci-image-index": ["data: {", 'data: {more: "1", '],
  "19-chart-with-its-namespace": ['"yes"', '"no"'],
  "21-force-does-not-replace": ["/once:", "/twice:"],
};

interface UpgradesSpec {
  readonly fleet: TestFleet;
  readonly charts: ChartServer;
  /** Where the charts are that are pulled from a registry, by the name of the case. */
  readonly registries: Readonly<Record<string, ArtifactTarget>>;
  readonly upgrades: readonly WildUpgrade[];
}

interface WildUpgrades {
  /** Before the releases are installed: a HelmRepository is not read again. */
  publish(): Promise<void>;
  /** Resolves when every release is to be upgraded, and none is. */
  hold(): Promise<void>;
  /** What the agent says that the upgrade would change. */
  plan(upgrade: WildUpgrade): Promise<FleetPlan>;
  /** Resolves when all are upgraded, but those whose upgrade has failed. */
  letGo(failing: readonly string[]): Promise<void>;
}

export function wildUpgrades({ fleet, charts, registries, upgrades }: UpgradesSpec): WildUpgrades {
  const { hub } = fleet;

  async function patch({ kind, name }: WildUpgrade, spec: object): Promise<void> {
    const merge = { type: "merge", body: { spec } } as const;
    if (kind === "HelmOp") await hub.patch(helmOps, { namespace, name }, merge);
    else await hub.patch(helmReleases, { namespace, name }, merge);
  }

  async function setVersion(upgrade: WildUpgrade): Promise<void> {
    const { kind, name, of } = upgrade;
    const version = upgradedVersions[kind];
    if (kind === "HelmOp") await patch(upgrade, { helm: { version } });
    else if (registries[of.name] === undefined)
      await patch(upgrade, { chart: { spec: { version } } });
    else
      await hub.patch(
        ociRepositories,
        { namespace, name },
        { type: "merge", body: { spec: { ref: { tag: version } } } },
      );
  }

  /** All of them have their name in their own. */
  async function every<T extends KubeObject>(
    what: string,
    resource: Resource<T>,
    isDesired: (object: T) => boolean,
  ): Promise<void> {
    await vi.waitFor(
      async () => {
        const found = (await hub.reader.list(resource)).filter(isDesired);
        const missing = upgrades.filter(
          ({ name }) => !found.some(({ metadata }) => metadata.name.includes(name)),
        );
        assert.deepEqual(
          missing.map(({ name }) => name),
          [],
          what,
        );
      },
      { timeout: hangMs, interval: 200 },
    );
  }

  const config = {
    ...{ dir: fleet.dir, isDirNamed: false, environment: {}, userEnvironment: {} },
    kubeconfig: { paths: [fleet.hubPlane.kubeconfig], isNamed: true },
  };
  const planner = { namespace, name: "planner" };
  let hasPlanner = false;

  async function createPlanner(): Promise<void> {
    if (hasPlanner) return;
    hasPlanner = true;
    await hub.create(serviceAccounts, { metadata: planner });
    await hub.create(clusterRoleBindings, {
      metadata: { name: planner.name },
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "ClusterRole",
        name: "cluster-admin",
      },
      subjects: [{ kind: "ServiceAccount", ...planner }],
    });
  }

  return {
    async publish() {
      for (const { of, kind } of upgrades) {
        const version = upgradedVersions[kind];
        const chart = await of.chartAs(
          version,
          kind === "HelmRelease" ? changedTexts[of.name] : undefined,
        );
        const target = registries[of.name];
        if (target === undefined) charts.publish(chart);
        else await pushChartIndex(target, chart);
      }
    },
    async hold() {
      for (const each of upgrades) await patch(each, { rolloutStrategy: { maxUnavailable: 0 } });
      await every("held", bundles, ({ spec }) => spec.rolloutStrategy?.maxUnavailable === 0);
      for (const each of upgrades) await setVersion(each);
      await every("staged", bundleDeployments, ({ spec, status }) => {
        const { deploymentID, stagedDeploymentID } = spec;
        return deploymentID !== stagedDeploymentID && deploymentID === status?.appliedDeploymentID;
      });
    },
    async plan({ kind, name }) {
      await createPlanner();
      const parts: string[] = [];
      const { plural } = kind === "HelmOp" ? helmOps : helmReleases;
      await askHub(
        {
          ...{ namespace, serviceAccount: planner.name, hubService: "flotilla" },
          kubeconfig: fleet.hubPlane.kubeconfig,
          hubUrl: `http://127.0.0.1:${fleet.hubPorts.http}`,
          path: `/requests/v1/namespaces/${namespace}/${plural}/${name}/plan`,
          query: {},
        },
        config,
        (text) => void parts.push(text),
      );
      return fleetPlanSchema.parse(JSON.parse(parts.join("")));
    },
    async letGo(failing) {
      for (const each of upgrades) await patch(each, { rolloutStrategy: null });
      await every("upgraded", bundleDeployments, ({ metadata, spec, status }) => {
        const { deploymentID, stagedDeploymentID } = spec;
        if (deploymentID !== stagedDeploymentID) return false;
        if (failing.some((name) => metadata.name.includes(name)))
          return status?.attemptedDeploymentID === deploymentID;
        return status?.appliedDeploymentID === deploymentID && status.ready === true;
      });
    },
  };
}
