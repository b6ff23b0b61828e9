import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { modifiedText, nonReadyText } from "./object-text.ts";

const web = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };
const node = { apiVersion: "v1", kind: "Node", name: "n" };

describe("an object in one line", () => {
  const cases: readonly (readonly [text: string, expected: string])[] = [
    [
      nonReadyText({ ...web, summary: { state: "in-progress", message: ["0 of 2 ready"] } }),
      "deployment.apps shop/web: 0 of 2 ready",
    ],
    [nonReadyText({ ...node, summary: { state: "unknown", message: [""] } }), "node.v1 n: unknown"],
    [nonReadyText(node), "node.v1 n: is not ready"],
    [modifiedText({ ...web, missing: true }), "deployment.apps shop/web is missing"],
    [
      modifiedText({ ...web, missing: true, exist: true }),
      "deployment.apps shop/web is not owned by us",
    ],
    [modifiedText({ ...web, delete: true }), "deployment.apps shop/web should not be there"],
    [
      modifiedText({ ...web, patch: '{"spec":{}}' }),
      'deployment.apps shop/web was modified {"spec":{}}',
    ],
    [modifiedText(web), "deployment.apps shop/web was modified"],
  ];
  for (const [text, expected] of cases) {
    test(expected, () => {
      assert.equal(text, expected);
    });
  }
});
