/** A fleet with one cluster of several tenants: one has an account with rights in one namespace; a Secret is in another. */
import type { HelmOp } from "@flotilla/shared/api";
import { namespaces, secrets, serviceAccounts } from "@flotilla/shared/kube/objects";
import { configChart } from "../harness/chart-archive.ts";
import { startFleetForFile } from "../harness/file-fixtures.ts";
import type { TestCluster, TestFleet } from "../harness/fleet.ts";
import { accountRef, clusterRoleFor, roleBindings } from "../harness/rbac.ts";
import { releaseRecords } from "../harness/releases.ts";
import { hiddenLookupChart, lookupChart } from "./lookup-charts.ts";

/** The tenant's account, and the one namespace in which it may do everything. */
export const tenant = "team-a";
/** A Secret that the tenant may not read. */
export const foreignSecret = { namespace: "vault", name: "crown" };
/** Its password, which must be shown nowhere. */
export const foreignPassword = "pl4nted-8f3c-never-shown";

export type Spec = Partial<HelmOp["spec"]>;

export interface TenantFleet {
  readonly fleet: TestFleet;
  readonly cluster: TestCluster;
  /** A chart of a ConfigMap `<name>-config`, in the tenant's namespace and as the tenant unless the spec says otherwise. */
  create(name: string, spec?: Spec): Promise<HelmOp>;
  ready(name: string): Promise<HelmOp>;
  /** `RELEASE vREVISION STATUS` of all of Helm's records in a namespace, by default the tenant's; of one release or all. */
  records(release?: string, namespace?: string): Promise<readonly string[]>;
  /** Creates an account that may do everything in these namespaces. */
  createAccount(name: string, ...inNamespaces: readonly string[]): Promise<void>;
  deleteAccount(name: string): Promise<void>;
}

/** Lasts for the file. */
export async function startTenantFleet(): Promise<TenantFleet> {
  const { fleet, charts, cluster } = await startFleetForFile({ clusters: [{}] });
  charts.publish(await configChart("app", "1.0.0"), await lookupChart(), await hiddenLookupChart());
  const { client } = cluster;

  async function createAccount(name: string, ...inNamespaces: readonly string[]): Promise<void> {
    for (const namespace of inNamespaces)
      await client.create(roleBindings, {
        metadata: { namespace, name },
        ...clusterRoleFor("admin", name),
      });
    await client.create(serviceAccounts, { metadata: accountRef(name) });
  }

  await client.create(namespaces, { metadata: { name: tenant } });
  await client.create(namespaces, { metadata: { name: foreignSecret.namespace } });
  await client.create(secrets, {
    metadata: foreignSecret,
    stringData: { password: foreignPassword },
  });
  await createAccount(tenant, tenant);
  return {
    fleet,
    cluster,
    create: (name, { helm, ...spec } = {}) =>
      fleet.workspace.createHelmOp(name, {
        namespace: tenant,
        serviceAccount: tenant,
        ...spec,
        helm: { repo: charts.url, chart: "app", version: "1.0.0", ...helm },
      }),
    ready: (name) => fleet.workspace.waitUntilReady(name, "1.0.0", 1),
    async records(release, namespace = tenant) {
      const records = await releaseRecords(client, namespace, release);
      return records.map((record) => `${record.release} v${record.revision} ${record.status}`);
    },
    createAccount,
    async deleteAccount(name) {
      await client.delete(serviceAccounts, accountRef(name));
    },
  };
}
