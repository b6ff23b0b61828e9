import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import {
  clusterNamespaceName,
  fleetClusterNamespaceName,
  helmReleaseName,
  maxReleaseNameLength,
  releaseNamePattern,
  targetName,
} from "./names.ts";

// Results of Fleet's own functions, so that its users' releases and namespaces are found again.
const releaseNames: readonly (readonly [bundle: string, release: string])[] = [
  ["web", "web"],
  ["web-shop", "web-shop"],
  ["team/web", "team-web"],
  ["web--shop", "web-shop"],
  ["-web-", "web"],
  ["bundle.name.example.com", "bundle-name-example-com-645ef821"],
  ["long-name-test-0.App_ ", "long-name-test-0-app-5bf6b3fb"],
  [
    "12345678901234567890123456789012345678901234567890123a",
    "12345678901234567890123456789012345678901234567-fdba4",
  ],
  [
    "1234567890123456789012345678901234567890123456-1234567",
    "1234567890123456789012345678901234567890123456-d0bce",
  ],
];

for (const [bundle, release] of releaseNames) {
  test(`the release of the Bundle ${bundle} is called ${release}`, () => {
    assert.equal(helmReleaseName(bundle), release);
  });
}

test("the release name of a Bundle without usable characters is a digest", () => {
  assert.match(helmReleaseName("--"), /^[0-9a-f]{24}$/);
});

test("the release name of any Bundle is valid for Helm", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 300 }), (name) => {
      const release = helmReleaseName(name);
      assert.match(release, releaseNamePattern);
      assert.ok(release.length <= maxReleaseNameLength);
    }),
  );
});

test("names that differ only in case or in replaced characters have different release names", () => {
  const names = ["web.shop", "web-shop", "Web-shop", "web_shop"];

  assert.equal(new Set(names.map(helmReleaseName)).size, names.length);
});

test("the namespace of Fleet's local cluster has Fleet's name", () => {
  assert.equal(
    clusterNamespaceName("fleet-local", "local"),
    "cluster-fleet-local-local-1a3d67d0a899",
  );
});

test("a cluster with a long name has a namespace with a valid name", () => {
  const one = clusterNamespaceName("fleet-default", `${"c".repeat(60)}-1`);
  const other = clusterNamespaceName("fleet-default", `${"c".repeat(60)}-2`);

  assert.equal(one.length, 63);
  assert.notEqual(one, other);
});

test("2,000 clusters with long names have as many namespaces, where Fleet's names collide", () => {
  const names = Array.from(
    { length: 2_000 },
    (_, index) => `retail-emea-production-store-edge-gateway-${String(index).padStart(5, "0")}`,
  );
  const count = (name: typeof clusterNamespaceName) =>
    new Set(names.map((each) => name("fleet-default", each))).size;

  assert.equal(count(clusterNamespaceName), names.length);
  assert.ok(count(fleetClusterNamespaceName) < names.length);
});

test("clusters whose names are equal in their first 100 characters have different namespaces", () => {
  const start = "a".repeat(120);

  assert.notEqual(
    clusterNamespaceName("ws", `${start}-1`),
    clusterNamespaceName("ws", `${start}-2`),
  );
});

test("clusters of one long name in workspaces whose names begin alike have different namespaces", () => {
  const cluster = "retail-emea-production-store-edge-gateway-98";
  const start = "w".repeat(40);

  assert.notEqual(
    clusterNamespaceName(`${start}-1`, cluster),
    clusterNamespaceName(`${start}-2`, cluster),
  );
});

test("the namespace of any cluster has a valid name", () => {
  const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
  const subdomain = fc.stringMatching(
    /^[a-z0-9]([-a-z0-9]{0,60}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,60}[a-z0-9])?){0,3}$/,
  );
  const namespace = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);

  fc.assert(
    fc.property(namespace, subdomain, (clusterNamespace, clusterName) => {
      const name = clusterNamespaceName(clusterNamespace, clusterName);
      assert.match(name, label);
      assert.ok(name.length <= 63);
    }),
  );
});

test("clusters whose names differ in a dot have different namespaces", () => {
  assert.notEqual(clusterNamespaceName("ws", "a.b"), clusterNamespaceName("ws", "a-b"));
});

test("targets are numbered with three digits", () => {
  assert.deepEqual([0, 12, 1234].map(targetName), ["target000", "target012", "target1234"]);
});
