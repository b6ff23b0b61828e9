import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import { type Skew, versionSkew } from "./skew.ts";

const rows: readonly (readonly [
  agent: string,
  hub: string,
  kind: Skew["kind"],
  message?: RegExp,
])[] = [
  ["1.4.0", "1.4.0", "supported"],
  ["1.4.0", "1.4.9", "supported"],
  ["1.4.9", "1.4.0", "supported"],
  ["1.4.0-rc.1", "1.4.0", "supported"],
  ["1.4.0+build.5", "1.4.0", "supported"],
  ["v1.4.0", "1.4.0", "supported"],
  [
    "1.3.7",
    "1.4.0",
    "warning",
    /^the agent has version 1\.3\.7, the hub 1\.4\.0: the next minor version of the hub does not support this agent; upgrade the agent$/,
  ],
  [
    "1.2.9",
    "1.4.0",
    "unsupported",
    /: more than one minor version older is not supported; upgrade the agent$/,
  ],
  ["1.5.0", "1.4.0", "warning", /: the agent is newer; upgrade the hub first$/],
  [
    "1.6.0",
    "1.4.0",
    "unsupported",
    /: more than one minor version newer is not supported; upgrade the hub$/,
  ],
  ["1.9.0", "2.0.0", "unsupported", /another major version is not supported; upgrade the agent$/],
  ["2.0.0", "1.9.0", "unsupported", /another major version is not supported; upgrade the hub$/],
  ["0.1.0", "0.1.0", "supported"],
  ["0.1.0", "0.2.0", "warning"],
  ["0.1.0", "0.3.0", "unsupported"],
  ["test", "1.4.0", "unknown"],
  ["", "1.4.0", "unknown"],
  ["1.4.0", "development", "unknown"],
];

describe("an agent", () => {
  for (const [agent, hub, kind, message] of rows) {
    test(`of version ${agent || "(none)"} with a hub of version ${hub} is ${kind}`, () => {
      const skew = versionSkew("agent", agent, hub);

      assert.equal(skew.kind, kind);
      if (message !== undefined) assert.match("message" in skew ? skew.message : "", message);
    });
  }

  test("is classified without an error, with any version", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (agent, hub) => {
        const { kind } = versionSkew("agent", agent, hub);

        assert.ok(["supported", "warning", "unsupported", "unknown"].includes(kind));
      }),
    );
  });
});

test("the message names the component", () => {
  const skew = versionSkew("command line", "2.0.0", "1.4.0");

  assert.ok(skew.kind === "unsupported");
  assert.match(skew.message, /^the command line has version 2\.0\.0, the hub 1\.4\.0: /);
});
