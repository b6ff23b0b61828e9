import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Dependency } from "@flotilla/shared/content/content.ts";
import { type ClusterDeployment, unmetDependencies } from "./unmet-dependencies.ts";

function neighbour(
  name: string,
  state: ClusterDeployment["state"] = "Ready",
  more: Partial<ClusterDeployment> = {},
): ClusterDeployment {
  return { name, labels: {}, state, waitsFor: [], ...more };
}

const tier = { matchLabels: { tier: "base" } };

const cases: readonly (readonly [
  what: string,
  dependsOn: readonly Dependency[],
  deployments: readonly ClusterDeployment[],
  message: string | undefined,
  names?: readonly string[],
])[] = [
  ["nothing", [], [], undefined],
  ["one that is ready", [{ name: "db" }], [neighbour("db")], undefined],
  [
    "one that is not ready",
    [{ name: "db" }],
    [neighbour("db", "NotReady")],
    "waiting for db, which is NotReady and must be Ready",
    ["db"],
  ],
  [
    "one that is good enough",
    [{ name: "db", acceptedStates: ["Ready", "NotReady"] }],
    [neighbour("db", "NotReady")],
    undefined,
  ],
  [
    "one that is not among the states that are good enough",
    [{ name: "db", acceptedStates: ["Modified", "OutOfSync"] }],
    [neighbour("db")],
    "waiting for db, which is Ready and must be Modified or OutOfSync",
    ["db"],
  ],
  [
    "an empty list of states, which means Ready",
    [{ name: "db", acceptedStates: [] }],
    [neighbour("db")],
    undefined,
  ],
  [
    "one that is not there",
    [{ name: "db" }],
    [neighbour("web")],
    "waiting for db, which this cluster does not have",
    ["db"],
  ],
  [
    "all of those with a label",
    [{ selector: tier }],
    [
      neighbour("b", "WaitApplied", { labels: { tier: "base" } }),
      neighbour("a", "ErrApplied", { labels: { tier: "base" } }),
      neighbour("c", "Ready", { labels: { tier: "base" } }),
      neighbour("d", "NotReady"),
    ],
    "waiting for a, which is ErrApplied and must be Ready, b, which is WaitApplied and must be Ready",
    ["a", "b"],
  ],
  [
    "a label that nobody has",
    [{ selector: tier }],
    [neighbour("a")],
    'waiting for a Bundle that matches {"matchLabels":{"tier":"base"}}, which this cluster does not have',
    [],
  ],
  [
    "a name and labels that are another's",
    [{ name: "a", selector: tier }],
    [neighbour("a"), neighbour("b", "Ready", { labels: { tier: "base" } })],
    'waiting for a, whose labels do not match {"matchLabels":{"tier":"base"}}',
    ["a"],
  ],
  [
    "labels of its own",
    [{ selector: tier }],
    [
      neighbour("web", "WaitApplied", { labels: { tier: "base" } }),
      neighbour("a", "Ready", { labels: { tier: "base" } }),
    ],
    undefined,
  ],
  [
    "several, each said once",
    [{ name: "a" }, { selector: {} }],
    [neighbour("a", "NotReady")],
    "waiting for a, which is NotReady and must be Ready",
    ["a"],
  ],
  [
    "one that waits for it",
    [{ name: "a" }],
    [neighbour("a", "WaitApplied", { waitsFor: ["web"] })],
    "waiting for a, which is WaitApplied and must be Ready; dependency cycle: web waits for a waits for web; remove one of them from a dependsOn",
    ["a"],
  ],
  [
    "one that waits for others that wait for it",
    [{ name: "a" }],
    [
      neighbour("a", "WaitApplied", { waitsFor: ["x", "b"] }),
      neighbour("b", "WaitApplied", { waitsFor: ["a", "web"] }),
    ],
    "waiting for a, which is WaitApplied and must be Ready; dependency cycle: web waits for a waits for b waits for web; remove one of them from a dependsOn",
    ["a"],
  ],
  [
    "some that wait for each other, and not for it",
    [{ name: "a" }],
    [
      neighbour("a", "WaitApplied", { waitsFor: ["b"] }),
      neighbour("b", "WaitApplied", { waitsFor: ["a"] }),
    ],
    "waiting for a, which is WaitApplied and must be Ready",
    ["a"],
  ],
];

suite("a deployment that depends on", () => {
  for (const [what, dependsOn, deployments, message, names = []] of cases) {
    test(`${what} ${message === undefined ? "goes on" : "waits"}`, () => {
      const unmet = unmetDependencies("web", dependsOn, deployments);

      assert.deepEqual(unmet, message === undefined ? undefined : { message, names });
    });
  }

  test("many names some of them and counts the rest", () => {
    const many = Array.from({ length: 13 }, (_, index) => ({ name: `n${index}` }));

    const { message = "", names = [] } = unmetDependencies("web", many, []) ?? {};

    assert.match(message, /n9, which this cluster does not have, and 3 more$/);
    assert.equal(names.length, 13);
  });
});
