import assert from "node:assert/strict";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { differs, fieldChanges } from "./field-changes.ts";
import type { Masking } from "./masking.ts";
import { digestOf, type ObjectChange, shapeOf } from "./planned-object.ts";

const masking: Masking = {
  key: Buffer.alloc(32, 1),
  redact: (text) => text.replaceAll("hunter2", "***"),
};
const otherKey: Masking = { ...masking, key: Buffer.alloc(32, 2) };

interface Given extends Partial<Omit<ObjectChange, "object" | "changes">> {
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly before?: object;
  readonly after?: object;
}

function changeOf({
  kind = "ConfigMap",
  name = "web-config",
  namespace = "shop",
  before = { data: { a: "1", b: "2" } },
  after = { data: { a: "1", b: "3" } },
  generated = [],
  action = "update",
  hasGeneratedName = false,
  why,
}: Given): ObjectChange {
  const object = { apiVersion: "v1", kind, namespace, name };
  const form = (fields: object): KubeObject => ({
    apiVersion: "v1",
    kind,
    metadata: { name, namespace },
    ...fields,
  });
  const changes = fieldChanges(form(before), form(after), generated);
  return { object, action, changes, generated, hasGeneratedName, why };
}

const plain = changeOf({});
const secret = (password: string): Given => ({
  kind: "Secret",
  before: { data: { password: "b2xk" } },
  after: { data: { password } },
});

describe("the digest of a change", () => {
  const same: readonly (readonly [string, Given, Given])[] = [
    ["the same change", {}, {}],
    [
      "fields that others have beside it",
      {},
      { before: { data: { a: "x", b: "2" } }, after: { data: { a: "x", b: "3" } } },
    ],
    ["status", {}, { after: { data: { a: "1", b: "3" }, status: { ready: true } } }],
    [
      "a generated value",
      { generated: ["/data/b"] },
      { after: { data: { a: "1", b: "9" } }, generated: ["/data/b"] },
    ],
    [
      "a generated value in a map that is new",
      { before: {}, generated: ["/data/b"] },
      { before: {}, after: { data: { a: "1", b: "9" } }, generated: ["/data/b"] },
    ],
    [
      "a generated name",
      { name: "once-ab", hasGeneratedName: true },
      { name: "once-cd", hasGeneratedName: true },
    ],
    ["one password", secret("bmV3"), secret("bmV3")],
  ];
  for (const [name, one, other] of same)
    test(`is the same for ${name}`, () =>
      assert.equal(digestOf(changeOf(one), masking), digestOf(changeOf(other), masking)));

  const others: readonly (readonly [string, Given, Given])[] = [
    ["new value", {}, { after: { data: { a: "1", b: "4" } } }],
    ["old value", {}, { before: { data: { a: "1", b: "0" } } }],
    ["field", {}, { after: { data: { a: "9", b: "2" } } }],
    ["name", {}, { name: "other" }],
    ["namespace", {}, { namespace: "other" }],
    ["kind", {}, { kind: "Other" }],
    ["action", {}, { action: "replace" }],
    ["reason to fail", { action: "fails", why: "a" }, { action: "fails", why: "b" }],
    ["password", secret("bmV3"), secret("bmV4")],
    [
      "password in a text",
      { after: { data: { b: "hunter2-a" } } },
      { after: { data: { b: "hunter2-b" } } },
    ],
  ];
  for (const [name, one, other] of others)
    test(`differs for another ${name}`, () =>
      assert.notEqual(digestOf(changeOf(one), masking), digestOf(changeOf(other), masking)));

  test("has the key of the plan in it where a value is masked, and only there", () => {
    for (const given of [secret("bmV3"), { after: { data: { b: "hunter2" } } }])
      assert.notEqual(digestOf(changeOf(given), masking), digestOf(changeOf(given), otherKey));
    assert.equal(digestOf(plain, masking), digestOf(plain, otherKey));
  });
});

describe("the shape of a change", () => {
  const own = ["paris-1", "web"];
  const same: readonly (readonly [string, Given])[] = [
    ["values", { after: { data: { a: "1", b: "4" } } }],
    ["namespaces", { namespace: "other" }],
  ];
  for (const [name, given] of same)
    test(`is the same for other ${name}`, () =>
      assert.equal(shapeOf(changeOf(given), own), shapeOf(plain, own)));

  test("is the same for objects that are named after their clusters", () => {
    const [paris, rome] = ["paris-1", "rome-2"].map((cluster) =>
      shapeOf(changeOf({ name: `${cluster}-config` }), [cluster]),
    );

    assert.equal(paris, rome);
  });

  for (const [name, given] of [
    ["field", { after: { data: { a: "9", b: "2" } } }],
    ["name", { name: "other" }],
    ["action", { action: "replace" }],
  ] as const satisfies readonly (readonly [string, Given])[])
    test(`differs for another ${name}`, () =>
      assert.notEqual(shapeOf(changeOf(given), own), shapeOf(plain, own)));
});

describe("an object with very many changes", () => {
  const many = (value: string): KubeObject => ({
    metadata: { name: "a", labels: { v: value } },
    ...{ data: Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`k${at}`, value])) },
  });

  test("is compared by its parts", () =>
    assert.deepEqual(
      fieldChanges(many("1"), many("2"), []).map(({ pointer }) => pointer),
      ["/data"],
    ));

  test("differs in what is generated, too", () => {
    assert.equal(differs(many("1"), many("2")), true);
    assert.equal(differs(many("1"), many("1")), false);
  });
});
