import assert from "node:assert/strict";
import { growthOf } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { createPatternBudget } from "../../text/regex/index.ts";
import { parseTextSelector } from "./label-selector-text.ts";
import { type ObjectTarget, objectSelector, selectorCost } from "./object-selector.ts";

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
    [{ labelSelector: "app in (a,web,b),tier   in  (  front , back  ),!zone" }, true],
    [{ labelSelector: "app in (a,web),tier in (a,b)" }, false],
    [{ labelSelector: "toString" }, false],
    [{ annotationSelector: "example.com/team=a" }, true],
    [{ annotationSelector: "example.com/team=b" }, false],
  ];
  for (const [target, isSelected] of cases)
    test(`${isSelected ? "" : "not "}selected by ${JSON.stringify(target)}`, () => {
      const select = objectSelector(target);

      assert.ok(typeof select === "function");
      assert.equal(select(web, createPatternBudget(10)), isSelected);
    });
});

test("an object of the core group has an empty group", () => {
  const select = objectSelector({ group: "apps" });

  assert.ok(typeof select === "function");
  const service = { apiVersion: "v1", kind: "Service", name: "web" };
  assert.equal(select(service, createPatternBudget(10)), false);
});

describe("rejected is", () => {
  const cases: readonly (readonly [target: ObjectTarget, problem: RegExp])[] = [
    [{ name: "(" }, /^name: /],
    [{ kind: "x".repeat(600) }, /^kind: .*512/],
    [{ name: "(a{500}){2}b{1000}" }, /^name: /],
    [{ labelSelector: "a=b=c" }, /^labelSelector: /],
    [{ labelSelector: "a in b" }, /^labelSelector: /],
    [{ annotationSelector: "a b" }, /^annotationSelector: /],
    [{ labelSelector: "a in (b,c" }, /^labelSelector: /],
    [{ labelSelector: "a,b)" }, /^labelSelector: /],
    [{ labelSelector: "a,".repeat(2_049) }, /^labelSelector: .*4096/],
    [{ name: `a{1000}${"b{1}".repeat(20)}` }, /^name: .*too large/],
    [{ name: "\\pL".repeat(170) }, /^name: .*too large/],
  ];
  for (const [target, problem] of cases)
    test(JSON.stringify(target).slice(0, 60), () => {
      const found = objectSelector(target);

      assert.ok(typeof found === "string");
      assert.match(found, problem);
    });
});

describe("a budget for several selectors", () => {
  const target = { name: "(?:a?){500}" };

  test("is used up by what they take to compile", () => {
    const budget = createPatternBudget(30);
    const compiled = Array.from({ length: 10_000 }, () => budget.take(selectorCost(target)));

    assert.equal(compiled.filter(Boolean).length, 9);
  });

  test("ends the matching of all that come after it", () => {
    const select = objectSelector(target);
    assert.ok(typeof select === "function");
    const budget = createPatternBudget(30);
    const object = { ...web, name: "a".repeat(253) };

    const results = Array.from({ length: 10_000 }, () => select(object, budget));

    assert.deepEqual([results[0], results[1], results[2]], [true, true, undefined]);
    assert.equal(select(web, budget), undefined);
  });
});

test("a selector of labels is parsed in linear time", () => {
  const texts = [
    (size: number) => "a,".repeat(size),
    (size: number) => `a in (${" ".repeat(size)}!`,
    (size: number) => "a in (,".repeat(size),
  ];
  for (const text of texts) {
    const growth = growthOf({ small: 2_000, large: 64_000 }, (size) =>
      parseTextSelector(text(size)),
    );
    assert.ok(growth < 1.5, `it grows with the power of ${growth}`);
  }
});
