import assert from "node:assert/strict";
import { revokedAtAnnotation } from "@flotilla/shared/api/names";
import { describe, test } from "vitest";
import { aCluster, now } from "../../testing/index.ts";
import { agentOf } from "./agent-of.ts";

describe("the agent of a cluster", () => {
  test("is not connected before it was, and nothing else is said of it", () => {
    assert.deepEqual(agentOf(aCluster("paris"), "0.3.0"), { connected: false });
  });

  test("has what it has reported", () => {
    const agent = {
      epoch: 1,
      connected: true,
      version: "0.3.0",
      replica: "agent-0",
      lastSeen: now,
    };

    assert.deepEqual(agentOf(aCluster("paris", { status: { agent } }), "0.3.0"), {
      connected: true,
      version: "0.3.0",
      since: now,
      replica: "agent-0",
    });
  });

  test("has the skew of its version, as far as there is one to speak of", () => {
    const skewAt = (version: string) =>
      agentOf(aCluster("paris", { status: { agent: { epoch: 1, version } } }), "0.3.0").skew;

    assert.match(skewAt("0.1.0") ?? "", /more than one minor version older is not supported/);
    assert.equal(skewAt("0.3.1"), undefined);
    assert.equal(skewAt("a build"), undefined);
  });

  test("has the time of a revocation", () => {
    const metadata = { annotations: { [revokedAtAnnotation]: now } };

    assert.equal(agentOf(aCluster("paris", { metadata }), "0.3.0").revokedAt, now);
  });
});
