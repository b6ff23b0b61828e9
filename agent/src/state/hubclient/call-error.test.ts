import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { describeSessionEnd } from "./call-error.ts";

describe("the error of an agent that is not connected", () => {
  const cases: readonly (readonly [string, Parameters<typeof describeSessionEnd>[1], RegExp])[] = [
    [
      "reports that the hub does not answer, without a hint to enrol",
      {
        code: "UNAVAILABLE",
        message:
          "No connection established. Last error: Error: connect ECONNREFUSED. Resolution note: ",
        connectedMs: 0,
      },
      /^connect to the hub at hub:1: connect ECONNREFUSED$/,
    ],
    [
      "reports that the connection ended",
      { code: "UNAVAILABLE", message: "Connection dropped", connectedMs: 5 },
      /^the connection to the hub at hub:1 ended: Connection dropped$/,
    ],
    [
      "reports that the hub has another authority, with a hint to enrol",
      {
        code: "UNAVAILABLE",
        message:
          "No connection established. Last error: Error: self-signed certificate in chain. Resolution note: ",
        connectedMs: 0,
      },
      /another hub answers there, or the hub has lost its authority, or rotated it while this agent was offline \(self-signed certificate in chain\); to enrol .* flotilla-agent\/flotilla-bootstrap$/,
    ],
    [
      "has the hub's message when it rejects the agent, with a hint to enrol",
      { code: "PERMISSION_DENIED", message: "Cluster a/b was deleted on the hub", connectedMs: 5 },
      /ended: Cluster a\/b was deleted on the hub; to enrol .* flotilla-agent\/flotilla-bootstrap$/,
    ],
    [
      "reports that the address leads to another hub",
      { code: "WRONG_HUB", message: "the address leads to hub x", connectedMs: 0 },
      /^connect to the hub at hub:1: the address leads to hub x; to enrol /,
    ],
  ];
  for (const [what, end, expected] of cases) {
    test(what, () => assert.match(describeSessionEnd("hub:1", end), expected));
  }
});
