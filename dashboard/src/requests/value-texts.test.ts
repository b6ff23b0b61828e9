import assert from "node:assert/strict";
import { describe, test } from "vitest";
import {
  isShown,
  originText,
  type ReleaseValue,
  type ValueOrigin,
  valueText,
} from "./value-texts.ts";

const secret: ValueOrigin = { kind: "Secret", name: "db", key: "values.yaml" };

describe("a value of a release", () => {
  const values: readonly ReleaseValue[] = [
    { path: "image.tag", value: "1", origin: { kind: "chart" } },
    { path: "replicas", value: 3, origin: { kind: "target", name: "target europe" } },
    { path: "db.password", origin: secret },
  ];
  const rows: readonly (readonly [string, string, boolean, readonly string[]])[] = [
    ["of the chart is hidden at first", "", false, ["replicas", "db.password"]],
    ["of the chart is shown on request", "", true, ["image.tag", "replicas", "db.password"]],
    ["is found by its path, also that of the chart", "TAG", false, ["image.tag"]],
    ["is found by what it is", "3", false, ["replicas"]],
    ["is found by where it comes from", "europe", false, ["replicas"]],
  ];
  for (const [name, text, isWithChart, expected] of rows)
    test(name, () => {
      assert.deepEqual(
        values.filter((value) => isShown(value, { text, isWithChart })).map(({ path }) => path),
        expected,
      );
    });

  test("of a Secret is masked, and the Secret is named", () => {
    assert.equal(valueText({ path: "a", origin: secret }), "masked");
    assert.equal(originText(secret), "Secret db on the hub, key values.yaml");
    assert.equal(originText({ ...secret, namespace: "shop" }), "Secret shop/db, key values.yaml");
  });
});
