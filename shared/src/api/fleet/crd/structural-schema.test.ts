import assert from "node:assert/strict";
import { test } from "vitest";
import * as z from "zod";
import { countOrShare, described, fields, freeForm, text } from "../field.ts";
import { type StructuralSchema, structuralSchema } from "./structural-schema.ts";

const open = { "x-kubernetes-preserve-unknown-fields": true } as const;

const cases: readonly (readonly [what: string, schema: z.ZodType, structural: StructuralSchema])[] =
  [
    ["a text", z.string(), { type: "string" }],
    [
      "a string or null",
      text("A name.", { maxLength: 5 }),
      { type: "string", description: "A name.", maxLength: 5, nullable: true },
    ],
    ["an integer, without the limits of a double", z.int(), { type: "integer", format: "int64" }],
    [
      "an integer with a limit of its own",
      z.int().min(1),
      { type: "integer", format: "int64", minimum: 1 },
    ],
    ["a choice", z.enum(["a", "b"]), { type: "string", enum: ["a", "b"] }],
    [
      "a count or a percentage",
      countOrShare("Many."),
      { description: "Many.", nullable: true, "x-kubernetes-int-or-string": true },
    ],
    [
      "a list",
      z.array(z.boolean()).max(3),
      { type: "array", maxItems: 3, items: { type: "boolean" } },
    ],
    [
      "a map of strings",
      z.record(z.string(), z.string()),
      { type: "object", additionalProperties: { type: "string" } },
    ],
    [
      "a free form",
      freeForm("Any."),
      { type: "object", description: "Any.", nullable: true, ...open },
    ],
    [
      "an object, which keeps unknown fields",
      fields({ a: z.string(), b: z.string().optional() }),
      {
        type: "object",
        properties: { a: { type: "string" }, b: { type: "string" } },
        required: ["a"],
        ...open,
      },
    ],
    [
      "an object whose parser rejects unknown fields, which are kept for a newer version",
      z.strictObject({ a: z.string() }),
      {
        type: "object",
        properties: { a: { type: "string" } },
        required: ["a"],
        "x-kubernetes-preserve-unknown-fields": true,
      },
    ],
    [
      "a union of objects, as one object with the fields of all",
      z.discriminatedUnion("kind", [
        z.strictObject({ kind: z.literal("x"), both: z.string(), one: z.string() }),
        z.strictObject({ kind: z.literal("y"), both: z.string() }),
      ]),
      {
        type: "object",
        properties: {
          kind: { type: "string", enum: ["x", "y"] },
          both: { type: "string" },
          one: { type: "string" },
        },
        required: ["kind", "both"],
        ...open,
      },
    ],
    [
      "a list-map",
      described(z.array(fields({ type: z.string() })), "Conditions.", {
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
      }),
      {
        type: "array",
        description: "Conditions.",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        items: {
          type: "object",
          properties: { type: { type: "string" } },
          required: ["type"],
          ...open,
        },
      },
    ],
  ];

for (const [what, schema, structural] of cases) {
  test(`the CRD schema of ${what}`, () => {
    assert.deepEqual(structuralSchema(schema), structural);
  });
}

test("metadata of the reference page is not in a CRD's schema", () => {
  const schema = fields({ a: text("A name.", { absent: "none" }) }, "Named");

  assert.doesNotMatch(JSON.stringify(structuralSchema(schema)), /Named|none/);
});
