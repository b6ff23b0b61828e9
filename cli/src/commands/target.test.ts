import assert from "node:assert/strict";
import { allCrds } from "@flotilla/shared/api/crd";
import { rolloutCrds } from "@flotilla/shared/api/rollout/crd";
import { fluxCrds } from "@flotilla/shared/flux/crd";
import { expect, test } from "vitest";
import {
  appTargets,
  clusterKinds,
  gateKinds,
  parseApp,
  parseCluster,
  parseTarget,
  reconciledKinds,
  scheduleKinds,
} from "./target.ts";

const targets = [
  ["web", "HelmOp web"],
  ["helmop web", "HelmOp web"],
  ["helmop/web", "HelmOp web"],
  ["helmops/web", "HelmOp web"],
  ["HelmOp web", "HelmOp web"],
  ["helmop.fleet.cattle.io/web", "HelmOp web"],
  ["helmops.fleet.cattle.io web", "HelmOp web"],
  ["hr/web", "HelmRelease web"],
  ["helmrelease.helm.toolkit.fluxcd.io/web", "HelmRelease web"],
  ["bundle/web.v1", "Bundle web.v1"],
  ["helmrepo shop", "HelmRepository shop"],
  ["helmrepositories.source.toolkit.fluxcd.io/shop", "HelmRepository shop"],
  ["ocirepo/shop", "OCIRepository shop"],
  ["gitrepository shop", "GitRepository shop"],
  ["bucket shop", "Bucket shop"],
  ["hc/shop", "HelmChart shop"],
] as const;

test.for(targets)("%s is %s", ([args, expected]) => {
  const { resource, name } = parseTarget(args.split(" "), reconciledKinds);

  assert.equal(`${resource.kind} ${name}`, expected);
});

test.for([
  "helmop",
  "helmop/",
  "/web",
  "helmop/web/x",
  "helmop web x",
  "pod/web",
  "helmop.apps/web",
  "helmop/../web",
])("%s is not a target", (args) => {
  expect(() => parseTarget(args.split(" "), reconciledKinds)).toThrow(
    /is not KIND NAME or KIND\/NAME with one of these kinds: helmop, helmrelease, .* and 3 more$/,
  );
});

test("a source has no release", () => {
  expect(() => parseTarget(["helmrepo/shop"], appTargets)).toThrow(
    /kinds: helmop, helmrelease, bundle$/,
  );
});

test("an app has its kind and namespace, and no other object is one", () => {
  assert.deepEqual(parseApp(["hr/web"], "shop"), {
    kind: "HelmRelease",
    namespace: "shop",
    name: "web",
  });
  expect(() => parseApp(["gate/web"], "shop")).toThrow(/is not KIND NAME or KIND\/NAME/);
});

test("kinds have the short names of their CRDs", () => {
  const short = new Map(
    [...allCrds(), ...fluxCrds(), ...rolloutCrds()].map(({ spec: { names, group } }) => [
      `${names.plural}.${group}`,
      names.shortNames ?? [],
    ]),
  );
  for (const { resource, shortNames } of [
    ...[...reconciledKinds, ...clusterKinds, ...scheduleKinds, ...gateKinds],
  ])
    assert.deepEqual(short.get(`${resource.plural}.${resource.group}`), shortNames, resource.kind);
});

test.for([
  ["paris", "prod/paris"],
  ["cluster/paris", "prod/paris"],
  ["clusters.fleet.cattle.io/paris", "prod/paris"],
  ["team-a/paris", "team-a/paris"],
] as const)("the Cluster %s is %s", ([word, key]) => {
  assert.equal(parseCluster(word, "prod"), key);
});
