import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { clusterLabels } from "./cluster-labels.ts";

describe("the labels of an enrolling cluster", () => {
  const requested = { env: "prod", team: "a", "example.com/zone": "z" };
  const cases: readonly (readonly [
    what: string,
    requested: Readonly<Record<string, string>>,
    token: Parameters<typeof clusterLabels>[1],
    expected: ReturnType<typeof clusterLabels>,
  ])[] = [
    [
      "are the requested ones",
      requested,
      { labels: {}, allowedLabels: undefined },
      { own: requested, fixed: {}, rejected: [] },
    ],
    [
      "exclude reserved ones",
      {
        "example.com/fleet.cattle.io": "x",
        "fleet.cattle.io/name": "x",
        "management.cattle.io/cluster": "x",
        "sub.fleet.cattle.io/a": "x",
        "flotilla.dev/a": "x",
        "notfleet.cattle.io/a": "x",
      },
      undefined,
      {
        own: { "example.com/fleet.cattle.io": "x", "notfleet.cattle.io/a": "x" },
        fixed: {},
        rejected: [
          "fleet.cattle.io/name",
          "flotilla.dev/a",
          "management.cattle.io/cluster",
          "sub.fleet.cattle.io/a",
        ],
      },
    ],
    [
      "are the token's where that has another value",
      requested,
      { labels: { env: "test", team: "a" }, allowedLabels: undefined },
      {
        own: { "example.com/zone": "z" },
        fixed: { env: "test", team: "a" },
        rejected: ["env"],
      },
    ],
    [
      "include reserved ones that the token sets, except the hub's own",
      {},
      {
        labels: { "management.cattle.io/cluster": "x", "flotilla.dev/a": "x" },
        allowedLabels: undefined,
      },
      { own: {}, fixed: { "management.cattle.io/cluster": "x" }, rejected: [] },
    ],
    [
      "are only those whose names the token allows",
      requested,
      { labels: {}, allowedLabels: ["env", "example.com/*"] },
      { own: { env: "prod", "example.com/zone": "z" }, fixed: {}, rejected: ["team"] },
    ],
    [
      "are none when the token allows none",
      requested,
      { labels: { team: "b" }, allowedLabels: [] },
      { own: {}, fixed: { team: "b" }, rejected: ["env", "example.com/zone", "team"] },
    ],
    [
      "exclude reserved ones, even when the token allows them",
      { "fleet.cattle.io/name": "x", env: "prod" },
      { labels: {}, allowedLabels: ["*", "fleet.cattle.io/name"] },
      { own: { env: "prod" }, fixed: {}, rejected: ["fleet.cattle.io/name"] },
    ],
  ];
  for (const [what, labels, token, expected] of cases)
    test(what, () => assert.deepEqual(clusterLabels(labels, token), expected));
});
