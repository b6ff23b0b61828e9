import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { hasDoubledList, listRepairs } from "./doubled-lists.ts";

type Entries = readonly Readonly<Record<string, unknown>>[];

function web(container: object, apiVersion = "apps/v1"): KubeObject {
  const spec = {
    template: { spec: { containers: [{ name: "proxy" }, { name: "web", ...container }] } },
  };
  const object: KubeObject & { readonly spec: unknown } = {
    ...{ apiVersion, kind: "Deployment", metadata: { name: "web" }, spec },
  };
  return object;
}

function env(...texts: readonly string[]): { readonly env: Entries } {
  return {
    env: texts.map((text) => {
      const [name = "", value = ""] = text.split("=");
      return { name, value };
    }),
  };
}

const path = "/spec/template/spec/containers/1/env";

describe("a list of variables", () => {
  const cases: readonly (readonly [
    string,
    object,
    object,
    readonly object[],
    Entries | undefined,
  ])[] = [
    ["without doubles is left to Helm", env("A=2"), env("A=1"), [env("A=1")], undefined],
    [
      "with doubles is as in the chart",
      env("A=1", "B=1", "A=2"),
      env("A=1", "B=1", "A=2"),
      [],
      undefined,
    ],
    [
      "whose second value Helm has left out gets it",
      env("A=1", "B=1", "A=2"),
      env("A=1", "B=1"),
      [env("A=1", "B=1")],
      env("A=1", "B=1", "A=2").env,
    ],
    [
      "whose values Helm has mixed up gets them in the order of the chart",
      env("A=3", "B=1", "A=4"),
      env("A=4", "A=2", "B=1"),
      [env("A=1", "B=1", "A=2")],
      env("A=3", "B=1", "A=4").env,
    ],
    [
      "that loses one of two equal variables keeps the other one",
      env("A=2", "B=1"),
      env("B=1"),
      [env("A=1", "B=1", "A=2")],
      env("A=2", "B=1").env,
    ],
    [
      "that lost one of them two revisions ago keeps the other one",
      env("A=2", "B=1"),
      env("B=1"),
      [env("A=2", "B=1"), env("A=1", "B=1", "A=2")],
      env("A=2", "B=1").env,
    ],
    [
      "keeps what others have added, and not what the chart has had",
      env("A=1", "A=2"),
      env("C=1", "B=1", "A=1"),
      [env("A=1", "B=1")],
      env("A=1", "A=2", "C=1").env,
    ],
    ["that is gone comes back", env("A=1", "A=2"), {}, [], env("A=1", "A=2").env],
  ];
  for (const [what, desired, live, before, expected] of cases)
    test(what, () => {
      const found = listRepairs(
        web(desired),
        web(live),
        before.map((each) => web(each)),
      );
      const op = "env" in live ? "replace" : "add";
      assert.deepEqual(found, expected === undefined ? [] : [{ op, path, value: expected }]);
    });
});

test("entries with defaults of the API server are as desired", () => {
  const desired = { ports: [{ containerPort: 53, protocol: "UDP" }, { containerPort: 53 }] };
  const live = {
    ports: [
      { containerPort: 53, protocol: "UDP" },
      { containerPort: 53, protocol: "TCP" },
    ],
  };
  assert.deepEqual(listRepairs(web(desired), web(live), []), []);
});

test("a container is found by its name, wherever others have put it", () => {
  const live: KubeObject & { readonly spec: unknown } = {
    ...web({}),
    spec: { template: { spec: { containers: [{ name: "web" }, { name: "proxy" }] } } },
  };
  const [repair] = listRepairs(web(env("A=1", "A=2")), live, []);
  assert.equal(repair?.path, "/spec/template/spec/containers/0/env");
});

test("only lists of Kubernetes' own kinds are merged", () => {
  assert.equal(hasDoubledList(web(env("A=1", "A=2"))), true);
  assert.equal(hasDoubledList(web(env("A=1", "B=2"))), false);
  assert.equal(hasDoubledList(web(env("A=1", "A=2"), "example.com/v1")), false);
  assert.deepEqual(listRepairs(web(env("A=1", "A=2"), "example.com/v1"), web({}), []), []);
});

test("a list of Kubernetes that is replaced as a whole may have anything twice", () => {
  assert.equal(hasDoubledList(web({ args: ["a", "a"], envFrom: [{ prefix: "a" }] })), false);
});
