import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type RotationState, rotationState } from "./rotate-authority.ts";

describe("the hub's authority", () => {
  const lifetime = { "flotilla.dev/certificate-lifetime": "3600s" };
  const since = { "flotilla.dev/rotation-phase-since": "2026-01-01T00:00:00.000Z", ...lifetime };
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, RotationState])[] = [
    ["is steady", { ...lifetime }, { kind: "steady", lifetime: "1h" }],
    ["is steady without annotations", {}, { kind: "steady", lifetime: "24h" }],
    [
      "is steady after a request that was handled",
      { "flotilla.dev/rotation-requested-at": "a", "flotilla.dev/rotation-handled": "a" },
      { kind: "steady", lifetime: "24h" },
    ],
    [
      "is rotating once a rotation is requested",
      { "flotilla.dev/rotation-requested-at": "b", "flotilla.dev/rotation-handled": "a" },
      { kind: "rotating", what: "requested at b, not started yet; check that the hub is running" },
    ],
    [
      "is rotating while agents receive the new authority",
      { "flotilla.dev/rotation-phase": "introducing", ...since },
      {
        kind: "rotating",
        what: "the new authority is trusted since 2026-01-01T00:00:00.000Z and signs after about 1h",
      },
    ],
    [
      "is rotating until the old authority is removed",
      { "flotilla.dev/rotation-phase": "switched", ...since },
      {
        kind: "rotating",
        what: "the new authority signs since 2026-01-01T00:00:00.000Z, the old one is removed after about 1h",
      },
    ],
  ];
  for (const [what, annotations, expected] of cases) {
    test(what, () =>
      assert.deepEqual(rotationState({ metadata: { name: "flotilla-ca", annotations } }), expected),
    );
  }
});
