import assert from "node:assert/strict";
import type { Condition, HelmOp } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import { AppError } from "@flotilla/shared/errors";
import { chartErrors } from "@flotilla/shared/source";
import { describe, test } from "vitest";
import { releaseEvents } from "../../events/notification/status-events.ts";
import { aHelmOp, httpPin, testRepository, web } from "../../testing/index.ts";

const unavailable = new AppError(chartErrors.INDEX_FETCH, "GET index.yaml: connection refused");
const failure = "could not get a chart version: GET index.yaml: connection refused";

/** A HelmOp whose last attempt had `first`, and the next attempt, which takes until `end`. */
async function startSlow(
  helmOp: HelmOp,
  ...results: readonly Parameters<typeof testRepository>[0][]
) {
  const { answers, helmOps } = testRepository(unavailable);
  helmOps.put(helmOp);
  for (const result of results) {
    answers.current = result;
    const next = await helmOps.reconcile(web);
    await helmOps.clock.advance(next.kind === "requeue" ? next.afterMs : 0);
  }
  const before = helmOps.helmOp(web);
  const { promise, resolve } = Promise.withResolvers<void>();
  answers.slow = promise;
  const startedAt = new Date(helmOps.clock.now()).toISOString().replace(/\.\d+/, "");
  const running = helmOps.reconcile(web);
  return {
    ...{ helmOps, before, startedAt, answers },
    async end() {
      resolve();
      await running;
    },
    condition: (type: string) => findCondition(helmOps.helmOp(web).status?.conditions, type),
  };
}

function transitions(helmOp: HelmOp): readonly (readonly [string, Condition["status"], unknown])[] {
  return (helmOp.status?.conditions ?? []).map(({ type, status, lastTransitionTime }) => [
    ...([type, status] as const),
    lastTransitionTime,
  ]);
}

describe("an attempt after a failure", () => {
  test("of a HelmOp without a pin is named by Accepted, Stalled and Ready once it takes long", async () => {
    const { helmOps, before, startedAt, end, condition } = await startSlow(aHelmOp(), unavailable);
    const types = ["Accepted", "Stalled", "Ready"];
    const events = helmOps.events.length;
    await helmOps.clock.advance(4_999);
    helmOps.write(web);
    for (const type of types) assert.match(condition(type)?.message ?? "", /; retrying at /);

    await helmOps.clock.advance(1);
    assert.equal(helmOps.write(web), true);
    const expected = `${failure}; trying again since ${startedAt}`;
    for (const type of types) assert.equal(condition(type)?.message, expected, type);
    const { status = {} } = helmOps.helmOp(web);
    assert.deepEqual(transitions(helmOps.helmOp(web)), transitions(before));
    assert.deepEqual(status.polling, before.status?.polling);
    assert.equal(helmOps.events.length, events);
    assert.deepEqual(releaseEvents(before, before.status, status), []);
    await helmOps.clock.advance(60_000);
    assert.equal(helmOps.write(web), false, "it is said once");

    await end();
    for (const type of types) assert.match(condition(type)?.message ?? "", /; retrying at /);
  });

  test("of a HelmOp that is polled is named by Polled and Stalled", async () => {
    const { helmOps, before, startedAt, end, condition, answers } = await startSlow(
      aHelmOp({ pollingInterval: "1m" }),
      httpPin("1.2.3"),
      unavailable,
    );
    await helmOps.clock.advance(4_999);
    assert.equal(helmOps.write(web), false);
    await helmOps.clock.advance(1);
    assert.equal(helmOps.write(web), true);

    for (const type of ["Polled", "Stalled"])
      assert.equal(condition(type)?.message, `${failure}; trying again since ${startedAt}`);
    assert.equal(condition("Accepted")?.message, "");
    assert.deepEqual(transitions(helmOps.helmOp(web)), transitions(before));

    answers.current = httpPin("1.2.4");
    await end();
    assert.equal(condition("Polled")?.status, "True");
    assert.equal(condition("Stalled")?.status, "False");
  });

  test("does not replace why the HelmOp was rejected meanwhile", async () => {
    const { answers, helmOps } = testRepository(unavailable);
    helmOps.put(aHelmOp());
    await helmOps.reconcile(web);
    const noSecret = new AppError(chartErrors.REPOSITORY_SECRET_INVALID, "there is no Secret");
    helmOps.nextAccess(noSecret, "2");
    await helmOps.reconcile(web, 10);
    const { promise, resolve } = Promise.withResolvers<void>();
    answers.slow = promise;

    const running = helmOps.reconcile(web);
    await helmOps.clock.advance(5_000);
    helmOps.write(web);

    const { conditions } = helmOps.helmOp(web).status ?? {};
    assert.equal(answers.requests, 2);
    assert.equal(findCondition(conditions, "Accepted")?.message, "there is no Secret");
    resolve();
    await running;
  });
});

test("an attempt after a success is not named, however long it takes", async () => {
  const { helmOps, end } = await startSlow(
    aHelmOp({ pollingInterval: "1m" }),
    httpPin("1.2.3"),
    httpPin("1.2.3"),
  );
  await helmOps.clock.advance(30_000);
  assert.equal(helmOps.write(web), false);
  await end();
});
