/** A fleet whose hub serves the built page, and users with tokens of its API server. */
import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPage } from "@flotilla/local/images";
import { withLock } from "@flotilla/local/process";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import {
  type HelmReleaseSpec,
  type HelmRepositorySpec,
  helmReleases,
  helmRepositories,
} from "@flotilla/shared/flux";
import {
  type KubeObject,
  namespaces,
  type ObjectRef,
  type Resource,
  serviceAccounts,
} from "@flotilla/shared/kube/objects";
import type { Page } from "playwright-core";
import { inject } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import type { ClusterClient } from "../harness/cluster-client.ts";
import { type FileFixtures, startFleetForFile } from "../harness/file-fixtures.ts";
import type { TestFleetSpec } from "../harness/fleet.ts";
import { clusterRoleBindings, clusterRoles, roleBindings } from "../harness/rbac.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const accounts = "dashboard-users";

export interface DashboardFixtures extends Pick<FileFixtures, "fleet" | "charts"> {
  /** The address of the page. */
  readonly address: string;
  /** A token of somebody who may do everything on the hub. */
  adminToken(): Promise<string>;
  /** A token of somebody who may list this in one namespace, and nothing else. */
  readerToken(namespace: string, resources?: readonly string[]): Promise<string>;
}

export async function startDashboardFleet(spec: TestFleetSpec): Promise<DashboardFixtures> {
  const dir = await builtPage();
  const { fleet, charts } = await startFleetForFile({
    ...spec,
    hubFlags: (ports) => [`--dashboard-dir=${dir}`, ...(spec.hubFlags?.(ports) ?? [])],
  });
  const { hub, hubPorts } = fleet;
  await hub.create(namespaces, { metadata: { name: accounts } });

  async function account(name: string) {
    const metadata = { namespace: accounts, name };
    await hub.create(serviceAccounts, { metadata });
    return { kind: "ServiceAccount", ...metadata };
  }

  return {
    ...{ fleet, charts },
    address: `http://127.0.0.1:${hubPorts.http}`,
    async adminToken() {
      const subject = await account("admin");
      await hub.create(clusterRoleBindings, {
        metadata: { name: "dashboard-admin" },
        roleRef: roleRef("cluster-admin"),
        subjects: [subject],
      });
      return await tokenOf(hub, "admin");
    },
    async readerToken(namespace, resources = ["helmops", "clusters", "bundles"]) {
      const name = `reader-${namespace}`;
      const subject = await account(name);
      await hub.create(clusterRoles, {
        metadata: { name },
        rules: [
          {
            apiGroups: ["fleet.cattle.io", "flotilla.dev"],
            resources,
            verbs: ["get", "list", "watch"],
          },
        ],
      });
      await hub.create(roleBindings, {
        metadata: { namespace, name },
        roleRef: roleRef(name),
        subjects: [subject],
      });
      return await tokenOf(hub, name);
    },
  };
}

/** The folder of the page, which the first file that needs it builds for all files of the run. */
async function builtPage(): Promise<string> {
  const dir = join(inject("programBundles"), "page");
  await withLock(`${dir}.lock`, async () => {
    if (existsSync(dir)) return;
    await buildPage(root, `${dir}.partial`);
    await rename(`${dir}.partial`, dir);
  });
  return dir;
}

/** Logs in as a user does. */
export async function logIn(page: Page, address: string, token: string): Promise<void> {
  await page.goto(address);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
}

/** Logs out as a user does. */
export async function logOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: "User menu" }).click();
  await page.getByRole("button", { name: "Log out" }).click();
}

/** Opens an action, and confirms it. Returns the command that it shows. */
export async function act(page: Page, name: string): Promise<string> {
  const panel = page.locator(".action-panel");
  await page.getByRole("button", { name, exact: true }).click();
  const command = (await panel.locator("code").textContent()) ?? "";
  await panel.getByRole("button", { name, exact: true }).click();
  await panel.waitFor({ state: "detached" });
  return command;
}

/** A HelmRepository in the workspace. */
export async function createRepository(
  hub: ClusterClient,
  name: string,
  spec: Pick<HelmRepositorySpec, "url" | "secretRef">,
): Promise<void> {
  await hub.create(helmRepositories, {
    ...{ apiVersion: "source.toolkit.fluxcd.io/v1", kind: "HelmRepository" },
    metadata: { namespace: workspaceNamespace, name },
    spec: { interval: "1h", provider: "generic", ...spec },
  });
}

/** A HelmRelease in the workspace, which is installed in the namespace `default`. */
export async function createRelease(
  hub: ClusterClient,
  name: string,
  spec: Partial<HelmReleaseSpec>,
): Promise<void> {
  await hub.create(helmReleases, {
    ...{ apiVersion: "helm.toolkit.fluxcd.io/v2", kind: "HelmRelease" },
    metadata: { namespace: workspaceNamespace, name },
    spec: {
      ...{ interval: "1h", releaseName: name },
      ...{ targetNamespace: "default", storageNamespace: "default" },
      ...spec,
    },
  });
}

export const pods: Resource<KubeObject> = {
  ...{ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true },
};

/** As its kubelet does, of which the nodes of test clusters have none. */
export async function setPodStatus(
  client: ClusterClient,
  ref: ObjectRef,
  status: Readonly<Record<string, unknown>>,
): Promise<void> {
  const patch = { type: "merge", body: { status } } as const;
  await client.patch(pods, ref, patch, { subresource: "status" });
}

/** A chart whose only object has its version. */
export function versionedChart(name: string, version: string) {
  const template = `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data: {version: {{ .Chart.Version | quote }}}
`;
  return chartArchive({ name, version, templates: { "all.yaml": template } });
}

function roleRef(name: string) {
  return { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
}

async function tokenOf(hub: ClusterClient, name: string): Promise<string> {
  const path = `/api/v1/namespaces/${accounts}/serviceaccounts/${name}/token`;
  const body = JSON.stringify({
    ...{ apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest" },
    spec: { expirationSeconds: 3_600 },
  });
  const answer = JSON.parse(await hub.raw(path, { body })) as {
    readonly status: { readonly token: string };
  };
  return answer.status.token;
}
