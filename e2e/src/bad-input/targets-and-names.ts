/** Targets that lead nowhere, and names that somebody else has. */
import assert from "node:assert/strict";
import { apiVersion, bundles, clusterGroups, helmOps } from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { describe, test } from "vitest";
import { objectThat } from "../harness/wait.ts";
import type { World } from "./bad-input-fleet.ts";

export function targetsLeadNowhere({ fleet, bench, goodSpec }: World): void {
  const nowhere = (name: string) =>
    bench.that(
      name,
      "told that it goes nowhere",
      ({ status }) => findCondition(status?.conditions, "Ready")?.reason === "NoTargets",
    );

  describe("a HelmOp that goes nowhere", () => {
    test("for want of a ClusterGroup says which, and goes there once it is made", async () => {
      await bench.create("group", { ...goodSpec, targets: [{ clusterGroup: "europe" }] });
      const lost = await nowhere("group");
      assert.deepEqual(
        findCondition(lost.status?.conditions, "Ready")?.message,
        "no cluster matches any of the targets; there is no ClusterGroup europe in the namespace fleet-default",
      );

      await fleet.hub.create(clusterGroups, {
        apiVersion,
        kind: "ClusterGroup",
        metadata: { namespace: workspaceNamespace, name: "europe" },
        spec: { selector: { matchLabels: { env: "prod" } } },
      });
      const found = await bench.ready("group");
      assert.equal(findCondition(found.status?.conditions, "Ready")?.message, "");
    });

    test("for want of a Cluster of that name says which", async () => {
      await bench.create("cluster", { ...goodSpec, targets: [{ clusterName: "cluster-9" }] });

      const lost = await nowhere("cluster");
      assert.match(
        findCondition(lost.status?.conditions, "Ready")?.message ?? "",
        /; there is no Cluster cluster-9 in the namespace fleet-default$/,
      );
    });

    test("because its namespace has no clusters says so", async () => {
      const ref = { namespace: "default", name: "misplaced" };
      await fleet.hub.create(helmOps, {
        apiVersion,
        kind: "HelmOp",
        metadata: ref,
        spec: goodSpec,
      });

      const lost = await objectThat(fleet.hub, helmOps, ref, "that has no clusters", (helmOp) =>
        /; there are no Clusters in the namespace default, and Clusters of other namespaces are no targets$/.test(
          findCondition(helmOp?.status?.conditions, "Ready")?.message ?? "",
        ),
      );
      assert.equal(findCondition(lost?.status?.conditions, "Ready")?.reason, "NoTargets");
    });
  });
}

export function namesCollide({ fleet, bench, goodSpec, password }: World): void {
  describe("a name", () => {
    test("that a Bundle has which somebody applied is not taken over, and is free once that is gone", async () => {
      const ref = { namespace: workspaceNamespace, name: "taken" };
      const repo = `https://user:${password}@charts.invalid/stable`;
      await fleet.hub.create(bundles, {
        apiVersion,
        kind: "Bundle",
        metadata: ref,
        spec: { targets: [{ clusterSelector: {} }], helm: { repo, chart: "web" } },
      });
      const foreign = await objectThat(
        fleet.hub,
        bundles,
        ref,
        "told why it goes nowhere",
        (found) =>
          /^helm\.repo holds a user name or a password: put them into the Secret/.test(
            findCondition(found?.status?.conditions, "Ready")?.message ?? "",
          ),
      );

      await bench.create("taken", goodSpec);
      const refused = await bench.accepted("taken", "False");
      for (const type of ["Accepted", "Ready"]) {
        const condition = findCondition(refused.status?.conditions, type);
        assert.equal(condition?.status, "False");
        assert.equal(
          condition.message,
          "a Bundle fleet-default/taken exists already that was not made for this HelmOp; create the HelmOp under another name, or delete that Bundle",
        );
      }
      assert.deepEqual((await fleet.hub.get(bundles, ref))?.spec, foreign?.spec);

      await fleet.hub.delete(bundles, ref);
      await bench.ready("taken");
    });

    test("of a release that another HelmOp has is refused to the second, which gets it when the first goes", async () => {
      const isRefused = (name: string) =>
        bench.that(name, "refused", ({ status }) =>
          /release bad-input\/shared belongs to deployment first; give one of the two another releaseName or namespace; retrying at/.test(
            findCondition(status?.conditions, "Ready")?.message ?? "",
          ),
        );
      const shared = { ...goodSpec, helm: { ...goodSpec.helm, releaseName: "shared" } };
      await bench.create("first", shared);
      await bench.ready("first");
      const [revision] = await bench.recordsOf("shared");
      const other = { ...shared, helm: { ...shared.helm, values: { greeting: "other" } } };
      await bench.create("second", other);
      await bench.create("third", other);
      await isRefused("second");
      await isRefused("third");
      assert.deepEqual(await bench.recordsOf("shared"), [revision], "nobody fights");

      await bench.change("third", { helm: { releaseName: "third" } });
      await bench.ready("third");
      assert.deepEqual(await bench.recordsOf("shared"), [revision]);

      await fleet.hub.delete(helmOps, { namespace: workspaceNamespace, name: "first" });
      await bench.ready("second");
      assert.equal((await bench.recordsOf("shared")).length, 1);
    });
  });
}
