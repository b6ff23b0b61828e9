import assert from "node:assert/strict";
import { maxConditionMessageLength } from "@flotilla/shared/flux";
import { describe, test } from "vitest";
import { type FluxCondition, fluxConditions, withFluxCondition } from "./conditions.ts";

const ready: FluxCondition = { type: "Ready", status: "True", reason: "Succeeded", message: "a" };
const before = "2026-01-01T00:00:00Z";
const now = "2026-01-02T00:00:00Z";
const stored = (condition: FluxCondition) => ({
  ...{ ...condition, observedGeneration: 1, lastTransitionTime: before },
});

describe("conditions", () => {
  const types = ["SourceVerified", "ArtifactInStorage", "Ready", "FetchFailed", "Reconciling"];

  test("stand in Flux's order: Stalled, Reconciling, Ready, then by name", () => {
    const desired = [...types, "Stalled"].map((type) => ({ ...ready, type }));
    assert.deepEqual(
      fluxConditions(undefined, desired, { generation: 1, now }).map(({ type }) => type),
      ["Stalled", "Reconciling", "Ready", "ArtifactInStorage", "FetchFailed", "SourceVerified"],
    );
  });

  test("that are no longer desired are removed", () => {
    const known = types.map((type) => stored({ ...ready, type }));
    const next = fluxConditions(known, [ready], { generation: 1, now });
    assert.deepEqual(
      next.map(({ type }) => type),
      ["Ready"],
    );
  });

  const transitions: readonly (readonly [what: string, Partial<FluxCondition>, string])[] = [
    ["keep their time while nothing changes", {}, before],
    ["have a new time when their status changes", { status: "False" }, now],
    ["keep their time when only their reason changes", { reason: "Failed" }, before],
    ["keep their time when only their message changes", { message: "b" }, before],
  ];
  test.each(transitions)("%s", (_, change, expected) => {
    const [next] = fluxConditions([stored(ready)], [{ ...ready, ...change }], {
      ...{ generation: 2, now },
    });
    assert.equal(next?.lastTransitionTime, expected);
    assert.equal(next.observedGeneration, 2);
  });

  test("have messages that the schema accepts, and keep their time when the message was cut", () => {
    const long = { ...ready, message: "x".repeat(maxConditionMessageLength + 1) };
    const first = fluxConditions(undefined, [long], { generation: 1, now: before });
    assert.equal(first[0]?.message.length, maxConditionMessageLength);
    const [next] = fluxConditions(first, [long], { generation: 1, now });
    assert.equal(next?.lastTransitionTime, before);
  });

  test("are replaced one by one, and the others keep their generation", () => {
    const others = [stored(ready), stored({ ...ready, type: "Stalled" })];
    const accepted = { ...ready, type: "Accepted" };
    const first = withFluxCondition(others, accepted, { generation: 2, now });
    const next = withFluxCondition(first, { ...accepted, status: "False" }, { generation: 3, now });
    assert.deepEqual(
      next.map(({ type, status, observedGeneration }) => [type, status, observedGeneration]),
      [
        ["Stalled", "True", 1],
        ["Ready", "True", 1],
        ["Accepted", "False", 3],
      ],
    );
  });
});
