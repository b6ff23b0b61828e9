import assert from "node:assert/strict";
import { describe, test } from "vitest";
import type { SharedObject } from "../../observe/readiness/shared-objects.ts";
import { sharedObjectsWarning } from "./shared-objects-warning.ts";

const config = (key: string, ...others: readonly string[]): SharedObject => ({
  kind: "ConfigMap",
  key,
  others,
});
const end =
  ": an upgrade of one overwrites what the other has, and its uninstallation deletes it; leave each object to one chart";

describe("the warning about objects of two releases", () => {
  const rows: readonly (readonly [string, readonly SharedObject[], string | undefined])[] = [
    ["is absent without any", [], undefined],
    ["is absent while the other one is not installed", [config("apps/a", "pending")], undefined],
    [
      "names the object and the other release",
      [config("apps/a", "shop")],
      `ConfigMap apps/a is in the release apps/shop as well${end}`,
    ],
    [
      "names several once",
      [config("apps/a", "shop", "web"), config("apps/b", "shop")],
      `ConfigMap apps/a, ConfigMap apps/b are in the releases apps/shop, apps/web as well${end}`,
    ],
    [
      "counts what it does not name",
      ["a", "b", "c", "d", "e"].map((name) => config(name, "shop")),
      `ConfigMap a, ConfigMap b, ConfigMap c and 2 more are in the release apps/shop as well${end}`,
    ],
  ];
  for (const [name, shared, expected] of rows)
    test(name, () => {
      const releaseOf = (other: string) => (other === "pending" ? undefined : `apps/${other}`);

      assert.equal(sharedObjectsWarning(shared, releaseOf), expected);
    });
});
