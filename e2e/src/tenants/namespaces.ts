/** Labels and annotations of the release's namespace, with an account that may set them and one that may not. */
import assert from "node:assert/strict";
import { namespaces } from "@flotilla/shared/kube/objects";
import { test } from "vitest";
import { clusterRoleBindings, clusterRoleFor, clusterRoles } from "../harness/rbac.ts";
import { messageOf, waitForObject } from "../harness/wait.ts";
import { type TenantFleet, tenant } from "./tenant-fleet.ts";

export function testNamespaceLabels({ fleet, cluster, ...tenants }: TenantFleet): void {
  const { client } = cluster;
  const { workspace } = fleet;
  const labelsOf = async () =>
    (await client.reader.get(namespaces, { name: tenant }))?.metadata.labels ?? {};

  test("is not labelled by an account that may not, and the message names the missing right", async () => {
    await tenants.create("labels", { namespaceLabels: { owner: "platform" } });

    await workspace.waitForMessage(
      "labels",
      /set the labels and annotations of namespace team-a as service account flotilla-agent\/team-a, which needs the rights to get and patch .*; the release itself is installed/s,
    );

    assert.equal((await labelsOf())["owner"], undefined);
    assert.deepEqual(await tenants.records("labels"), ["labels v1 deployed"]);
  });

  test("has the labels and annotations of the HelmOp and, of others, only those of Kubernetes", async () => {
    await client.create(clusterRoles, {
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
    await client.create(clusterRoleBindings, {
      metadata: { name: "label-team-a" },
      ...clusterRoleFor("label-team-a", tenant),
    });
    await client.patch(
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

    await workspace.patchHelmOp("labels", {
      namespaceLabels: {
        owner: "platform",
        "pod-security.kubernetes.io/enforce": "privileged",
      },
      namespaceAnnotations: { team: "a" },
    });
    const ready = await tenants.ready("labels");
    assert.match(
      messageOf(ready, "Accepted"),
      /spec\.namespaceLabels: pod-security\.kubernetes\.io\/enforce is ignored/,
    );

    const found = await client.reader.get(namespaces, { name: tenant });
    assert.deepEqual(found?.metadata.labels, {
      "kubernetes.io/metadata.name": tenant,
      "pod-security.kubernetes.io/enforce": "restricted",
      owner: "platform",
    });
    assert.deepEqual(found.metadata.annotations, { "kubernetes.io/note": "kept", team: "a" });
  });

  test("is relabelled when the HelmOp changes, without a run of Helm", async () => {
    await workspace.patchHelmOp("labels", { namespaceLabels: { owner: "payments" } });

    await waitForObject(
      client,
      namespaces,
      { name: tenant },
      "relabelled",
      ({ metadata }) => metadata.labels?.["owner"] === "payments",
    );
    await tenants.ready("labels");
    assert.deepEqual(await tenants.records("labels"), ["labels v1 deployed"]);
  });
}
