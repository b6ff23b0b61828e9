import assert from "node:assert/strict";
import { test } from "vitest";
import { decisionsOf } from "./decisions.ts";
import { app, fleet } from "./testing/index.ts";

test("apps that wait for a decision are listed, those that have waited longest first", () => {
  const waiting = (name: string, since: string | undefined, decides = true) =>
    app(name, "OutOfSync", {
      rollout: {
        ...{ phase: "Waiting", message: `waits for ${name}`, decides },
        ...(since !== undefined && { since }),
      },
    });
  const apps = [
    waiting("unknown", undefined),
    waiting("new", "2026-01-01T11:00:00Z"),
    waiting("old", "2026-01-01T10:00:00Z"),
    waiting("soaking", "2026-01-01T09:00:00Z", false),
    app("plain", "Ready"),
  ];

  assert.deepEqual(
    decisionsOf(fleet(apps, [])).map((each) => [each.app.name, each.message]),
    [
      ["old", "waits for old"],
      ["new", "waits for new"],
      ["unknown", "waits for unknown"],
    ],
  );
});
