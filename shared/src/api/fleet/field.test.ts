import assert from "node:assert/strict";
import { test } from "vitest";
import * as z from "zod";
import { fields, freeForm, type Typed, text } from "./field.ts";

const schema = fields({
  name: text("A name."),
  values: freeForm("Values."),
  parts: z.array(fields({ id: z.int() })).optional(),
});

test("parsing keeps unknown fields", () => {
  const object = {
    name: "a",
    later: { x: [1] },
    parts: [{ id: 1, more: true }],
    values: { deep: { er: null } },
  };

  assert.deepEqual(schema.parse(object), object);
});

test("the type of a schema is deeply readonly and has the named fields only", () => {
  const object: Typed<typeof schema> = { name: null, parts: [{ id: 1 }], values: { any: "thing" } };
  const [part] = object.parts ?? [];

  // @ts-expect-error: a list of an API object is never changed in place
  const push: unknown = object.parts?.push;
  // @ts-expect-error: an unknown field has no type
  const unknownField: unknown = object.later;

  assert.equal(part?.id, 1);
  assert.ok(push !== undefined && unknownField === undefined);
});
