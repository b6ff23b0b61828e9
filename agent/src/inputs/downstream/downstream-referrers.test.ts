import assert from "node:assert/strict";
import type { ObjectRef } from "@flotilla/shared/api";
import { describe, test } from "vitest";
import { testRelease } from "../../testing/index.ts";
import { createDownstreamReferrers } from "./downstream-resources.ts";

const login: ObjectRef = { kind: "Secret", name: "login" };

const list = await Promise.all([
  testRelease("one", { copies: [login] }),
  testRelease("paused", { copies: [{ kind: "ConfigMap", name: "a" }, login] }, { paused: true }),
  testRelease("elsewhere", { copies: [login], namespace: "other" }),
  testRelease("another kind", { copies: [{ kind: "ConfigMap", name: "login" }] }),
  testRelease("withdrawn", { copies: [login] }, { withdrawing: true }),
  testRelease("unreadable", { copies: [login] }, { content: new Uint8Array() }),
  testRelease("nothing", {}),
]);
const referrers = createDownstreamReferrers({ list: () => list });

describe("the referrers of a downstream resource", () => {
  const cases: readonly (readonly [string, ObjectRef, string, readonly string[]])[] = [
    [
      "are all deployments that reference it, with paused and without withdrawn ones",
      login,
      "shop",
      ["one", "paused"],
    ],
    [
      "are deployments whose release is in the namespace of the resource",
      login,
      "other",
      ["elsewhere"],
    ],
    [
      "are not deployments that reference another kind with the same name",
      { kind: "Secret", name: "a" },
      "shop",
      [],
    ],
  ];
  for (const [what, ref, namespace, names] of cases) {
    test(what, async () => {
      assert.deepEqual([...(await referrers(ref, namespace))], names);
    });
  }
});
