/** What the Policies of the clusters' namespace say about Bundles that a mapping brings there. */
import assert from "node:assert/strict";
import { policies } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { aPolicy } from "../../testing/index.ts";
import { helm, home, mapped, startMappedFleet } from "./testing/index.ts";

describe("a Policy of the clusters' namespace", () => {
  const policyIn = (namespace: string, fields: Parameters<typeof aPolicy>[1]) => {
    const policy = aPolicy("rules", fields);
    return { ...policy, metadata: { ...policy.metadata, namespace, uid: `uid-${namespace}` } };
  };

  test("refuses Bundles of namespaces that it does not allow, there alone, and the mapping says so", async (t) => {
    const fleet = startMappedFleet(t);
    fleet.leader.rest.put(policies, policyIn("team-a", { allowedBundleNamespaces: ["other"] }));
    fleet.map(mapped);
    fleet.bundle();
    await fleet.pass();

    assert.deepEqual(fleet.deployed(), ["own", "rome"]);
    assert.equal(fleet.accepted()?.reason, "NamespacesRefused");
    assert.deepEqual(fleet.mapping()?.status?.refusedNamespaces, ["team-a"]);
    assert.equal(fleet.mapping()?.status?.namespaceCount, 2);
    assert.match(
      fleet.message(),
      /not deployed to Clusters of namespace team-a: disallowed namespace platform/,
    );
  });

  test("that allows the namespace lets its Bundles in, at once", async (t) => {
    const fleet = startMappedFleet(t);
    const policy = policyIn("team-a", { allowedBundleNamespaces: ["other"] });
    fleet.leader.rest.put(policies, policy);
    fleet.map(mapped);
    fleet.bundle();
    await fleet.pass();
    fleet.leader.rest.put(policies, {
      ...policy,
      metadata: { ...policy.metadata, generation: 2 },
      allowedBundleNamespaces: ["other", home],
    });
    await fleet.pass();

    assert.deepEqual(fleet.deployed(), ["own", "paris", "rome"]);
    assert.equal(fleet.accepted()?.status, "True");
  });

  test("that is created later changes nothing of what is deployed, and stops updates", async (t) => {
    const fleet = startMappedFleet(t);
    fleet.map(mapped);
    fleet.bundle();
    await fleet.pass();
    const before = (await fleet.content("paris")).values;
    fleet.leader.rest.put(policies, policyIn("team-a", { allowedBundleNamespaces: ["other"] }));
    fleet.bundle({ helm: { ...helm, values: { replicas: 2 } } });
    await fleet.pass();

    assert.deepEqual(fleet.deployed(), ["own", "paris", "rome"]);
    assert.deepEqual((await fleet.content("paris")).values, before);
    assert.deepEqual((await fleet.content("rome")).values, { replicas: 2 });
  });

  const judged: readonly (readonly [string, Parameters<typeof aPolicy>[1], RegExp])[] = [
    [
      "judges repositories",
      { helmOp: { allowedHelmRepoPatterns: ["https://other.example.com"] } },
      /disallowed helm repo .*Policy team-a\/rules/,
    ],
    ["judges accounts", { requireServiceAccount: true }, /serviceAccount is required/],
  ];
  for (const [what, fields, expected] of judged)
    test(`${what}, and the other namespaces are deployed to`, async (t) => {
      const fleet = startMappedFleet(t);
      fleet.leader.rest.put(policies, policyIn("team-a", fields));
      fleet.map(mapped);
      fleet.bundle();
      await fleet.pass();

      assert.deepEqual(fleet.deployed(), ["own", "rome"]);
      assert.match(fleet.message(), expected);
    });

  test("that requires an approval keeps Bundles without one off these Clusters, and stops nothing elsewhere", async (t) => {
    const fleet = startMappedFleet(t);
    fleet.map(mapped);
    fleet.bundle();
    await fleet.pass();
    const before = (await fleet.content("paris")).values;
    fleet.leader.rest.put(
      policies,
      policyIn("team-a", { rollout: { requiredGates: [{ gate: "approval" }] } }),
    );
    fleet.bundle({ helm: { ...helm, values: { replicas: 2 } } });
    await fleet.pass();

    assert.deepEqual(fleet.deployed(), ["own", "paris", "rome"]);
    assert.deepEqual((await fleet.content("paris")).values, before);
    for (const cluster of ["own", "rome"])
      assert.deepEqual((await fleet.content(cluster)).values, { replicas: 2 });
    assert.match(
      fleet.message(),
      /not deployed to Clusters of namespace team-a: spec\.rolloutStrategy has no stages, .*Policy team-a\/rules/,
    );
  });

  test("that forbids to create namespaces refuses Bundles which would", async (t) => {
    const fleet = startMappedFleet(t);
    fleet.leader.rest.put(policies, policyIn("team-a", { requireServiceAccount: true }));
    fleet.map(mapped);
    fleet.bundle({ serviceAccount: "installer" });
    await fleet.pass();
    assert.deepEqual(fleet.deployed(), ["own", "rome"]);
    assert.match(fleet.message(), /disallowed creation of namespaces/);

    fleet.bundle({ serviceAccount: "installer", createNamespace: false });
    await fleet.pass();
    assert.deepEqual(fleet.deployed(), ["own", "paris", "rome"]);
  });
});
