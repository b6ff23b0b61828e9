import assert from "node:assert/strict";
import { type BundleNamespaceMapping, bundleNamespaceMappings } from "@flotilla/shared/api";
import { KubeStatusError } from "@flotilla/shared/kube/client";
import { namespaces } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { test } from "vitest";
import { readReach } from "./mapped-namespaces.ts";

const bundle = {
  metadata: { namespace: "platform", name: "web", labels: { tier: "base" } },
  spec: {},
};
const base = { matchLabels: { tier: "base" } };
const tenants = { matchLabels: { tenant: "yes" } };

/** The namespaces `platform`, `team-a` and `team-b`, of which the last two are tenants', and a mapping. */
function start(mapping: Partial<BundleNamespaceMapping>) {
  const rest = createMemoryApiServer();
  for (const name of ["platform", "team-b", "team-a"]) {
    const labels = name === "platform" ? {} : { tenant: "yes" };
    rest.put(namespaces, { metadata: { name, labels } });
  }
  rest.put(bundleNamespaceMappings, {
    metadata: { namespace: "platform", name: "base" },
    ...{ bundleSelector: base, namespaceSelector: tenants, ...mapping },
  });
  return rest;
}

test("a Bundle reaches its own namespace, then those that its mappings add", async () => {
  assert.deepEqual(await readReach(start({}), bundle), {
    namespaces: ["platform", "team-a", "team-b"],
    refused: [],
    unnamed: 0,
    isPartial: false,
  });
});

test("a mapping for other Bundles adds nothing", async () => {
  const reach = await readReach(
    start({ bundleSelector: { matchLabels: { tier: "top" } } }),
    bundle,
  );

  assert.deepEqual(reach.namespaces, ["platform"]);
});

test("namespaces that refuse the mapping's are named, and their Clusters are left out", async () => {
  const { namespaces: reached, refused } = await readReach(
    start({ status: { refusedNamespaces: ["team-b"] } }),
    bundle,
  );

  assert.deepEqual([reached, refused], [["platform", "team-a"], ["team-b"]]);
});

test("those that refuse it and that the mapping does not name are counted", async () => {
  const { unnamed } = await readReach(
    start({ status: { refusedNamespaces: ["team-b"], refusedCount: 3 } }),
    bundle,
  );

  assert.equal(unnamed, 2);
});

test.for([bundleNamespaceMappings, namespaces])(
  "what lists of $plural would add is missing where they are forbidden",
  async ({ plural }) => {
    const server = start({});
    const reach = await readReach(
      {
        list(resource, options) {
          if (resource.plural === plural)
            return Promise.reject(new KubeStatusError("no", { status: 403, reason: "Forbidden" }));
          return server.list(resource, options);
        },
      },
      bundle,
    );

    assert.deepEqual([reach.namespaces, reach.isPartial], [["platform"], true]);
  },
);
