import assert from "node:assert/strict";
import type { ModifiedStatus } from "@flotilla/shared/api";
import { test } from "vitest";
import { driftText } from "./drift-text.ts";

const web = { kind: "Deployment", namespace: "shop", name: "web" };

const rows: readonly (readonly [what: string, ModifiedStatus[], string])[] = [
  ["nothing", [], ""],
  [
    "a field, and who changed it",
    [{ ...web, fields: ["/spec/replicas"], manager: "kubectl", patch: '[{"op":"replace"}]' }],
    "Deployment shop/web: /spec/replicas changed by kubectl",
  ],
  ["an object whose fields are not known", [web], "Deployment shop/web: changed"],
  ["a missing object", [{ ...web, missing: true }], "Deployment shop/web: is missing"],
  [
    "an object of somebody else",
    [{ ...web, missing: true, exist: true }],
    "Deployment shop/web: belongs to another release",
  ],
  [
    "an object that should not exist",
    [{ kind: "Namespace", name: "a", delete: true }],
    "Namespace a: should not exist",
  ],
  [
    "many objects",
    [web, web, web, web],
    "Deployment shop/web: changed; Deployment shop/web: changed; and 2 more",
  ],
];
test.each(rows)("drift in a sentence: %s", (_, objects, text) => {
  assert.equal(driftText(objects), text);
});
