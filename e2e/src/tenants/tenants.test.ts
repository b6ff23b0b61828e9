/**
 * What a tenant's HelmOp can do is what its service account may: on one real fleet, whose API servers decide by RBAC. It
 * reads no foreign Secret and changes nothing of others, however its chart goes about it, and is told so.
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
import { accountsComeAndGo } from "./accounts.ts";
import { dependenciesAreWaitedFor } from "./dependencies.ts";
import { namespacesAreDescribed } from "./namespaces.ts";
import { planted, startWorld, tenant, vault } from "./tenant-fleet.ts";

const world = await startWorld();
const { fleet, cluster } = world;
const { rest } = cluster;
const secretOfOthers = { namespace: vault.namespace, secret: vault.name };

describe("a tenant's HelmOp", () => {
  test("is installed in the tenant's namespace, with the rights for nothing else", async () => {
    await world.create("app");

    await world.ready("app");

    assert.equal(
      (await rest.get(configMaps, { namespace: tenant, name: "app-config" }))?.data?.["greeting"],
      "hello",
    );
    assert.deepEqual(await world.records(tenant), ["app v1 deployed"]);
  });

  test("reads with lookup what its account may", async () => {
    await rest.create(secrets, {
      metadata: { namespace: tenant, name: "own" },
      stringData: { own: "known" },
    });
    await world.create("reader", {
      helm: { chart: "spy", values: { namespace: tenant, secret: "own" } },
    });

    await world.ready("reader");

    const found = await rest.get(configMaps, { namespace: tenant, name: "reader-found" });
    assert.match(found?.data?.["found"] ?? "", new RegExp(Buffer.from("known").toString("base64")));
  });

  const spies = [
    ["with lookup", "spy", secretOfOthers],
    ["with lookup, all of them at once", "spy", { namespace: vault.namespace, secret: "" }],
    ["with lookup in a template that is put together from pieces", "sly", secretOfOthers],
  ] as const;
  for (const [index, [how, chart, values]] of spies.entries()) {
    test(`reads no foreign Secret ${how}`, async () => {
      await world.create(`spy-${index}`, { helm: { chart, values } });

      await world.said(
        `spy-${index}`,
        /helm upgrade --install of release team-a\/spy-\d: .*error calling lookup: secrets .*is forbidden: User "system:serviceaccount:flotilla-agent:team-a" cannot (get|list) resource "secrets"/s,
      );

      const name = `spy-${index}-found`;
      assert.equal(await rest.get(configMaps, { namespace: tenant, name }), undefined);
    });
  }

  test("takes no values from a foreign namespace", async () => {
    const secretKeyRef = { ...vault, key: "password" };
    await world.create("borrower", { helm: { valuesFrom: [{ secretKeyRef }] } });

    await world.said(
      "borrower",
      /read the Secret vault\/.* for valuesFrom as service account flotilla-agent\/team-a: .*is forbidden/s,
    );

    const config = { namespace: tenant, name: "borrower-config" };
    assert.equal(await rest.get(configMaps, config), undefined);
  });

  test("is copied nothing of another workspace of the hub, whatever it calls it", async () => {
    const hidden = { namespace: "fleet-local", name: "hidden" };
    await fleet.hub.create(secrets, {
      metadata: hidden,
      stringData: { password: "of another workspace" },
    });
    for (const [index, name] of ["hidden", "fleet-local/hidden"].entries()) {
      await world.create(`copier-${index}`, { downstreamResources: [{ kind: "Secret", name }] });
      await world.said(
        `copier-${index}`,
        /the hub has no Secret fleet-default\/.*hidden, which downstreamResources references/s,
      );
    }

    assert.equal(await rest.get(secrets, { namespace: tenant, name: "hidden" }), undefined);
  });

  test("installs nothing in a foreign namespace", async () => {
    await world.create("intruder", { namespace: vault.namespace });

    await world.said(
      "intruder",
      /release vault\/intruder: .*secrets is forbidden: User "system:serviceaccount:flotilla-agent:team-a" .* in the namespace "vault"/s,
    );

    assert.deepEqual(await world.records(vault.namespace), []);
  });

  test("makes no namespace unless its account may", async () => {
    await world.create("settler", { namespace: "newfound" });

    await world.said(
      "settler",
      /create namespace newfound as service account flotilla-agent\/team-a, which may not create namespaces: .*create it beforehand, or grant the right/s,
    );

    assert.equal(await rest.get(namespaces, { name: "newfound" }), undefined);
  });

  test("takes no release of others that has the same content", async () => {
    await world.create("theirs", {
      namespace: vault.namespace,
      serviceAccount: "",
      keepResources: false,
    });
    await world.ready("theirs");
    await world.create("taker", {
      namespace: vault.namespace,
      helm: { releaseName: "theirs" },
    });

    await world.said("taker", /release vault\/theirs belongs to deployment theirs;/);

    assert.deepEqual(await world.records(vault.namespace), ["theirs v1 deployed"]);
  });
});

describe("a HelmOp without an account", () => {
  test("may not read the cluster with the agent's own rights until that is allowed", async () => {
    const values = { namespace: tenant, secret: "own" };
    await world.create("unbound", { serviceAccount: "", helm: { chart: "spy", values } });

    await world.said(
      "unbound",
      /render release team-a\/unbound: spy\/templates\/found\.yaml calls lookup, .* rights of the agent; give the deployment a serviceAccount, .*helm\.disableLookup: false/s,
    );
    assert.deepEqual(
      (await world.records(tenant)).filter((record) => record.startsWith("unbound")),
      [],
    );
    await world.change("unbound", { helm: { disableLookup: false } });

    await world.ready("unbound");
  });
});

describe("service accounts", () => accountsComeAndGo(world));
describe("the release's namespace", () => namespacesAreDescribed(world));
describe("a HelmOp that depends on another", () => dependenciesAreWaitedFor(world));

test("what the foreign Secret holds is shown nowhere, on the hub or downstream", async () => {
  const seen: (readonly [where: string, text: string])[] = [
    ["the hub's log", await readFile(fleet.hubLog, "utf8")],
    ["the agent's log", await readFile(cluster.agentLog, "utf8")],
  ];
  const kinds: readonly Resource<KubeObject>[] = [events, configMaps, secrets];
  const hubKinds: readonly Resource<KubeObject>[] = [helmOps, bundles, bundleDeployments];
  for (const kind of [...hubKinds, ...kinds]) {
    const { items } = await fleet.hub.list(kind);
    assert.ok(items.length > 0, `there are ${kind.plural} on the hub`);
    seen.push([`${kind.kind} on the hub`, JSON.stringify(items)]);
  }
  for (const kind of kinds) {
    const { items } = await rest.list(kind);
    const others = items.filter(({ metadata }) => metadata.namespace !== vault.namespace);
    seen.push([`${kind.kind} of the cluster`, JSON.stringify(others)]);
  }
  for (const text of [planted, Buffer.from(planted).toString("base64")])
    for (const [where, shown] of seen)
      assert.ok(!shown.includes(text), `${where} shows what the Secret holds`);
});
