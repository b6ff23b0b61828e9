/** A fleet whose hub serves the built page, and users with tokens of its API server. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPage } from "@flotilla/local/images";
import { namespaces, serviceAccounts } from "@flotilla/shared/kube/objects";
import type { Page } from "playwright-core";
import { afterAll } from "vitest";
import { chartArchive } from "../harness/chart-archive.ts";
import type { ClusterClient } from "../harness/cluster-client.ts";
import { type FileFixtures, startFleetForFile } from "../harness/file-fixtures.ts";
import type { TestFleetSpec } from "../harness/fleet.ts";
import { clusterRoleBindings, clusterRoles, roleBindings } from "../harness/rbac.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const accounts = "dashboard-users";

export interface DashboardFixtures extends FileFixtures {
  /** The address of the page. */
  readonly address: string;
  /** A token of somebody who may do everything on the hub. */
  adminToken(): Promise<string>;
  /** A token of somebody who may list this in one namespace, and nothing else. */
  readerToken(namespace: string, resources?: readonly string[]): Promise<string>;
}

export async function startDashboardFleet(spec: TestFleetSpec): Promise<DashboardFixtures> {
  const dir = await mkdtemp(join(tmpdir(), "flotilla-page-"));
  afterAll(() => rm(dir, { recursive: true, force: true }));
  await buildPage(root, dir);
  const fixtures = await startFleetForFile({
    ...spec,
    hubFlags: (ports) => [`--dashboard-dir=${dir}`, ...(spec.hubFlags?.(ports) ?? [])],
  });
  const { hub, hubPorts } = fixtures.fleet;
  await hub.create(namespaces, { metadata: { name: accounts } });

  async function account(name: string) {
    const metadata = { namespace: accounts, name };
    await hub.create(serviceAccounts, { metadata });
    return { kind: "ServiceAccount", ...metadata };
  }

  return {
    ...fixtures,
    get cluster() {
      return fixtures.cluster;
    },
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
        rules: [{ apiGroups: ["fleet.cattle.io"], resources, verbs: ["get", "list", "watch"] }],
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

/** Logs in as a user does. */
export async function logIn(page: Page, address: string, token: string): Promise<void> {
  await page.goto(address);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
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
