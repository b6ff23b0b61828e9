import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { objectDiff } from "./object-diff.ts";

const metadata = { name: "web", namespace: "shop" };
const title = "v1 ConfigMap shop/web";
const config = (data: object, more: object = {}) => ({
  ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { ...metadata, ...more }, data },
});
const secret = (values: object) => ({ apiVersion: "v1", kind: "Secret", metadata, ...values });
const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("the diff of an object", () => {
  test("shows the lines that differ, live ones first", () => {
    assert.equal(
      objectDiff(title, config({ a: "1", b: "2" }), config({ a: "1", b: "3" })),
      [
        `--- live ${title}`,
        `+++ desired ${title}`,
        "@@ -1,7 +1,7 @@",
        " apiVersion: v1",
        " data:",
        '   a: "1"',
        '-  b: "2"',
        '+  b: "3"',
        " kind: ConfigMap",
        " metadata:",
        "   name: web",
        "",
      ].join("\n"),
    );
  });

  test("is empty for fields that only the API server writes", () => {
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}" };
    const live = {
      ...config({ a: "1" }, { uid: "1", resourceVersion: "7", managedFields: [], annotations }),
      status: { ready: true },
    };

    assert.equal(objectDiff(title, live, config({ a: "1" }, { annotations: {} })), "");
  });

  test("has all lines of an object that does not exist", () => {
    const diff = objectDiff(title, undefined, config({ a: "1" }));

    assert.match(diff, /^\+apiVersion: v1$/m);
    assert.doesNotMatch(diff, /^-[^-]/m);
  });
});

describe("the diff of a Secret", () => {
  test("shows which values differ, and none of them", () => {
    const live = secret({ data: { same: base64("s"), changed: base64("old"), gone: base64("g") } });
    const desired = secret({
      data: { same: base64("s"), changed: base64("new") },
      stringData: { added: "plain" },
    });

    const diff = objectDiff("v1 Secret shop/web", live, desired);

    assert.match(diff, /^- {2}changed: "?\*\*\* \(live\)"?$/m);
    assert.match(diff, /^\+ {2}changed: "?\*\*\* \(desired\)"?$/m);
    assert.match(diff, /^- {2}gone: "?\*\*\*"?$/m);
    assert.match(diff, /^\+ {2}added: "?\*\*\*"?$/m);
    for (const value of ["old", "new", "g", "s", "plain"])
      assert.ok(!diff.includes(base64(value)), `the diff has ${value}`);
    assert.ok(!diff.includes("plain"));
  });

  test("is empty if nothing differs, whether a value is written as text or in base64", () => {
    const live = secret({ data: { token: base64("t") } });

    assert.equal(objectDiff("s", live, secret({ stringData: { token: "t" } })), "");
  });
});
