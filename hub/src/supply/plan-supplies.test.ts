import assert from "node:assert/strict";
import type { ObservedObject } from "@flotilla/proto/messages.ts";
import { formatObjectRef, parseObjectRef } from "@flotilla/shared/api/bundle-deployment.ts";
import fc from "fast-check";
import { describe, test } from "vitest";
import { planSupplies, planSupply, type SupplySource, type SupplyStep } from "./plan-supplies.ts";

const ref = { kind: "Secret", name: "source" } as const;
const unknown: SupplySource = { kind: "unknown" };
const absent: SupplySource = { kind: "absent" };
const present: SupplySource = { kind: "present", digest: "sha256:1" };
const unheard = undefined;
const toldAbsent = {};
const current = { digest: "sha256:1" };
const old = { digest: "sha256:0" };

const nothing: SupplyStep = { kind: "nothing" };
const send: SupplyStep = { kind: "send", ref, digest: "sha256:1" };
const tellAbsent: SupplyStep = { kind: "send", ref };
const withdraw: SupplyStep = { kind: "withdraw", ref };

describe("what an agent is told of one object", () => {
  const cases: readonly (readonly [
    string,
    Pick<ObservedObject, "digest"> | undefined,
    boolean,
    SupplySource,
    SupplyStep,
  ])[] = [
    ["the object that it has not heard of", unheard, true, present, send],
    ["the object that it heard was not there", toldAbsent, true, present, send],
    ["the object that has changed", old, true, present, send],
    ["nothing of one that it holds", current, true, present, nothing],
    ["that there is none, when it has not heard of it", unheard, true, absent, tellAbsent],
    ["that there is none any more", old, true, absent, tellAbsent],
    ["nothing when it knows that there is none", toldAbsent, true, absent, nothing],
    ["nothing while nobody has looked, whatever it holds", old, true, unknown, nothing],
    ["nothing while nobody has looked and it holds nothing", unheard, true, unknown, nothing],
    ["to forget what nothing names", current, false, present, withdraw],
    ["to forget what nothing names and nobody looks at", old, false, unknown, withdraw],
    ["to forget that there was none", toldAbsent, false, absent, withdraw],
    ["nothing of what nothing names and it does not hold", unheard, false, present, nothing],
  ];
  for (const [what, held, isNamed, source, step] of cases)
    test(what, () => assert.deepEqual(planSupply(ref, { held, isNamed, source }), step));
});

describe("what an agent is told when it connects", () => {
  test("differs from what it holds, in a stable order", () => {
    const holdings: readonly ObservedObject[] = [
      { kind: "Secret", name: "z-unnamed", digest: "sha256:1" },
      { kind: "Secret", name: "same", digest: "sha256:1" },
      { kind: "Secret", name: "old", digest: "sha256:0" },
    ];
    const named = new Set(["Secret/same", "Secret/old", "ConfigMap/new", "nonsense"]);

    assert.deepEqual(
      planSupplies(holdings, named, () => present),
      {
        send: [
          { kind: "ConfigMap", name: "new" },
          { kind: "Secret", name: "old" },
        ],
        withdraw: [{ kind: "Secret", name: "z-unnamed" }],
      },
    );
  });

  test("never withdraws what is named, whatever is known of the workspace", () => {
    const key = fc.constantFrom("Secret/a", "Secret/b", "ConfigMap/a");
    const source = fc.constantFrom(unknown, absent, present);
    fc.assert(
      fc.property(fc.uniqueArray(key), fc.uniqueArray(key), source, (heldKeys, names, known) => {
        const holdings = heldKeys.flatMap((held) => parseObjectRef(held) ?? []);
        const named = new Set(names);

        const { withdraw: gone } = planSupplies(holdings, named, () => known);

        assert.deepEqual(
          gone.map(formatObjectRef),
          heldKeys.filter((held) => !named.has(held)).toSorted(),
        );
      }),
    );
  });
});
