import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { whyNotConnected } from "./why-not-connected.ts";

describe("an agent without its hub says", () => {
  const cases: readonly (readonly [string, Parameters<typeof whyNotConnected>[1], RegExp])[] = [
    [
      "that nobody answers, and nothing about enrolling",
      {
        code: "UNAVAILABLE",
        message:
          "No connection established. Last error: Error: connect ECONNREFUSED. Resolution note: ",
        livedMs: 0,
      },
      /^connect to the hub at hub:1: connect ECONNREFUSED$/,
    ],
    [
      "that a connection was lost",
      { code: "UNAVAILABLE", message: "Connection dropped", livedMs: 5 },
      /^the connection to the hub at hub:1 ended: Connection dropped$/,
    ],
    [
      "that another authority answers, and what to do if that is meant",
      {
        code: "UNAVAILABLE",
        message:
          "No connection established. Last error: Error: self-signed certificate in chain. Resolution note: ",
        livedMs: 0,
      },
      /another hub answers there, or the hub has lost its authority, or rotated it while this agent was away \(self-signed certificate in chain\); to enrol .* flotilla-agent\/flotilla-bootstrap$/,
    ],
    [
      "the hub's words when it is refused, and the way back",
      { code: "PERMISSION_DENIED", message: "Cluster a/b was deleted on the hub", livedMs: 5 },
      /ended: Cluster a\/b was deleted on the hub; to enrol .* flotilla-agent\/flotilla-bootstrap$/,
    ],
    [
      "that it is another hub",
      { code: "WRONG_HUB", message: "the address leads to hub x", livedMs: 0 },
      /^connect to the hub at hub:1: the address leads to hub x; to enrol /,
    ],
  ];
  for (const [what, end, expected] of cases) {
    test(what, () => assert.match(whyNotConnected("hub:1", end), expected));
  }
});
