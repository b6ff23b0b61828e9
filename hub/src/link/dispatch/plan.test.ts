import assert from "node:assert/strict";
import type { ObservedDeployment } from "@flotilla/proto";
import type { BundleDeployment } from "@flotilla/shared/api";
import fc from "fast-check";
import { describe, test } from "vitest";
import { affectsAgent, planDispatch, storedAfter } from "./plan.ts";

interface Fields {
  readonly uid?: string;
  readonly id?: string;
  readonly paused?: boolean;
  readonly suspend?: boolean;
  readonly offSchedule?: boolean;
  readonly deleting?: boolean;
  /** An agent has reported on it. */
  readonly reported?: boolean;
}

function desired(name: string, fields: Fields = {}): BundleDeployment {
  const {
    uid = "u",
    id = "sha256:1",
    paused = false,
    suspend = false,
    offSchedule = false,
  } = fields;
  const { deleting = false, reported = false } = fields;
  return {
    metadata: { name, uid, ...(deleting && { deletionTimestamp: "2026-01-01T00:00:00Z" }) },
    spec: { deploymentID: id, stagedDeploymentID: id, paused, suspend, offSchedule },
    ...(reported && { status: { agent: { epoch: 1, sequence: 1 } } }),
  };
}

function observed(name: string, more: Partial<ObservedDeployment> = {}): ObservedDeployment {
  return { name, uid: "u", deploymentId: "sha256:1", paused: false, withdrawing: false, ...more };
}

const deploy = (withContent: boolean, more: object = {}) => ({
  kind: "deploy",
  deployment: { name: "a", uid: "u" },
  deploymentId: "sha256:1",
  paused: false,
  withContent,
  ...more,
});
const withdraw = { kind: "withdraw", deployment: { name: "a", uid: "u" } };

const at = "2026-12-01T10:00:00.000Z";
const planned = { rollout: "web-7", at, from: "sha256:0", planned: "AAAAAAAAAAAAAAAA" };
const verification = { diff: planned.planned, at };

function promoted(
  promotion: NonNullable<BundleDeployment["spec"]["promotion"]>,
  { id = "sha256:1", applied = "sha256:0" } = {},
): BundleDeployment {
  const deployment = desired("a", { id });
  const status = { appliedDeploymentID: applied };
  return { ...deployment, spec: { ...deployment.spec, promotion }, status };
}

describe("the plan for an agent that connects has", () => {
  const cases: readonly (readonly [
    string,
    readonly ObservedDeployment[],
    readonly BundleDeployment[],
    readonly object[],
    readonly string[],
  ])[] = [
    ["nothing when what is stored is up to date", [observed("a")], [desired("a")], [], []],
    ["a deployment with its content when it is missing", [], [desired("a")], [deploy(true)], []],
    [
      "a deployment with its content when the content differs",
      [observed("a", { deploymentId: "sha256:0" })],
      [desired("a")],
      [deploy(true)],
      [],
    ],
    [
      "a deployment without its content when only paused differs",
      [observed("a")],
      [desired("a", { paused: true })],
      [deploy(false, { paused: true })],
      [],
    ],
    [
      "what was in flight when a window closed as paused, so that nothing is tried again",
      [observed("a")],
      [desired("a", { offSchedule: true })],
      [deploy(false, { paused: true })],
      [],
    ],
    [
      "what was approved, with the content",
      [observed("a", { deploymentId: "sha256:0" })],
      [promoted(planned)],
      [deploy(true, { verification })],
      [],
    ],
    [
      "nothing when the agent has the content with what was approved",
      [observed("a", { verificationAt: at })],
      [promoted(planned)],
      [],
      [],
    ],
    [
      "the content again when something else was approved since",
      [observed("a", { verificationAt: "2026-12-01T09:00:00.000Z" })],
      [promoted(planned)],
      [deploy(true, { verification })],
      [],
    ],
    [
      "the content again when nothing is to be verified any more",
      [observed("a", { verificationAt: at })],
      [promoted({ rollout: "web-7", at, from: "sha256:0" })],
      [deploy(true)],
      [],
    ],
    [
      "nothing to verify once the content was applied",
      [observed("a", { verificationAt: at }), observed("b")],
      [promoted(planned, { applied: "sha256:1" })],
      [],
      ["b"],
    ],
    [
      "a pause of what was refused before anything was installed",
      [observed("a", { verificationAt: at })],
      [promoted({ rollout: "web-7", at, from: "sha256:1", refused: 1 }, { id: "" })],
      [deploy(false, { paused: true })],
      [],
    ],
    [
      "nothing for what is paused for that already, and for a deployment that was never promoted",
      [observed("a", { paused: true }), observed("b")],
      [
        promoted({ rollout: "web-7", at, from: "sha256:1", refused: 1 }, { id: "" }),
        desired("b", { id: "" }),
      ],
      [],
      [],
    ],
    [
      "a deployment that was created again under its name",
      [observed("a", { uid: "old" })],
      [desired("a")],
      [deploy(true)],
      [],
    ],
    [
      "a deployment that is being uninstalled and is desired again",
      [observed("a", { withdrawing: true })],
      [desired("a")],
      [deploy(true)],
      [],
    ],
    ["nothing while a rollout has not released a new one", [], [desired("a", { id: "" })], [], []],
    [
      "nothing while a rollout has not released an existing one",
      [observed("a")],
      [desired("a", { id: "" })],
      [],
      [],
    ],
    [
      "a withdrawal of what is being deleted",
      [observed("a")],
      [desired("a", { deleting: true })],
      [withdraw],
      [],
    ],
    [
      "a paused deployment when it is suspended",
      [observed("a")],
      [desired("a", { suspend: true })],
      [deploy(false, { paused: true })],
      [],
    ],
    [
      "a withdrawal that keeps the release of what is suspended and being deleted",
      [observed("a")],
      [desired("a", { deleting: true, suspend: true })],
      [{ ...withdraw, keepsRelease: true }],
      [],
    ],
    [
      "such a withdrawal without the content for an agent that does not have it",
      [],
      [desired("a", { deleting: true, suspend: true, reported: true })],
      [{ ...withdraw, keepsRelease: true }],
      [],
    ],
    [
      "a withdrawal of what is not stored, to be confirmed",
      [],
      [desired("a", { deleting: true })],
      [withdraw],
      [],
    ],
    [
      "a withdrawal with the content of what an agent has reported on and this one does not have",
      [],
      [desired("a", { deleting: true, reported: true })],
      [{ ...withdraw, lostId: "sha256:1" }],
      [],
    ],
    [
      "a withdrawal with the content of what was reported on while an earlier one of that name is stored",
      [observed("a", { uid: "old" })],
      [desired("a", { deleting: true, reported: true })],
      [{ ...withdraw, lostId: "sha256:1" }],
      [],
    ],
    [
      "a withdrawal without a content of what the agent has",
      [observed("a")],
      [desired("a", { deleting: true, reported: true })],
      [withdraw],
      [],
    ],
    [
      "a withdrawal without a content where none was released",
      [],
      [desired("a", { id: "", deleting: true, reported: true })],
      [withdraw],
      [],
    ],
    [
      "no withdrawal that is in progress",
      [observed("a", { withdrawing: true })],
      [desired("a", { deleting: true })],
      [],
      [],
    ],
    [
      "a withdrawal with its own UID while an earlier one of that name is stored",
      [observed("a", { uid: "old" })],
      [desired("a", { deleting: true })],
      [withdraw],
      [],
    ],
    [
      "nothing about deployments that the hub does not have, which are orphans",
      [observed("z"), observed("a")],
      [],
      [],
      ["a", "z"],
    ],
    [
      "nothing about deployments that the hub does not have and that are being uninstalled",
      [observed("a", { withdrawing: true })],
      [],
      [],
      [],
    ],
  ];
  for (const [what, holdings, deployments, steps, orphans] of cases) {
    test(what, () => assert.deepEqual(planDispatch(holdings, deployments), { steps, orphans }));
  }
});

