import assert from "node:assert/strict";
import type { ObservedObject } from "@flotilla/proto";
import { formatObjectRef, parseObjectRef } from "@flotilla/shared/api";
import { parseUsed } from "@flotilla/shared/referenced";
import fc from "fast-check";
import { describe, test } from "vitest";
import {
  planReferencedObject,
  planReferencedObjects,
  type ReferencedSource,
  type ReferencedStep,
} from "./plan.ts";

const ref = { kind: "Secret", name: "source" } as const;
const unknown: ReferencedSource = { kind: "unknown" };
const absent: ReferencedSource = { kind: "absent" };
const present: ReferencedSource = { kind: "present", digest: "sha256:1" };
const neverSent = undefined;
const sentAbsent = {};
const current = { digest: "sha256:1" };
const old = { digest: "sha256:0" };

const nothing: ReferencedStep = { kind: "nothing" };
const send: ReferencedStep = { kind: "send", ref, digest: "sha256:1" };
const sendAbsent: ReferencedStep = { kind: "send", ref };
const withdraw: ReferencedStep = { kind: "withdraw", ref };

describe("one referenced object", () => {
  const cases: readonly (readonly [
    string,
    Pick<ObservedObject, "digest"> | undefined,
    boolean,
    ReferencedSource,
    ReferencedStep,
  ])[] = [
    ["sends an object that was never sent", neverSent, true, present, send],
    ["sends an object that was sent as absent", sentAbsent, true, present, send],
    ["sends an object that has changed", old, true, present, send],
    ["sends nothing when the agent is up to date", current, true, present, nothing],
    ["sends absence when nothing was sent", neverSent, true, absent, sendAbsent],
    ["sends absence when the object was deleted", old, true, absent, sendAbsent],
    ["sends nothing when absence was sent", sentAbsent, true, absent, nothing],
    [
      "sends nothing before the object is read, whatever the agent has",
      old,
      true,
      unknown,
      nothing,
    ],
    [
      "sends nothing before the object is read when the agent has nothing",
      neverSent,
      true,
      unknown,
      nothing,
    ],
    ["withdraws an object without references", current, false, present, withdraw],
    ["withdraws an object without references that is not read", old, false, unknown, withdraw],
    ["withdraws sent absence without references", sentAbsent, false, absent, withdraw],
    ["sends nothing that has no references and is not stored", neverSent, false, present, nothing],
  ];
  for (const [what, observed, isReferenced, source, step] of cases)
    test(what, () =>
      assert.deepEqual(
        planReferencedObject(ref, {
          observed,
          used: isReferenced ? "whole" : undefined,
          source: () => source,
        }),
        step,
      ),
    );
});

describe("an object that only a deployment without a signature refers to", () => {
  for (const observed of [neverSent, sentAbsent, current, old])
    for (const source of [present, absent, unknown])
      test(`is neither sent nor withdrawn: ${JSON.stringify({ observed, source })}`, () => {
        const view = { observed, used: undefined, isKept: true, source: () => source };
        assert.deepEqual(planReferencedObject(ref, view), nothing);
      });
});

describe("the plan for an agent that connects", () => {
  test("has what differs from what is stored, in a stable order", () => {
    const stored: readonly ObservedObject[] = [
      { kind: "Secret", name: "z-unnamed", digest: "sha256:1" },
      { kind: "Secret", name: "same", digest: "sha256:1" },
      { kind: "Secret", name: "old", digest: "sha256:0" },
      { kind: "Secret", name: "kept", digest: "sha256:0" },
    ];
    const kept = new Set(["Secret/kept", "Secret/never-sent"]);
    const named = ["Secret/same", "Secret/old", "ConfigMap/new", "nonsense"];
    const referenced = parseUsed(named);

    assert.deepEqual(
      planReferencedObjects(stored, { referenced, kept }, () => present),
      {
        send: [
          { kind: "ConfigMap", name: "new" },
          { kind: "Secret", name: "old" },
        ],
        withdraw: [{ kind: "Secret", name: "z-unnamed" }],
      },
    );
  });

  test("never withdraws a referenced object, whatever is cached of the workspace", () => {
    const key = fc.constantFrom("Secret/a", "Secret/b", "ConfigMap/a");
    const source = fc.constantFrom(unknown, absent, present);
    fc.assert(
      fc.property(fc.uniqueArray(key), fc.uniqueArray(key), source, (storedKeys, names, known) => {
        const stored = storedKeys.flatMap((key) => parseObjectRef(key) ?? []);
        const references = { referenced: parseUsed(names), kept: new Set<string>() };
        const { withdraw: withdrawn } = planReferencedObjects(stored, references, () => known);

        assert.deepEqual(
          withdrawn.map(formatObjectRef),
          storedKeys.filter((key) => !names.includes(key)).toSorted(),
        );
      }),
    );
  });
});
