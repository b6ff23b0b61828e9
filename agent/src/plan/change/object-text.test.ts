import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { fieldChanges } from "./field-changes.ts";
import type { Masking } from "./masking.ts";
import { objectText } from "./object-text.ts";

const masking: Masking = {
  key: new Uint8Array(),
  redact: (text) => text.replaceAll("hunter2", "***"),
};
const object = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "web" };

function form(data: object): KubeObject {
  const { apiVersion, kind, namespace, name } = object;
  return { apiVersion, kind, metadata: { namespace, name }, ...{ data } };
}

function updated(before: object, after: object, generated: readonly string[] = []): string {
  const [live, planned] = [form(before), form(after)];
  const changes = fieldChanges(live, planned, generated);
  return objectText({ object, action: "update", live, planned, changes, generated }, masking);
}

describe("the text of a change", () => {
  test("is a header, and the lines that differ", () => {
    assert.equal(
      updated({ a: "1" }, { a: "2" }),
      [
        "# ConfigMap shop/web: update",
        "--- live v1 ConfigMap shop/web",
        "+++ desired v1 ConfigMap shop/web",
        "@@ -1,6 +1,6 @@",
        " apiVersion: v1",
        " data:",
        '-  a: "1"',
        '+  a: "2"',
        " kind: ConfigMap",
        " metadata:",
        "   name: web",
        "",
      ].join("\n"),
    );
  });

  test("hides both sides of a value of which one has a text of a Secret", () => {
    const text = updated({ url: "old-password@db" }, { url: "hunter2@db" });

    assert.match(text, /^- {2}url: "?\*\*\* \(live\)"?$/m);
    assert.match(text, /^\+ {2}url: "?\*\*\* \(desired\)"?$/m);
    assert.doesNotMatch(text, /old-password|hunter2/);
  });

  test("hides a text of a Secret beside what changes", () =>
    assert.match(
      updated({ a: "1", url: "hunter2@db" }, { a: "2", url: "hunter2@db" }),
      /\*\*\*@db/,
    ));

  test("has a mark in place of what is generated", () => {
    const text = updated({ a: "x1" }, { a: "x2" }, ["/data/a"]);

    assert.match(text, /^\+ {2}a: \(generated\)$/m);
    assert.doesNotMatch(text, /x2/);
  });

  test("has no lines of what is deleted, kept or fails", () => {
    const shown = { object, live: form({ a: "1" }), changes: [], generated: [] };
    for (const [action, why, expected] of [
      ["delete", undefined, "delete"],
      ["keep", undefined, "kept by helm.sh/resource-policy"],
      ["fails", "spec.a: hunter2", "fails: spec.a: ***"],
    ] as const)
      assert.equal(
        objectText({ ...shown, action, why }, masking),
        `# ConfigMap shop/web: ${expected}\n`,
      );
    assert.equal(objectText({ ...shown, action: "none" }, masking), "");
  });
});
