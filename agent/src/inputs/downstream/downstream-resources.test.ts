import assert from "node:assert/strict";
import { type ConfigMap, configMaps } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { type TestContext, test } from "vitest";
import { createInventory } from "../../state/inventory/create-inventory.ts";
import { downstreamLabel } from "./downstream-object.ts";
import { createDownstreamResources, type DownstreamTarget } from "./downstream-resources.ts";

const settings = {
  ref: { kind: "ConfigMap", name: "settings" },
  object: { data: { a: "1" } },
} as const;

/** `references`: whether the deployment `web` refers to `settings`. */
async function setUp(t: TestContext, existing: readonly ConfigMap[] = []) {
  const rest = createMemoryApiServer();
  for (const object of existing) rest.put(configMaps, object);
  const { inventory } = createInventory({ rest, log: silentLog() });
  const references = { settings: true };
  const downstream = createDownstreamResources({
    rest,
    inventory,
    referrers: ({ name }, namespace) =>
      Promise.resolve(
        new Set(references.settings && name === "settings" && namespace === "apps" ? ["web"] : []),
      ),
    clock: createFakeClock(),
    log: silentLog(),
  });
  const ending = new AbortController();
  const running = downstream.run(ending.signal);
  t.onTestFinished(async () => {
    ending.abort();
    await running;
  });
  await downstream.synced;
  const target: DownstreamTarget = {
    owner: "web",
    namespace: "apps",
    client: {
      subject: "the agent itself",
      isAgent: true,
      rest,
      helmArgs: [],
      watch: { subject: "the agent", rest, isPerNamespace: false },
    },
    signal: ending.signal,
  };
  const names = () =>
    rest.all(configMaps).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  return { rest, inventory, downstream, target, references, names };
}

function labelled(
  namespace: string,
  name: string,
  data?: Readonly<Record<string, string>>,
): ConfigMap {
  return {
    metadata: { namespace, name, labels: { [downstreamLabel]: "web" } },
    ...(data !== undefined && { data }),
  };
}

test("an object that a tenant has labelled is not the deployment's, and stays", async (t) => {
  const { downstream, target, names } = await setUp(t, [labelled("tenant", "own")]);

  assert.equal(downstream.has("web"), false);
  await downstream.apply([settings], target);
  await downstream.remove("web", target.client, target.signal);

  assert.deepEqual(names(), ["tenant/own", "apps/settings"]);
});

test("an object of the same name that a tenant has labelled is not changed", async (t) => {
  const { downstream, target, rest } = await setUp(t, [labelled("apps", "settings", { a: "own" })]);

  await assert.rejects(downstream.apply([settings], target), {
    code: "DOWNSTREAM_RESOURCE_CONFLICT",
  });

  assert.deepEqual(rest.all(configMaps)[0]?.data, { a: "own" });
});

test("a copy is deleted with its deployment, and one that replaces it by hand is not", async (t) => {
  for (const isReplaced of [false, true]) {
    const { rest, downstream, target, references, names } = await setUp(t);
    await downstream.apply([settings], target);
    await settle();
    if (isReplaced) {
      rest.remove(configMaps, { namespace: "apps", name: "settings" });
      rest.put(configMaps, labelled("apps", "settings", { a: "own" }));
      await settle();
    }
    references.settings = false;

    await downstream.remove("web", target.client, target.signal);

    assert.deepEqual(names(), isReplaced ? ["apps/settings"] : []);
    assert.equal(downstream.has("web"), false);
  }
});

test("a copy that was created just before the agent ended is entered, and not created again", async (t) => {
  const { downstream, inventory, target } = await setUp(t, [
    {
      ...labelled("apps", "settings", { a: "1" }),
      metadata: { ...labelled("apps", "settings").metadata, annotations: {} },
    },
  ]);

  await downstream.apply([settings], target);

  assert.deepEqual(
    inventory.objectsOf("web").map(({ kind, namespace, name }) => [kind, namespace, name]),
    [["ConfigMap", "apps", "settings"]],
  );
});
