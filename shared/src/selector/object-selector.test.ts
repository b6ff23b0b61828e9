import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type ObjectTarget, objectSelector } from "./object-selector.ts";

const web = {
  ...{ apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web-1" },
  ...{ labels: { app: "web", tier: "front" }, annotations: { "example.com/team": "a" } },
};

describe("a Deployment web-1 is", () => {
  const cases: readonly (readonly [target: ObjectTarget, isSelected: boolean])[] = [
    [{}, true],
    [{ name: "", labelSelector: "" }, true],
    [{ group: "apps", version: "v1", kind: "Deployment|StatefulSet" }, true],
    [{ group: "" }, true],
    [{ kind: "Deploy" }, false],
    [{ name: "web-.*", namespace: "shop" }, true],
    [{ name: "web" }, false],
    [{ namespace: "other" }, false],
    [{ labelSelector: "app=web,tier!=db" }, true],
    [{ labelSelector: "app==web, tier in (front, back)" }, true],
    [{ labelSelector: "tier notin (front)" }, false],
    [{ labelSelector: "zone notin (a),zone!=b,!zone" }, true],
    [{ labelSelector: "app" }, true],
    [{ labelSelector: "toString" }, false],
    [{ annotationSelector: "example.com/team=a" }, true],
    [{ annotationSelector: "example.com/team=b" }, false],
  ];
  for (const [target, isSelected] of cases)
    test(`${isSelected ? "" : "not "}selected by ${JSON.stringify(target)}`, () => {
      const select = objectSelector(target);

      assert.ok(typeof select === "function");
      assert.equal(select(web), isSelected);
    });
});

test("an object of the core group has an empty group", () => {
  const select = objectSelector({ group: "apps" });

  assert.ok(typeof select === "function");
  assert.ok(!select({ apiVersion: "v1", kind: "Service", name: "web" }));
});

describe("rejected is", () => {
  const cases: readonly (readonly [target: ObjectTarget, problem: RegExp])[] = [
    [{ name: "(" }, /^name: /],
    [{ kind: "x".repeat(600) }, /^kind: .*512/],
    [{ name: "(a{500}){2}b{1000}" }, /^name: /],
    [{ labelSelector: "a=b=c" }, /^labelSelector: /],
    [{ labelSelector: "a in b" }, /^labelSelector: /],
    [{ annotationSelector: "a b" }, /^annotationSelector: /],
  ];
  for (const [target, problem] of cases)
    test(JSON.stringify(target).slice(0, 60), () => {
      const found = objectSelector(target);

      assert.ok(typeof found === "string");
      assert.match(found, problem);
    });
});
