import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { clockPointers, renderedObjects } from "./generated.ts";

const fromMs = Date.UTC(2026, 10, 28, 19, 30, 0);
const at = { fromMs, toMs: fromMs + 800 };

function object(kind: string, name: string, more: object = {}): KubeObject {
  return { apiVersion: "v1", kind, metadata: { name }, ...more };
}

describe("what a rendering generates", () => {
  test("is what the next one has otherwise, by field", () => {
    const config = (value: string) =>
      object("ConfigMap", "a", { data: { same: "1", random: value } });

    const [found] = renderedObjects([config("x1")], [config("x2")], at);

    assert.deepEqual(found, {
      document: config("x1"),
      generated: ["/data/random"],
      hasGeneratedName: false,
    });
  });

  test("of a Secret is where the API server keeps it", () => {
    const secret = (value: string) => object("Secret", "a", { stringData: { password: value } });

    const [found] = renderedObjects([secret("x1")], [secret("x2")], at);

    assert.deepEqual(found?.generated, ["/data/password"]);
  });

  test("is a name that the next one does not have, with the fields of the object in its place", () => {
    const job = (name: string, value: string) => object("Job", name, { spec: { value, kept: 1 } });

    const found = renderedObjects(
      [object("ConfigMap", "a"), job("once-ab", "1")],
      [object("ConfigMap", "a"), job("once-cd", "2")],
      at,
    );

    assert.deepEqual(
      found.map(({ document, generated, hasGeneratedName }) => [
        document.metadata.name,
        generated,
        hasGeneratedName,
      ]),
      [
        ["a", [], false],
        ["once-ab", ["/spec/value"], true],
      ],
    );
  });

  test("is nothing of an object that is the same, and the last of two with one name counts", () => {
    const objects = [
      object("ConfigMap", "a", { data: { v: "1" } }),
      object("ConfigMap", "a", { data: { v: "2" } }),
    ];

    const found = renderedObjects(objects, objects, at);

    assert.deepEqual(found, [{ document: objects[1], generated: [], hasGeneratedName: false }]);
  });

  const times: readonly (readonly [string, unknown, boolean])[] = [
    ["seconds since 1970", Math.floor(fromMs / 1_000), true],
    ["the same as a text", `${Math.floor(fromMs / 1_000)}`, true],
    ["milliseconds since 1970", fromMs + 300, true],
    ["a time of RFC 3339", "2026-11-28T19:30:00Z", true],
    ["a time with an offset", "2026-11-28T20:30:00+01:00", true],
    ["a time as Go writes it", "2026-11-28 19:30:00.123456789 +0000 UTC m=+0.05", true],
    ["a time without separators", "20261128193000", true],
    ["a time in a sentence", "generated at 2026-11-28T19:30:00Z by helm", true],
    ["an earlier time", "2026-11-28T18:30:00Z", false],
    ["the day", "2026-11-28", false],
    ["a number of another size", 17_000_000_001, false],
    ["a version", "1.2026.11", false],
    ["a digest", "a".repeat(20), false],
  ];
  for (const [name, value, isFound] of times)
    test(`${isFound ? "is" : "is not"} ${name}`, () => {
      const document = object("ConfigMap", "a", { data: { list: [value] } });

      assert.deepEqual(clockPointers(document, at), isFound ? ["/data/list/0"] : []);
    });
});
