import assert from "node:assert/strict";
import { describe, it } from "vitest";
import * as z from "zod";
import { apiOptions, contentOptions, withText } from "./action-options.ts";

const cases: readonly (readonly [what: string, api: object, content: object])[] = [
  ["a time in seconds", { timeout: "1m30s" }, { timeoutSeconds: 90 }],
  ["a part of a second", { timeout: "500ms" }, { timeoutSeconds: 0.5 }],
  ["no time that is empty or cannot be read", { timeout: "", retryInterval: "soon" }, {}],
  ["no null, at any depth", { force: null, strategy: { retryInterval: null } }, { strategy: {} }],
  [
    "the same inside of an object",
    { strategy: { name: "RetryOnFailure", retryInterval: "5m" } },
    { strategy: { name: "RetryOnFailure", retryIntervalSeconds: 300 } },
  ],
  [
    "lists as they are",
    { filters: [{ name: "a", exclude: true }] },
    { filters: [{ name: "a", exclude: true }] },
  ],
];

describe("a content has", () => {
  for (const [what, api, content] of cases) {
    it(what, () => assert.deepEqual(contentOptions(api), content));
  }
});

describe("an API built from options", () => {
  const options = z.object({
    timeoutSeconds: z.number().optional(),
    force: z.boolean().optional(),
    method: z.enum(["a", "b"]).optional(),
  });
  const built = apiOptions(
    options,
    { duration: (text) => withText(z.string().optional(), text), title: "Options" },
    {
      method: ["The method.", "a"],
      replace: z.boolean().optional(),
      timeout: "The timeout.",
      force: "Whether.",
    },
  );

  it("has its texts in their order, and durations as texts", () => {
    const { title, properties } = z.toJSONSchema(built, { io: "input" });
    assert.equal(title, "Options");
    assert.deepEqual(Object.entries(properties ?? {}), [
      [
        "method",
        { description: "The method.", enum: ["a", "b"], type: "string", "x-default-text": "a" },
      ],
      ["replace", { type: "boolean" }],
      ["timeout", { description: "The timeout.", type: "string" }],
      ["force", { description: "Whether.", type: "boolean", "x-default-text": "false" }],
    ]);
  });

  it("accepts what the options accept", () => {
    assert.equal(built.safeParse({ timeout: "5m", force: true, method: "b" }).success, true);
    assert.equal(built.safeParse({ method: "c" }).success, false);
    assert.equal(built.safeParse({ timeout: 5 }).success, false);
  });
});
