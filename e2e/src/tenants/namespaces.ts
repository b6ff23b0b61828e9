/** What a HelmOp wants its namespace to be labelled with, with an account that may and one that may not. */
import assert from "node:assert/strict";
import { findCondition } from "@flotilla/shared/conditions";
import { namespaces } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { objectThat } from "../harness/wait.ts";
import { boundTo, clusterRoleBindings, clusterRoles, tenant, type World } from "./tenant-fleet.ts";

export function namespacesAreDescribed(world: World): void {
  const { rest } = world.cluster;
  const labelsOf = async () =>
    (await rest.get(namespaces, { name: tenant }))?.metadata.labels ?? {};

  test("is not labelled by an account that may not, and the missing right is named", async () => {
    await world.create("labels", { namespaceLabels: { owner: "platform" } });

    await world.said(
      "labels",
      /set the labels and annotations of namespace team-a as service account flotilla-agent\/team-a, which needs the rights to get and patch .*; the release itself is installed/s,
    );

    assert.equal((await labelsOf())["owner"], undefined);
    assert.ok((await world.records(tenant)).includes("labels v1 deployed"));
  });

  test("has the labels and annotations of the HelmOp and no others, but for Kubernetes' own", async () => {
    await rest.create(clusterRoles, {
      metadata: { name: "label-team-a" },
      rules: [
        {
          apiGroups: [""],
          resources: ["namespaces"],
          resourceNames: [tenant],
          verbs: ["get", "patch"],
        },
      ],
    });
    await rest.create(clusterRoleBindings, {
      metadata: { name: "label-team-a" },
      ...boundTo("ClusterRole", "label-team-a", tenant),
    });
    await rest.patch(
      namespaces,
      { name: tenant },
      {
        type: "merge",
        body: {
          metadata: {
            labels: { stray: "yes", "pod-security.kubernetes.io/enforce": "restricted" },
            annotations: { stray: "yes", "kubernetes.io/note": "kept" },
          },
        },
      },
    );

    await world.change("labels", {
      namespaceLabels: {
        owner: "platform",
        "pod-security.kubernetes.io/enforce": "privileged",
      },
      namespaceAnnotations: { team: "a" },
    });
    const ready = await world.ready("labels");
    assert.match(
      findCondition(ready.status?.conditions, "Accepted")?.message ?? "",
      /spec\.namespaceLabels: pod-security\.kubernetes\.io\/enforce is ignored/,
    );

    const found = await rest.get(namespaces, { name: tenant });
    assert.deepEqual(found?.metadata.labels, {
      "kubernetes.io/metadata.name": tenant,
      "pod-security.kubernetes.io/enforce": "restricted",
      owner: "platform",
    });
    assert.deepEqual(found.metadata.annotations, { "kubernetes.io/note": "kept", team: "a" });
  });

  test("follows a change of the HelmOp without a run of Helm", async () => {
    await world.change("labels", { namespaceLabels: { owner: "payments" } });

    await objectThat(
      rest,
      namespaces,
      { name: tenant },
      "labelled anew",
      (found) => found?.metadata.labels?.["owner"] === "payments",
    );
    await world.ready("labels");
    assert.ok((await world.records(tenant)).includes("labels v1 deployed"));
  });
}
