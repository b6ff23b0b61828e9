import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type RotationState, rotationState } from "./rotation-state.ts";

describe("the hub's authority", () => {
  const lifetime = { "flotilla.dev/certificate-lifetime": "3600s" };
  const since = { "flotilla.dev/rotation-phase-since": "2026-01-01T00:00:00.000Z", ...lifetime };
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, RotationState])[] = [
    ["is steady", { ...lifetime }, { kind: "steady", lifetime: "1h" }],
    ["is steady where nothing is noted", {}, { kind: "steady", lifetime: "24h" }],
    [
      "is steady after a request that was answered",
      { "flotilla.dev/rotation-requested-at": "a", "flotilla.dev/rotation-handled": "a" },
      { kind: "steady", lifetime: "24h" },
    ],
    [
      "has a request that nobody has answered",
      { "flotilla.dev/rotation-requested-at": "b", "flotilla.dev/rotation-handled": "a" },
      { kind: "rotating", what: "it was asked at b and has not begun; see to the hub" },
    ],
    [
      "introduces the next one",
      { "flotilla.dev/rotation-phase": "introducing", ...since },
      {
        kind: "rotating",
        what: "a new one is trusted since 2026-01-01T00:00:00.000Z and signs after about 1h",
      },
    ],
    [
      "has switched",
      { "flotilla.dev/rotation-phase": "switched", ...since },
      {
        kind: "rotating",
        what: "a new one signs since 2026-01-01T00:00:00.000Z, and the old one goes after about 1h",
      },
    ],
  ];
  for (const [what, annotations, expected] of cases) {
    test(what, () =>
      assert.deepEqual(rotationState({ metadata: { name: "flotilla-ca", annotations } }), expected),
    );
  }
});
