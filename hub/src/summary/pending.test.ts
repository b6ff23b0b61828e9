import assert from "node:assert/strict";
import { test } from "vitest";
import { unmadeDeployments } from "./pending.ts";

const told = { desiredReady: 4, ready: 1, pending: 3 };

const rows = [
  ["those of its targets that have none yet", { targets: 3 }, 1, told, 2],
  ["none when all have one", { targets: 1 }, 1, told, 0],
  ["none when one is left over", { targets: 0 }, 1, undefined, 0],
  ["as many as were told of while nobody has looked", undefined, 1, told, 3],
  [
    "fewer than were told of when some were made since, and nobody has looked",
    undefined,
    3,
    told,
    1,
  ],
  ["none while nobody has looked or told", undefined, 1, undefined, 0],
] as const;

for (const [name, targeting, made, before, expected] of rows)
  test(`the deployments that a Bundle lacks are ${name}`, () => {
    assert.equal(unmadeDeployments(targeting, made, before), expected);
  });
