import assert from "node:assert/strict";
import type { ObservedDeployment } from "@flotilla/proto/messages.ts";
import type { BundleDeployment } from "@flotilla/shared/api/bundle-deployment.ts";
import fc from "fast-check";
import { describe, test } from "vitest";
import { afterStep, concernsAgent, planHandout } from "./plan-handout.ts";

interface Wanted {
  readonly uid?: string;
  readonly id?: string;
  readonly paused?: boolean;
  readonly deleting?: boolean;
}

function wanted(
  name: string,
  { uid = "u", id = "sha256:1", paused = false, deleting = false }: Wanted = {},
): BundleDeployment {
  return {
    metadata: { name, uid, ...(deleting && { deletionTimestamp: "2026-01-01T00:00:00Z" }) },
    spec: { deploymentID: id, stagedDeploymentID: id, paused },
  };
}

function held(name: string, more: Partial<ObservedDeployment> = {}): ObservedDeployment {
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

describe("what an agent is told when it connects", () => {
  const cases: readonly (readonly [
    string,
    readonly ObservedDeployment[],
    readonly BundleDeployment[],
    readonly object[],
    readonly string[],
  ])[] = [
    ["nothing when it holds what it should", [held("a")], [wanted("a")], [], []],
    [
      "a deployment with its content when it does not hold it",
      [],
      [wanted("a")],
      [deploy(true)],
      [],
    ],
    [
      "a deployment with its content when it holds another content",
      [held("a", { deploymentId: "sha256:0" })],
      [wanted("a")],
      [deploy(true)],
      [],
    ],
    [
      "a deployment without its content when only paused differs",
      [held("a")],
      [wanted("a", { paused: true })],
      [deploy(false, { paused: true })],
      [],
    ],
    [
      "a deployment that was made anew under its name",
      [held("a", { uid: "old" })],
      [wanted("a")],
      [deploy(true)],
      [],
    ],
    [
      "a deployment that it is uninstalling and that the hub wants after all",
      [held("a", { withdrawing: true })],
      [wanted("a")],
      [deploy(true)],
      [],
    ],
    ["nothing while a rollout holds a new one back", [], [wanted("a", { id: "" })], [], []],
    [
      "nothing while a rollout holds back what it holds",
      [held("a")],
      [wanted("a", { id: "" })],
      [],
      [],
    ],
    [
      "a withdrawal of what is being deleted",
      [held("a")],
      [wanted("a", { deleting: true })],
      [withdraw],
      [],
    ],
    [
      "a withdrawal of what it does not hold, so that it confirms",
      [],
      [wanted("a", { deleting: true })],
      [withdraw],
      [],
    ],
    [
      "no withdrawal that it is at already",
      [held("a", { withdrawing: true })],
      [wanted("a", { deleting: true })],
      [],
      [],
    ],
    [
      "a withdrawal with its own UID while it holds an earlier one of that name",
      [held("a", { uid: "old" })],
      [wanted("a", { deleting: true })],
      [withdraw],
      [],
    ],
    [
      "nothing about what the hub does not know, which are orphans",
      [held("z"), held("a")],
      [],
      [],
      ["a", "z"],
    ],
    [
      "nothing about what the hub does not know and is on its way out",
      [held("a", { withdrawing: true })],
      [],
      [],
      [],
    ],
  ];
  for (const [what, holdings, deployments, steps, orphans] of cases) {
    test(what, () => assert.deepEqual(planHandout(holdings, deployments), { steps, orphans }));
  }
});

const someName: fc.Arbitrary<string> = fc.constantFrom("a", "b", "c", "d");
const someHolding = fc.record({
  name: someName,
  uid: fc.constantFrom("u", "v"),
  deploymentId: fc.constantFrom("", "sha256:1", "sha256:2"),
  paused: fc.boolean(),
  withdrawing: fc.boolean(),
});
const someWanted = fc
  .record({
    name: someName,
    uid: fc.constantFrom("u", "v"),
    id: fc.constantFrom("", "sha256:1", "sha256:2"),
    paused: fc.boolean(),
    deleting: fc.boolean(),
  })
  .map(({ name, ...rest }) => wanted(name, rest));
const holdingsOf = fc.uniqueArray(someHolding, { selector: ({ name }) => name });
const deploymentsOf = fc.uniqueArray(someWanted, { selector: ({ metadata }) => metadata.name });

describe("the plan of a hand-out", () => {
  test("withdraws nothing but what is being deleted", () => {
    fc.assert(
      fc.property(holdingsOf, deploymentsOf, (holdings, deployments) => {
        for (const step of planHandout(holdings, deployments).steps) {
          if (step.kind !== "withdraw") continue;
          const asked = deployments.find(({ metadata }) => metadata.name === step.deployment.name);
          assert.notEqual(asked?.metadata.deletionTimestamp, undefined);
          assert.equal(asked?.metadata.uid, step.deployment.uid);
        }
      }),
    );
  });

  test("leaves nothing to say once it was carried out", () => {
    fc.assert(
      fc.property(holdingsOf, deploymentsOf, (holdings, deployments) => {
        const after = new Map<string, ObservedDeployment>(
          holdings.map((holding) => [holding.name, holding]),
        );
        for (const step of planHandout(holdings, deployments).steps) {
          after.set(step.deployment.name, afterStep(step));
        }

        assert.deepEqual(planHandout([...after.values()], deployments).steps, []);
      }),
    );
  });

  test("is not affected by a change of status, nor by a deployment that vanishes", () => {
    assert.equal(concernsAgent(wanted("a"), { ...wanted("a"), status: { ready: true } }), false);
    assert.equal(concernsAgent(wanted("a"), undefined), false);
    for (const change of [{ uid: "v" }, { id: "sha256:2" }, { paused: true }, { deleting: true }]) {
      assert.equal(concernsAgent(wanted("a"), wanted("a", change)), true);
    }
    assert.equal(concernsAgent(undefined, wanted("a")), true);
  });
});
