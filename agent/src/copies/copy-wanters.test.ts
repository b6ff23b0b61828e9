import assert from "node:assert/strict";
import type { ObjectRef } from "@flotilla/shared/api/bundle-deployment.ts";
import { describe, test } from "vitest";
import { heldAs } from "../testing/held-as.ts";
import { createCopyWanters } from "./copy-wanters.ts";

const login: ObjectRef = { kind: "Secret", name: "login" };

const list = await Promise.all([
  heldAs("one", { copies: [login] }),
  heldAs("paused", { copies: [{ kind: "ConfigMap", name: "a" }, login] }, { paused: true }),
  heldAs("elsewhere", { copies: [login], namespace: "other" }),
  heldAs("another kind", { copies: [{ kind: "ConfigMap", name: "login" }] }),
  heldAs("leaving", { copies: [login] }, { withdrawing: true }),
  heldAs("unreadable", { copies: [login] }, { content: new Uint8Array() }),
  heldAs("nothing", {}),
]);
const wanters = createCopyWanters({ list: () => list });

describe("a copy is wanted", () => {
  const cases: readonly (readonly [string, ObjectRef, string, readonly string[]])[] = [
    ["by all that name it and stay, whatever holds them up", login, "shop", ["one", "paused"]],
    ["in another namespace by those that are there", login, "other", ["elsewhere"]],
    ["by nobody that does not name it", { kind: "Secret", name: "a" }, "shop", []],
  ];
  for (const [what, ref, namespace, names] of cases) {
    test(what, async () => {
      assert.deepEqual([...(await wanters(ref, namespace))], names);
    });
  }
});
