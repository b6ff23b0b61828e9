import assert from "node:assert/strict";
import { test } from "vitest";
import * as z from "zod";
import { described, fields, flag, freeForm, text, time } from "../field.ts";
import { bundleDeploymentOptionsFields } from "../index.ts";
import { apiReference } from "./api-reference.ts";
import { fieldTable } from "./field-table.ts";

const named = fields({ a: text("An a.") }, "Named");

test("a field is listed with its type, its default and its description", () => {
  const schema = fields({
    flag: flag("A switch."),
    id: described(z.int(), "An id."),
    at: time("A time."),
    values: freeForm("Values."),
    kind: described(z.enum(["x", "y"]).optional(), "A kind."),
  });

  assert.deepEqual(fieldTable(schema).rows, [
    { path: "flag", type: "boolean", absent: "false", description: "A switch." },
    { path: "id", type: "integer", absent: "required", description: "An id." },
    { path: "at", type: "time", absent: "", description: "A time." },
    { path: "values", type: "any object", absent: "", description: "Values." },
    { path: "kind", type: "`x`, `y`", absent: "", description: "A kind." },
  ]);
});

test("an unnamed object is listed in place, a named one is linked", () => {
  const schema = fields({
    inner: described(z.array(fields({ b: text("A b.") })).nullish(), "Inner."),
    other: described(z.record(z.string(), named).optional(), "Other."),
  });

  const { rows, types } = fieldTable(schema);

  assert.deepEqual(
    rows.map(({ path, type }) => [path, type]),
    [
      ["inner", "list of object"],
      ["inner[].b", "text"],
      ["other", "map of [Named](#named)"],
    ],
  );
  assert.deepEqual(types, [{ title: "Named", schema: named }]);
});

test("options that several kinds share are listed once, and own fields with their kind", () => {
  const own = described(z.string().optional(), "A namespace of its own kind.");
  const schema = fields({ ...bundleDeploymentOptionsFields, namespace: own, extra: text("More.") });

  assert.deepEqual(
    fieldTable(schema).rows.map(({ path }) => path),
    ["…", "namespace", "extra"],
  );
});

test("every link of the page leads to a heading", () => {
  const page = apiReference();
  const headings = new Set(
    [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
      heading.toLowerCase().replaceAll(" ", "-"),
    ),
  );

  const dead = [...page.matchAll(/\]\(#([^)]*)\)/g)]
    .map(([, link = ""]) => link)
    .filter((link) => !headings.has(link));

  assert.deepEqual(dead, []);
});
