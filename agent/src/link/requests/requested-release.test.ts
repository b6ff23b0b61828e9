import assert from "node:assert/strict";
import { test } from "vitest";
import type { StoredRelease } from "../../helm/record/stored-release.ts";
import { mayRead, readableObjects } from "./requested-release.ts";

const release: StoredRelease = {
  ...{ namespace: "shop", name: "web", revision: 1, status: "failed", manifest: "", content: "" },
  ...{ tests: [], hooks: [], chartName: "", chartVersion: "", appVersion: "" },
};
const own: { name: string; namespace?: string } = { name: "own" };
const named = { name: "named", namespace: "shop" };
const other = { name: "other", namespace: "kube-system" };

test("of a record that was read after a failed run, requests read the objects in the release's namespace alone", () => {
  const objects = [own, named, other];

  assert.deepEqual(readableObjects({ release, isAsRead: true }, objects), [own, named]);
  assert.deepEqual(readableObjects({ release, isAsRead: false }, objects), objects);
});

test("a record that Helm has not printed names no object outside of all namespaces, whatever namespace it gives", () => {
  assert.equal(mayRead({ isAsRead: true }, { namespaced: false }), false);
  assert.equal(mayRead({ isAsRead: true }, { namespaced: true }), true);
  assert.equal(mayRead({ isAsRead: false }, { namespaced: false }), true);
});
