import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { addressOf, parseResources, worstNode } from "./resources.ts";

const line = (kind: string, more: Readonly<Record<string, unknown>>) =>
  `${JSON.stringify({ apiVersion: "v1", kind, namespace: "shop", name: kind, state: "ready", ...more })}\n`;

describe("the resource tree", () => {
  const text = [
    line("Deployment", { uid: "1", state: "in-progress" }),
    line("ReplicaSet", { uid: "2", parent: "1", state: "in-progress" }),
    line("Pod", { uid: "3", parent: "2", state: "in-progress", message: "is not scheduled" }),
    line("Service", { uid: "4", parent: "gone" }),
    line("Secret", { state: "missing" }),
  ].join("");

  test("has the parent of each object that is in it", () => {
    const { nodes, more } = parseResources(`${text}{"more":7}\n{"apiVersion":"v1","ki`);
    assert.deepEqual(
      nodes.map(({ id, parent }) => [id, parent]),
      [
        ["1", undefined],
        ["2", "1"],
        ["3", "2"],
        ["4", undefined],
        ["v1/Secret/shop/Secret", undefined],
      ],
    );
    assert.equal(more, 7);
  });

  test("names the object that says most about why it is not ready", () => {
    assert.equal(worstNode(parseResources(text))?.kind, "Secret");
    assert.equal(worstNode(parseResources(text.split("\n").slice(0, 4).join("\n")))?.kind, "Pod");
    assert.equal(worstNode(parseResources(line("Pod", { uid: "1" }))), undefined);
  });
});

describe("an object in the address", () => {
  const name = "web";
  const cases = [
    [{ apiVersion: "v1", kind: "Pod", namespace: "shop", name }, "Pod/shop/web"],
    [{ apiVersion: "apps/v1", kind: "Deployment", namespace: "a", name }, "Deployment.apps/a/web"],
    [{ apiVersion: "v1", kind: "Namespace", namespace: "", name }, "Namespace/web"],
  ] as const;
  test.each(cases)("is named with its group and namespace, where it has them: %o", (node, text) => {
    assert.equal(addressOf(node), text);
  });
});
