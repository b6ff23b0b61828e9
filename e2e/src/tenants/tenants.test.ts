/**
 * A tenant's HelmOp can do what its service account may do: on one real fleet, whose API servers authorize by RBAC. It reads
 * no foreign Secret and changes nothing of other tenants, whatever its chart tries, and reports what was denied.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { bundleDeployments, bundles, helmOps } from "@flotilla/shared/api";
import {
  configMaps,
  events,
  type KubeObject,
  namespaces,
  type Resource,
  secrets,
} from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { installedConfig } from "../harness/releases.ts";
import { testServiceAccounts } from "./accounts.ts";
import { testDependencies } from "./dependencies.ts";
import { testNamespaceLabels } from "./namespaces.ts";
import { foreignPassword, foreignSecret, startTenantFleet, tenant } from "./tenant-fleet.ts";

const tenants = await startTenantFleet();
const { fleet, cluster } = tenants;
const { workspace } = fleet;
const { client } = cluster;
const secretOfOthers = { namespace: foreignSecret.namespace, secret: foreignSecret.name };

describe("a tenant's HelmOp", () => {
  test("is installed in the tenant's namespace by an account with rights for nothing else", async () => {
    await tenants.create("app");

    await tenants.ready("app");

    assert.equal((await installedConfig(client, "app", tenant))?.data?.["greeting"], "hello");
    assert.deepEqual(await tenants.records(), ["app v1 deployed"]);
  });

  test("reads with lookup what its account may read", async () => {
    await client.create(secrets, {
      metadata: { namespace: tenant, name: "own" },
      stringData: { own: "known" },
    });
    await tenants.create("reader", {
      helm: { chart: "lookup", values: { namespace: tenant, secret: "own" } },
    });

    await tenants.ready("reader");

    const found = await client.reader.get(configMaps, { namespace: tenant, name: "reader-found" });
    assert.match(found?.data?.["found"] ?? "", new RegExp(Buffer.from("known").toString("base64")));
  });

  const lookups = [
    ["with lookup", "lookup", secretOfOthers],
    [
      "with lookup of all in a namespace",
      "lookup",
      { namespace: foreignSecret.namespace, secret: "" },
    ],
    ["with a lookup that is put together when it is rendered", "hidden-lookup", secretOfOthers],
  ] as const;
  for (const [index, [how, chart, values]] of lookups.entries()) {
    test(`reads no foreign Secret ${how}`, async () => {
      await tenants.create(`lookup-${index}`, { helm: { chart, values } });

      await workspace.waitForMessage(
        `lookup-${index}`,
        /helm upgrade --install of release team-a\/lookup-\d with chart \S+: .*error calling lookup: service account flotilla-agent\/team-a may not (get|list) secrets/s,
      );

      const name = `lookup-${index}-found`;
      assert.equal(await client.reader.get(configMaps, { namespace: tenant, name }), undefined);
    });
  }

  test("takes no values from a foreign namespace", async () => {
    const secretKeyRef = { ...foreignSecret, key: "password" };
    await tenants.create("borrower", { helm: { valuesFrom: [{ secretKeyRef }] } });

    await workspace.waitForMessage(
      "borrower",
      /read the Secret vault\/.* for valuesFrom as service account flotilla-agent\/team-a: .* may not get secrets/s,
    );

    const config = { namespace: tenant, name: "borrower-config" };
    assert.equal(await client.reader.get(configMaps, config), undefined);
  });

  test("receives no objects of another workspace of the hub", async () => {
    const hidden = { namespace: "fleet-local", name: "hidden" };
    await fleet.hub.create(secrets, {
      metadata: hidden,
      stringData: { password: "of another workspace" },
    });
    const reasons = [
      [
        "hidden",
        /the hub has no Secret fleet-default\/hidden, which downstreamResources references/s,
      ],
      [
        "fleet-local/hidden",
        /downstreamResources\[0\]\.name is fleet-local\/hidden; set the name/s,
      ],
    ] as const;
    for (const [index, [name, reason]] of reasons.entries()) {
      await tenants.create(`receiver-${index}`, {
        downstreamResources: [{ kind: "Secret", name }],
      });
      await workspace.waitForMessage(`receiver-${index}`, reason);
    }

    assert.equal(
      await client.reader.get(secrets, { namespace: tenant, name: "hidden" }),
      undefined,
    );
  });

  test("installs nothing in a foreign namespace", async () => {
    await tenants.create("intruder", { namespace: foreignSecret.namespace });

    await workspace.waitForMessage(
      "intruder",
      /release vault\/intruder with chart \S+: .*service account flotilla-agent\/team-a may not list secrets of API group "" in namespace vault/s,
    );

    assert.deepEqual(await tenants.records(undefined, foreignSecret.namespace), []);
  });

  test("creates no namespace unless its account may", async () => {
    await tenants.create("creator", { namespace: "newfound" });

    await workspace.waitForMessage(
      "creator",
      /create namespace newfound as service account flotilla-agent\/team-a, which may not create namespaces: .*create it beforehand, or grant the right/s,
    );

    assert.equal(await client.reader.get(namespaces, { name: "newfound" }), undefined);
  });

  test("does not adopt a release of another deployment that has the same content", async () => {
    await tenants.create("theirs", {
      namespace: foreignSecret.namespace,
      serviceAccount: "",
      keepResources: false,
    });
    await tenants.ready("theirs");
    await tenants.create("adopter", {
      namespace: foreignSecret.namespace,
      helm: { releaseName: "theirs" },
    });

    await workspace.waitForMessage(
      "adopter",
      /release vault\/theirs belongs to deployment theirs;/,
    );

    assert.deepEqual(await tenants.records(undefined, foreignSecret.namespace), [
      "theirs v1 deployed",
    ]);
  });
});

describe("a HelmOp without an account", () => {
  test("reads the cluster with the agent's own rights unless disableLookup is true", async () => {
    const values = { namespace: tenant, secret: "own" };
    await tenants.create("unbound", {
      serviceAccount: "",
      helm: { chart: "lookup", values, disableLookup: true },
    });

    await workspace.waitForMessage(
      "unbound",
      /render release team-a\/unbound: lookup\/templates\/found\.yaml calls lookup, which helm\.disableLookup disables/s,
    );
    assert.deepEqual(await tenants.records("unbound"), []);
    await workspace.patchHelmOp("unbound", { helm: { disableLookup: null } });

    await tenants.ready("unbound");
  });
});

describe("service accounts", () => testServiceAccounts(tenants));
describe("the release's namespace", () => testNamespaceLabels(tenants));
describe("a HelmOp that depends on another", () => testDependencies(tenants));

test("the password of the foreign Secret is shown nowhere, on the hub or downstream", async () => {
  const seen: (readonly [where: string, text: string])[] = [
    ["the hub's log", await readFile(fleet.hubLog, "utf8")],
    ["the agent's log", await readFile(cluster.agentLog, "utf8")],
  ];
  const kinds: readonly Resource<KubeObject>[] = [events, configMaps, secrets];
  const hubKinds: readonly Resource<KubeObject>[] = [helmOps, bundles, bundleDeployments];
  for (const kind of [...hubKinds, ...kinds]) {
    const items = await fleet.hub.reader.list(kind);
    assert.ok(items.length > 0, `there are ${kind.plural} on the hub`);
    seen.push([`${kind.kind} on the hub`, JSON.stringify(items)]);
  }
  for (const kind of kinds) {
    const items = await client.reader.list(kind);
    const others = items.filter(({ metadata }) => metadata.namespace !== foreignSecret.namespace);
    seen.push([`${kind.kind} of the cluster`, JSON.stringify(others)]);
  }
  for (const text of [foreignPassword, Buffer.from(foreignPassword).toString("base64")])
    for (const [where, shown] of seen)
      assert.ok(!shown.includes(text), `${where} shows the password of the Secret`);
});
