/** A fleet with one cluster that a tenant shares with others: an account with rights in one namespace, and a Secret elsewhere. */

import { apiVersion, type HelmOp, helmOps } from "@flotilla/shared/api";
import { agentNamespace, workspaceNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import {
  type KubeObject,
  namespaces,
  type Resource,
  secrets,
  serviceAccounts,
} from "@flotilla/shared/kube/objects";
import { afterAll } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { startChartServer } from "../harness/chart-server.ts";
import { startTestFleet, type TestCluster, type TestFleet } from "../harness/fleet.ts";
import { helmOpThat, isReady, objectThat } from "../harness/wait.ts";
import { slyChart, spyChart } from "./lookup-charts.ts";

/** The tenant's account, and the one namespace that it may do everything in. */
export const tenant = "team-a";
/** Where the Secret is that is none of the tenant's business. */
export const vault = { namespace: "vault", name: "crown" };
/** What it holds, which must be shown nowhere. */
export const planted = "pl4nted-8f3c-never-shown";

export type Spec = Partial<HelmOp["spec"]>;

export interface World {
  readonly fleet: TestFleet;
  readonly cluster: TestCluster;
  /** A chart of a ConfigMap `<name>-config`, in the tenant's namespace and as the tenant unless it says otherwise. */
  create(name: string, spec?: Spec): Promise<HelmOp>;
  change(name: string, spec: Spec): Promise<HelmOp>;
  ready(name: string): Promise<HelmOp>;
  /** Resolves with what Ready says, once that matches. */
  said(name: string, message: RegExp): Promise<string>;
  /** Resolves when the HelmOp is gone, which does not wait for the cluster. */
  remove(name: string): Promise<void>;
  /** `RELEASE vREVISION status` of all of Helm's records in a namespace. */
  records(namespace: string): Promise<readonly string[]>;
  /** Makes an account of this name, which may do everything in these namespaces. */
  makeAccount(name: string, ...inNamespaces: readonly string[]): Promise<void>;
  dropAccount(name: string): Promise<void>;
}

interface RoleBinding extends KubeObject {
  readonly roleRef: { readonly apiGroup: string; readonly kind: string; readonly name: string };
  readonly subjects: readonly {
    readonly kind: string;
    readonly namespace: string;
    readonly name: string;
  }[];
}

export interface ClusterRole extends KubeObject {
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

const rbac = { group: "rbac.authorization.k8s.io", version: "v1" } as const;

export const roleBindings: Resource<RoleBinding> = {
  ...rbac,
  kind: "RoleBinding",
  plural: "rolebindings",
  namespaced: true,
};

export const clusterRoles: Resource<ClusterRole> = {
  ...rbac,
  kind: "ClusterRole",
  plural: "clusterroles",
  namespaced: false,
};

export const clusterRoleBindings: Resource<RoleBinding> = {
  ...rbac,
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  namespaced: false,
};

export function boundTo(kind: string, role: string, account: string) {
  return {
    roleRef: { apiGroup: rbac.group, kind, name: role },
    subjects: [{ kind: "ServiceAccount", namespace: agentNamespace, name: account }],
  };
}

/** It lasts for the file. */
export async function startWorld(): Promise<World> {
  const charts = await startChartServer();
  afterAll(() => charts.close());
  charts.publish(await configChart("app", "1.0.0"), await spyChart(), await slyChart());
  const fleet = await startTestFleet({ clusters: [{}] });
  afterAll(() => fleet.close());
  const [cluster] = fleet.clusters;
  if (cluster === undefined) throw new Error("the fleet has no cluster");
  const { hub } = fleet;
  const { rest } = cluster;
  const refOf = (name: string) => ({ namespace: workspaceNamespace, name });

  const world: World = {
    fleet,
    cluster,
    create(name, { helm, ...spec } = {}) {
      return hub.create(helmOps, {
        apiVersion,
        kind: "HelmOp",
        metadata: refOf(name),
        spec: {
          namespace: tenant,
          serviceAccount: tenant,
          targets: [{ clusterSelector: {} }],
          ...spec,
          helm: { repo: charts.url, chart: "app", version: "1.0.0", ...helm },
        },
      });
    },
    change: (name, spec) => hub.patch(helmOps, refOf(name), { type: "merge", body: { spec } }),
    ready: (name) => helmOpThat(hub, name, "ready", isReady("1.0.0", 1)),
    async said(name, message) {
      const sayingOf = (helmOp: HelmOp) =>
        findCondition(helmOp.status?.conditions, "Ready")?.message ?? "";
      return sayingOf(
        await helmOpThat(hub, name, `saying ${message}`, (found) => message.test(sayingOf(found))),
      );
    },
    async remove(name) {
      await hub.delete(helmOps, refOf(name));
      await objectThat(hub, helmOps, refOf(name), "gone", (found) => found === undefined);
    },
    async records(namespace) {
      const { items } = await rest.list(secrets, { namespace, labelSelector: "owner=helm" });
      return items
        .map(({ metadata: { labels } }) =>
          [labels?.["name"], `v${labels?.["version"]}`, labels?.["status"]].join(" "),
        )
        .sort();
    },
    async makeAccount(name, ...inNamespaces) {
      for (const namespace of inNamespaces) {
        await rest.create(roleBindings, {
          metadata: { namespace, name },
          ...boundTo("ClusterRole", "admin", name),
        });
      }
      await rest.create(serviceAccounts, { metadata: { namespace: agentNamespace, name } });
    },
    async dropAccount(name) {
      await rest.delete(serviceAccounts, { namespace: agentNamespace, name });
    },
  };
  await rest.create(namespaces, { metadata: { name: tenant } });
  await rest.create(namespaces, { metadata: { name: vault.namespace } });
  await rest.create(secrets, { metadata: vault, stringData: { password: planted } });
  await world.makeAccount(tenant, tenant);
  return world;
}
