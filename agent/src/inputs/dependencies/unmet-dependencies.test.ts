import assert from "node:assert/strict";
import type { Dependency } from "@flotilla/shared/content";
import { AppError } from "@flotilla/shared/errors";
import { describe, test } from "vitest";
import { type ClusterDeployment, unmetDependencies } from "./unmet-dependencies.ts";

function deployment(
  name: string,
  state: ClusterDeployment["state"] = "Ready",
  more: Partial<ClusterDeployment> = {},
): ClusterDeployment {
  return { name, labels: {}, state, waitsFor: [], deploymentId: "id", ...more };
}

const tier = { matchLabels: { tier: "base" } };

const hundred = JSON.stringify(Array.from({ length: 100 }, (_, index) => index));
const long = (text: string) => `'${text.repeat(4_000)}' != ''`;
const hostile = `cel.bind(l, ${hundred}, l.all(a, l.all(b, l.all(c, a + b + c >= 0))))`;

const cases: readonly (readonly [
  what: string,
  dependsOn: readonly Dependency[],
  deployments: readonly ClusterDeployment[],
  message: string | undefined,
  names?: readonly string[],
])[] = [
  ["nothing", [], [], undefined],
  ["one that is ready", [{ name: "db" }], [deployment("db")], undefined],
  [
    "one that is not ready",
    [{ name: "db" }],
    [deployment("db", "NotReady")],
    "waiting for db, which is NotReady and must be Ready",
    ["db"],
  ],
  [
    "one in an accepted state",
    [{ name: "db", acceptedStates: ["Ready", "NotReady"] }],
    [deployment("db", "NotReady")],
    undefined,
  ],
  [
    "one that is in no accepted state",
    [{ name: "db", acceptedStates: ["Modified", "OutOfSync"] }],
    [deployment("db")],
    "waiting for db, which is Ready and must be Modified or OutOfSync",
    ["db"],
  ],
  [
    "an empty list of states, which means Ready",
    [{ name: "db", acceptedStates: [] }],
    [deployment("db")],
    undefined,
  ],
  [
    "one that does not exist",
    [{ name: "db" }],
    [deployment("web")],
    "waiting for db, which this cluster does not have",
    ["db"],
  ],
  [
    "all with a label",
    [{ selector: tier }],
    [
      deployment("b", "WaitApplied", { labels: { tier: "base" } }),
      deployment("a", "ErrApplied", { labels: { tier: "base" } }),
      deployment("c", "Ready", { labels: { tier: "base" } }),
      deployment("d", "NotReady"),
    ],
    "waiting for a, which is ErrApplied and must be Ready, b, which is WaitApplied and must be Ready",
    ["a", "b"],
  ],
  [
    "a label without matches",
    [{ selector: tier }],
    [deployment("a")],
    'waiting for a Bundle that matches {"matchLabels":{"tier":"base"}}, which this cluster does not have',
    [],
  ],
  [
    "a name with labels of another one",
    [{ name: "a", selector: tier }],
    [deployment("a"), deployment("b", "Ready", { labels: { tier: "base" } })],
    'waiting for a, whose labels do not match {"matchLabels":{"tier":"base"}}',
    ["a"],
  ],
  [
    "a label that it has itself",
    [{ selector: tier }],
    [
      deployment("web", "WaitApplied", { labels: { tier: "base" } }),
      deployment("a", "Ready", { labels: { tier: "base" } }),
    ],
    undefined,
  ],
  [
    "several, each reported once",
    [{ name: "a" }, { selector: {} }],
    [deployment("a", "NotReady")],
    "waiting for a, which is NotReady and must be Ready",
    ["a"],
  ],
  [
    "itself",
    [{ name: "web" }],
    [deployment("web")],
    "waiting for itself; dependency cycle: web → web; remove one of them from a dependsOn",
    ["web"],
  ],
  [
    "one that is ready, by an expression that is true",
    [{ name: "db", readyExpr: "dep.status.ready == false && dep.metadata.name == 'db'" }],
    [deployment("db")],
    undefined,
  ],
  [
    "one in an accepted state, by an expression that is not true",
    [{ name: "db", acceptedStates: ["Ready"], readyExpr: "dep.status.state != 'Ready'" }],
    [deployment("db")],
    "waiting for db: its readyExpr is not true",
    ["db"],
  ],
  [
    "all with a label, by an expression over both",
    [
      {
        selector: tier,
        readyExpr: "dep.metadata.labels['version'] == self.metadata.labels['version']",
      },
    ],
    [
      deployment("web", "WaitApplied", { labels: { version: "2" } }),
      deployment("c", "Ready", { labels: { tier: "base" } }),
      deployment("b", "Ready", { labels: { tier: "base", version: "1" } }),
      deployment("a", "ErrApplied", { labels: { tier: "base", version: "2" } }),
    ],
    "waiting for b: its readyExpr is not true, c: its readyExpr cannot be evaluated: there is no such key",
    ["b", "c"],
  ],
  [
    "one whose expression takes too long",
    [{ name: "db", readyExpr: hostile }],
    [deployment("db")],
    "waiting for db: its readyExpr cannot be evaluated: it needs more than 100000 steps",
    ["db"],
  ],
  [
    "several whose expressions take too long together",
    [{ selector: tier, readyExpr: hostile }],
    ["a", "b", "c"].map((name) => deployment(name, "Ready", { labels: { tier: "base" } })),
    "waiting for a: its readyExpr cannot be evaluated: it needs more than 100000 steps, b: its readyExpr cannot be evaluated: it needs more than 100000 steps, c: its readyExpr is not evaluated: all together need more than 200000 steps",
    ["a", "b", "c"],
  ],
  [
    "several whose expressions take too long to compile together, equal ones once",
    [...["a", "a", "a", "b", "c", "d", "e"].map((name) => ({ name, readyExpr: long(name) }))],
    ["a", "b", "c", "d", "e"].map((name) => deployment(name)),
    "waiting for e: its readyExpr is not evaluated: all together have more than 16384 characters",
    ["e"],
  ],
  [
    "one that waits for it",
    [{ name: "a" }],
    [deployment("a", "WaitApplied", { waitsFor: ["web"] })],
    "waiting for a, which is WaitApplied and must be Ready; dependency cycle: web → a → web; remove one of them from a dependsOn",
    ["a"],
  ],
  [
    "one that waits for others that wait for it",
    [{ name: "a" }],
    [
      deployment("a", "WaitApplied", { waitsFor: ["x", "b"] }),
      deployment("b", "WaitApplied", { waitsFor: ["a", "web"] }),
    ],
    "waiting for a, which is WaitApplied and must be Ready; dependency cycle: web → a → b → web; remove one of them from a dependsOn",
    ["a"],
  ],
  [
    "a cycle that it is not part of",
    [{ name: "a" }],
    [
      deployment("a", "WaitApplied", { waitsFor: ["b"] }),
      deployment("b", "WaitApplied", { waitsFor: ["a"] }),
    ],
    "waiting for a, which is WaitApplied and must be Ready",
    ["a"],
  ],
];

describe("a deployment that depends on", () => {
  for (const [what, dependsOn, deployments, message, names = []] of cases) {
    test(`${what} ${message === undefined ? "is deployed" : "waits"}`, () => {
      const unmet = unmetDependencies("web", dependsOn, deployments);

      assert.deepEqual(unmet, message === undefined ? undefined : { message, names });
    });
  }

  test("many names lists the first five and counts the rest", () => {
    const many = Array.from({ length: 13 }, (_, index) => ({ name: `n${index}` }));

    const { message = "", names = [] } = unmetDependencies("web", many, []) ?? {};

    assert.match(message, /n4, which this cluster does not have and 8 more$/);
    assert.equal(names.length, 13);
  });

  test("an expression that cannot be compiled fails", () => {
    assert.throws(
      () => unmetDependencies("web", [{ name: "a", readyExpr: "dep.x ==" }], []),
      (thrown) =>
        AppError.from(thrown).code === "INVALID_CEL_EXPRESSION" &&
        /line 1, column 9/.test(AppError.from(thrown).message),
    );
  });
});
