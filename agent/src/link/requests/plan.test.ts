import assert from "node:assert/strict";
import type { PlanOptions } from "@flotilla/proto";
import { type PlanAnswer, parsePlanAnswer } from "@flotilla/shared/plan";
import { describe, test } from "vitest";
import { testRelease } from "../../testing/index.ts";
import { writePlan } from "./plan.ts";

const options: PlanOptions = {
  deploymentId: "sha256:a",
  key: new Uint8Array(32),
  withText: true,
  objects: [],
};
const digest = `sha256:${"a".repeat(64)}`;
const answer: PlanAnswer = {
  result: {
    result: "changes",
    counts: { create: 0, update: 1, replace: 0, delete: 0 },
    digest,
    shape: digest,
    applied: "",
    revision: 1,
    remarks: [],
    hooks: 0,
    failures: 0,
  },
  text: "# ConfigMap shop/a: update\n",
};

const assigned = await testRelease("web");
const several = [assigned, assigned];

/** Asks for a plan of this deployment; returns the answer, and the assignments that were planned. */
async function ask(name: string, more: Partial<PlanOptions> = {}, uid = `uid-${name}`) {
  const planned: (string | undefined)[] = [];
  const parts: string[] = [];
  const deps: Parameters<typeof writePlan>[0] = {
    assigned: {
      of: (each) => (each === "web" ? [assigned] : each === "several" ? several : []),
    },
    plan({ assignment }) {
      planned.push(assignment?.owner.id);
      return Promise.resolve(answer);
    },
  };
  const { signal } = new AbortController();
  const write = (text: string) => Promise.resolve(void parts.push(text));
  await writePlan(deps, { name, uid }, { ...options, ...more }, { write, signal });
  return { planned, read: parsePlanAnswer(Buffer.from(parts.join(""))) };
}

describe("the answer to a plan", () => {
  test("is a line and the text, of the deployment that is assigned", async () =>
    assert.deepEqual(await ask("web"), { planned: ["web"], read: answer }));

  test("has no text that nobody asked for", async () =>
    assert.deepEqual((await ask("web", { withText: false })).read, { ...answer, text: "" }));

  test("is of a deployment that is not assigned yet as well", async () =>
    assert.deepEqual((await ask("new")).planned, [undefined]));

  test("is refused for another deployment of that name, and for one with several releases", async () => {
    await assert.rejects(ask("web", {}, "other"), { code: "REQUEST_FAILED" });
    await assert.rejects(ask("several", {}, "uid-web"), { code: "REQUEST_FAILED" });
  });
});
