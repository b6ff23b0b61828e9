import assert from "node:assert/strict";
import type { Bundle, BundleDeployment, Cluster } from "@flotilla/shared/api";
import {
  bundleNameLabel,
  bundleNamespaceLabel,
  clusterLabel,
  clusterNamespaceLabel,
  clusterUidLabel,
  helmOpLabel,
  helmReleaseLabel,
} from "@flotilla/shared/api/names";
import { keyOf } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { findDeployment } from "./find-deployment.ts";
import type { UserRequest } from "./parse-request.ts";

const request: UserRequest = {
  ...{ workspace: "shop", kind: "HelmOp", name: "web" },
  body: { kind: "history" },
};

const helmOpBundle = { namespace: "shop", name: "web", labels: { [helmOpLabel]: "web" } };

function fleet(
  names: readonly string[],
  uidOf = (name: string) => `uid-${name}`,
  metadata: Bundle["metadata"] = helmOpBundle,
) {
  const bundle = { metadata } as unknown as Bundle;
  const deployments = names.map(
    (name) =>
      ({
        metadata: {
          namespace: `cluster-${name}`,
          name: "web",
          labels: {
            ...{ [bundleNamespaceLabel]: "shop", [bundleNameLabel]: "web" },
            ...{ [clusterNamespaceLabel]: "shop", [clusterLabel]: name },
            [clusterUidLabel]: uidOf(name),
          },
        },
      }) as unknown as BundleDeployment,
  );
  return {
    bundles: { get: (key: string) => (key === keyOf(metadata) ? bundle : undefined) },
    deployments: { byIndex: () => deployments },
    clusters: {
      get: (key: string) =>
        ({ metadata: { name: key, uid: `uid-${key.split("/")[1]}` } }) as unknown as Cluster,
    },
  };
}

describe("the deployment of a request", () => {
  test("is the only one of the HelmOp, or that of the named Cluster", () => {
    assert.equal(findDeployment(fleet(["a"]), request).clusterKey, "shop/a");
    for (const cluster of ["b", "shop/b"])
      assert.equal(findDeployment(fleet(["a", "b"]), { ...request, cluster }).clusterKey, "shop/b");
  });

  test("is that of the Bundle that is made for a HelmRelease", () => {
    const labels = { [helmReleaseLabel]: "web" };
    const made = fleet(["a"], undefined, { namespace: "shop", name: "helmrelease-web", labels });
    const asked = { ...request, kind: "HelmRelease" } as const;

    assert.equal(findDeployment(made, asked).clusterKey, "shop/a");
    assert.throws(
      () => findDeployment(fleet(["a"]), asked),
      /HelmRelease shop\/web has no deployments$/,
    );
    assert.throws(() => findDeployment(made, request), /HelmOp shop\/web has no deployments$/);
  });

  test("has to be chosen if there are several", () => {
    assert.throws(() => findDeployment(fleet(["b", "a"]), request), {
      code: "REQUEST_NEEDS_CLUSTER",
      message:
        "HelmOp shop/web is deployed to 2 Clusters; choose one with --cluster: shop/a, shop/b",
    });
  });

  test("does not exist in other cases", () => {
    const cases: readonly (readonly [ReturnType<typeof fleet>, UserRequest, RegExp])[] = [
      [fleet([]), request, /^HelmOp shop\/web is deployed to no Cluster$/],
      [fleet(["a"]), { ...request, name: "api" }, /^HelmOp shop\/api has no deployments$/],
      [
        fleet(["a"]),
        { ...request, cluster: "c" },
        /^HelmOp shop\/web is not deployed to Cluster shop\/c: shop\/a$/,
      ],
      // An earlier Cluster of that name had it.
      [fleet(["a"], () => "earlier"), request, /is deployed to no Cluster$/],
    ];
    for (const [deps, asked, message] of cases)
      assert.throws(() => findDeployment(deps, asked), {
        code: "REQUEST_TARGET_NOT_FOUND",
        message,
      });
  });
});
