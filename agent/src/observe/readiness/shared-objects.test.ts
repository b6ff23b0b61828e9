import assert from "node:assert/strict";
import { test } from "vitest";
import { createSharedObjects, type TrackedKey } from "./shared-objects.ts";

function object(kind: string, key: string, apiVersion = "v1"): TrackedKey {
  const name = key.split("/").at(-1) ?? "";
  return {
    owned: { apiVersion, kind, name },
    resource: { group: "", plural: `${kind.toLowerCase()}s` },
    key,
  };
}

test("objects of two releases name the other one, in both directions", () => {
  const shared = createSharedObjects();
  const config = object("ConfigMap", "apps/settings");

  assert.deepEqual([...shared.set("first", [config, object("Secret", "apps/settings")])], []);
  assert.deepEqual(shared.of("first"), []);
  assert.deepEqual([...shared.set("second", [config])], ["first"]);

  assert.deepEqual(shared.of("first"), [
    { kind: "ConfigMap", key: "apps/settings", others: ["second"] },
  ]);
  assert.deepEqual(shared.of("second"), [
    { kind: "ConfigMap", key: "apps/settings", others: ["first"] },
  ]);
});

test("an object is the same in another version, and another one in another namespace", () => {
  const shared = createSharedObjects();
  shared.set("first", [object("Job", "apps/a", "batch/v1"), object("Job", "apps/b")]);

  shared.set("second", [object("Job", "apps/a", "batch/v1beta1"), object("Job", "web/b")]);

  assert.deepEqual(
    shared.of("second").map(({ key }) => key),
    ["apps/a"],
  );
});

test("a release that leaves its objects, or that is gone, is named no more", () => {
  const shared = createSharedObjects();
  const [a, b] = [object("ConfigMap", "apps/a"), object("ConfigMap", "apps/b")];
  shared.set("first", [a, b]);
  shared.set("second", [a, b]);

  assert.deepEqual([...shared.set("second", [b])], ["first"]);
  assert.deepEqual(
    shared.of("first").map(({ key }) => key),
    ["apps/b"],
  );
  assert.deepEqual([...shared.set("second", [b])], [], "nothing has changed");
  assert.deepEqual([...shared.set("second", [])], ["first"]);
  assert.deepEqual(shared.of("first"), []);
});
