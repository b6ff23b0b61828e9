import assert from "node:assert/strict";
import type { Dependency } from "@flotilla/shared/content/content.ts";
import { describe, test } from "vitest";
import { hindranceOf, type Neighbour } from "./hindrance.ts";

function neighbour(
  name: string,
  state: Neighbour["state"] = "Ready",
  more: Partial<Neighbour> = {},
): Neighbour {
  return { name, labels: {}, state, waitsFor: [], ...more };
}

const tier = { matchLabels: { tier: "base" } };

const cases: readonly (readonly [
  what: string,
  dependsOn: readonly Dependency[],
  neighbours: readonly Neighbour[],
  message: string | undefined,
  names?: readonly string[],
])[] = [
  ["nothing", [], [], undefined],
  ["one that is ready", [{ name: "db" }], [neighbour("db")], undefined],
  [
    "one that is not ready",
    [{ name: "db" }],
    [neighbour("db", "NotReady")],
    "it waits for db, which is NotReady and has to be Ready",
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
    "it waits for db, which is Ready and has to be Modified or OutOfSync",
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
    "it waits for db, which this cluster does not have",
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
    "it waits for a, which is ErrApplied and has to be Ready, b, which is WaitApplied and has to be Ready",
    ["a", "b"],
  ],
  [
    "a label that nobody has",
    [{ selector: tier }],
    [neighbour("a")],
    'it waits for a Bundle with the labels of {"matchLabels":{"tier":"base"}}, of which this cluster has none',
    [],
  ],
  [
    "a name and labels that are another's",
    [{ name: "a", selector: tier }],
    [neighbour("a"), neighbour("b", "Ready", { labels: { tier: "base" } })],
    'it waits for a, whose labels are not those of {"matchLabels":{"tier":"base"}}',
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
    "it waits for a, which is NotReady and has to be Ready",
    ["a"],
  ],
  [
    "one that waits for it",
    [{ name: "a" }],
    [neighbour("a", "WaitApplied", { waitsFor: ["web"] })],
    "it waits for a, which is WaitApplied and has to be Ready; these wait for each other, and none of them goes first: web waits for a waits for web; take one of them out of a dependsOn",
    ["a"],
  ],
  [
    "one that waits for others that wait for it",
    [{ name: "a" }],
    [
      neighbour("a", "WaitApplied", { waitsFor: ["x", "b"] }),
      neighbour("b", "WaitApplied", { waitsFor: ["a", "web"] }),
    ],
    "it waits for a, which is WaitApplied and has to be Ready; these wait for each other, and none of them goes first: web waits for a waits for b waits for web; take one of them out of a dependsOn",
    ["a"],
  ],
  [
    "some that wait for each other, and not for it",
    [{ name: "a" }],
    [
      neighbour("a", "WaitApplied", { waitsFor: ["b"] }),
      neighbour("b", "WaitApplied", { waitsFor: ["a"] }),
    ],
    "it waits for a, which is WaitApplied and has to be Ready",
    ["a"],
  ],
];

describe("a deployment that depends on", () => {
  for (const [what, dependsOn, neighbours, message, names = []] of cases) {
    test(`${what} ${message === undefined ? "goes on" : "waits"}`, () => {
      const hindrance = hindranceOf("web", dependsOn, neighbours);

      assert.deepEqual(hindrance, message === undefined ? undefined : { message, names });
    });
  }

  test("many names some of them and counts the rest", () => {
    const many = Array.from({ length: 13 }, (_, index) => ({ name: `n${index}` }));

    const { message = "", names = [] } = hindranceOf("web", many, []) ?? {};

    assert.match(message, /n9, which this cluster does not have, and 3 more$/);
    assert.equal(names.length, 13);
  });
});
