import assert from "node:assert/strict";
import { configMaps } from "@flotilla/shared/kube/objects";
import { describe, test } from "vitest";
import { config, startTracker, statusError } from "./testing/index.ts";

describe("the objects of releases of several accounts", () => {
  test("are watched once for each account, namespace and kind, until the last release is gone", async (t) => {
    const { rest, tracker, trackAs, readiness } = startTracker(t);
    const [a, b] = ["a", "b"].map((subject) => ({ subject, rest, isPerNamespace: true }));
    assert.ok(a !== undefined && b !== undefined);
    for (const namespace of ["apps", "shop"])
      rest.put(configMaps, { metadata: { namespace, name: "config" } });

    trackAs("web", [config], { namespace: "apps", client: a });
    trackAs("again", [config], { namespace: "apps", client: a });
    trackAs("shop", [config], { namespace: "shop", client: a });
    trackAs("other", [config], { namespace: "apps", client: b });
    for (const name of ["web", "again", "shop", "other"])
      await readiness(name, ({ ready }) => ready);

    const lists = ["list configmaps apps", "list configmaps shop", "list configmaps apps"];
    assert.deepEqual(rest.reads, lists);
    tracker.forget("web");
    trackAs("web", [config], { namespace: "apps", client: a });
    await readiness("web", ({ ready }) => ready);
    assert.equal(rest.reads.length, 3, "the watch was kept for the other release");
    tracker.forget("web");
    tracker.forget("again");
    trackAs("web", [config], { namespace: "apps", client: a });
    await readiness("web", ({ ready }) => ready);
    assert.equal(rest.reads.length, 4, "the watch had ended with its last release");
  });

  test("that an account may not list are unknown, and the message names the account", async (t) => {
    const { rest, trackAs, readiness } = startTracker(t);
    rest.list = () => Promise.reject(statusError(403, "list configmaps: 403 Forbidden"));
    const client = { subject: "service account team-a/deployer", rest, isPerNamespace: true };

    trackAs("web", [config], { namespace: "apps", client });

    const { notReady } = await readiness("web", () => true);
    assert.equal(
      notReady[0]?.message,
      "service account team-a/deployer may not list this kind: list configmaps: 403 Forbidden",
    );
  });
});
