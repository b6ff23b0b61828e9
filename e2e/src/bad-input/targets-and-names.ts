/** Targets that match no cluster, and names that other objects have. */
import assert from "node:assert/strict";
import { apiVersion, bundles, clusterGroups, helmOps } from "@flotilla/shared/api";
import { workspaceNamespace } from "@flotilla/shared/api/names";
import { findCondition } from "@flotilla/shared/conditions";
import { describe, test } from "vitest";
import { messageOf, waitForObject } from "../harness/wait.ts";
import type { BadInputFleet } from "./bad-input-fleet.ts";

export function testEmptyTargets({ fleet, goodSpec, ...fixture }: BadInputFleet): void {
  const { workspace } = fleet;
  const withoutTargets = (name: string) =>
    workspace.waitForHelmOp(
      name,
      "without targets",
      ({ status }) => findCondition(status?.conditions, "Ready")?.reason === "NoTargets",
    );

  describe("a HelmOp without targets", () => {
    test("whose ClusterGroup does not exist names it, and is deployed once it is created", async () => {
      await workspace.createHelmOp("group", { ...goodSpec, targets: [{ clusterGroup: "europe" }] });
      const helmOp = await withoutTargets("group");
      assert.deepEqual(
        findCondition(helmOp.status?.conditions, "Ready")?.message,
        "no cluster matches any of the targets; there is no ClusterGroup europe in the namespace fleet-default",
      );

      await fleet.hub.create(clusterGroups, {
        apiVersion,
        kind: "ClusterGroup",
        metadata: { namespace: workspaceNamespace, name: "europe" },
        spec: { selector: { matchLabels: { env: "prod" } } },
      });
      const ready = await fixture.ready("group");
      assert.equal(messageOf(ready, "Ready"), "");
    });

    test("whose Cluster does not exist names it", async () => {
      await workspace.createHelmOp("cluster", {
        ...goodSpec,
        targets: [{ clusterName: "cluster-9" }],
      });

      const helmOp = await withoutTargets("cluster");
      assert.match(
        messageOf(helmOp, "Ready"),
        /; there is no Cluster cluster-9 in the namespace fleet-default$/,
      );
    });

    test("in a namespace without clusters says so", async () => {
      const ref = { namespace: "default", name: "misplaced" };
      await fleet.hub.create(helmOps, {
        apiVersion,
        kind: "HelmOp",
        metadata: ref,
        spec: goodSpec,
      });

      const helmOp = await waitForObject(
        fleet.hub,
        helmOps,
        ref,
        "in a namespace without clusters",
        (helmOp) =>
          /; there are no Clusters in the namespace default, and Clusters of other namespaces are no targets$/.test(
            messageOf(helmOp, "Ready"),
          ),
      );
      assert.equal(findCondition(helmOp.status?.conditions, "Ready")?.reason, "NoTargets");
    });
  });
}

export function testNameConflicts({ fleet, goodSpec, password, ...fixture }: BadInputFleet): void {
  const { workspace } = fleet;

  describe("a name", () => {
    test("of a Bundle that a user applied is rejected, and is free once the Bundle is deleted", async () => {
      const ref = { namespace: workspaceNamespace, name: "taken" };
      const repo = `https://user:${password}@charts.invalid/stable`;
      await fleet.hub.create(bundles, {
        apiVersion,
        kind: "Bundle",
        metadata: ref,
        spec: { targets: [{ clusterSelector: {} }], helm: { repo, chart: "web" } },
      });
      const foreign = await waitForObject(fleet.hub, bundles, ref, "not deployed", (found) =>
        /^helm\.repo holds a user name or a password: put them into the Secret/.test(
          messageOf(found, "Ready"),
        ),
      );

      await workspace.createHelmOp("taken", goodSpec);
      const rejected = await fixture.accepted("taken", "False");
      for (const type of ["Accepted", "Ready"]) {
        const condition = findCondition(rejected.status?.conditions, type);
        assert.equal(condition?.status, "False");
        assert.equal(
          condition.message,
          "a Bundle fleet-default/taken exists already that was not made for this HelmOp; create the HelmOp under another name, or delete that Bundle",
        );
      }
      assert.deepEqual((await workspace.bundle("taken"))?.spec, foreign.spec);

      await fleet.hub.delete(bundles, ref);
      await fixture.ready("taken");
    });

    test("of a release that another HelmOp has is rejected for the second, which gets it when the first is deleted", async () => {
      const rejected = (name: string) =>
        workspace.waitForHelmOp(name, "rejected", ({ status }) =>
          /release bad-input\/shared belongs to deployment first; give one of the two another releaseName or namespace; retrying at/.test(
            findCondition(status?.conditions, "Ready")?.message ?? "",
          ),
        );
      const shared = { ...goodSpec, helm: { ...goodSpec.helm, releaseName: "shared" } };
      await workspace.createHelmOp("first", shared);
      await fixture.ready("first");
      const [revision] = await fixture.records("shared");
      const other = { ...shared, helm: { ...shared.helm, values: { greeting: "other" } } };
      await workspace.createHelmOp("second", other);
      await workspace.createHelmOp("third", other);
      await rejected("second");
      await rejected("third");
      assert.deepEqual(await fixture.records("shared"), [revision], "the release is not changed");

      await workspace.patchHelmOp("third", { helm: { releaseName: "third" } });
      await fixture.ready("third");
      assert.deepEqual(await fixture.records("shared"), [revision]);

      await workspace.deleteHelmOp("first");
      await fixture.ready("second");
      assert.equal((await fixture.records("shared")).length, 1);
    });
  });
}