const someName: fc.Arbitrary<string> = fc.constantFrom("a", "b", "c", "d");
const anyHolding = fc.record({
  name: someName,
  uid: fc.constantFrom("u", "v"),
  deploymentId: fc.constantFrom("", "sha256:1", "sha256:2"),
  paused: fc.boolean(),
  withdrawing: fc.boolean(),
});
const anyDeployment = fc
  .record({
    name: someName,
    uid: fc.constantFrom("u", "v"),
    id: fc.constantFrom("", "sha256:1", "sha256:2"),
    paused: fc.boolean(),
    suspend: fc.boolean(),
    deleting: fc.boolean(),
  })
  .map(({ name, ...rest }) => desired(name, rest));
const storedLists = fc.uniqueArray(anyHolding, { selector: ({ name }) => name });
const deploymentsOf = fc.uniqueArray(anyDeployment, { selector: ({ metadata }) => metadata.name });

describe("a dispatch plan", () => {
  test("withdraws only what is being deleted", () => {
    fc.assert(
      fc.property(storedLists, deploymentsOf, (holdings, deployments) => {
        for (const step of planDispatch(holdings, deployments).steps) {
          if (step.kind !== "withdraw") continue;
          const desired = deployments.find(
            ({ metadata }) => metadata.name === step.deployment.name,
          );
          assert.notEqual(desired?.metadata.deletionTimestamp, undefined);
          assert.equal(desired?.metadata.uid, step.deployment.uid);
        }
      }),
    );
  });

  test("is empty once it was applied", () => {
    fc.assert(
      fc.property(storedLists, deploymentsOf, (holdings, deployments) => {
        const after = new Map<string, ObservedDeployment>(
          holdings.map((holding) => [holding.name, holding]),
        );
        for (const step of planDispatch(holdings, deployments).steps) {
          const { name } = step.deployment;
          after.set(name, storedAfter(step, after.get(name)));
        }

        assert.deepEqual(planDispatch([...after.values()], deployments).steps, []);
      }),
    );
  });

  test("does not change with a status, nor with a deployment that disappears", () => {
    assert.equal(affectsAgent(desired("a"), { ...desired("a"), status: { ready: true } }), false);
    assert.equal(affectsAgent(desired("a"), undefined), false);
    for (const change of [
      { uid: "v" },
      { id: "sha256:2" },
      { paused: true },
      { suspend: true },
      { offSchedule: true },
      { deleting: true },
    ]) {
      assert.equal(affectsAgent(desired("a"), desired("a", change)), true);
    }
    assert.equal(affectsAgent(undefined, desired("a")), true);
  });
});
