/** What a new leader does for a HelmOp, of which it knows only the status. */
import assert from "node:assert/strict";
import { findCondition } from "@flotilla/shared/conditions";
import { AppError } from "@flotilla/shared/errors";
import { chartErrors, type Pin } from "@flotilla/shared/source";
import { test } from "vitest";
import { hubErrors } from "../errors/index.ts";
import { aHelmOp, createTestHelmOps, httpPin, web } from "../testing/index.ts";

const refused = new AppError(chartErrors.INDEX_FETCH, "GET index.yaml: 401");
const away = new AppError(hubErrors.HELM_SECRET_UNUSABLE, "list secrets: 503", { retryable: true });

/** One that is polled, whose repository gives these answers, the last of them for good. */
function polled(...answers: readonly (Pin | AppError)[]) {
  let asked = 0;
  const loop = createTestHelmOps({
    resolve() {
      const answer = answers[Math.min(asked, answers.length - 1)];
      asked += 1;
      return answer === undefined || answer instanceof AppError
        ? Promise.reject(answer ?? new Error("there is no answer"))
        : Promise.resolve({ pin: answer, problems: [] });
    },
  });
  loop.put(aHelmOp({ pollingInterval: "24h" }));
  return {
    loop,
    asked: () => asked,
    said(type: string) {
      const condition = findCondition(loop.helmOp(web).status?.conditions, type);
      return [condition?.status, condition?.message].filter(Boolean).join(" ");
    },
    async pollAgain() {
      const next = await loop.reconcile(web);
      assert.ok(next.kind === "requeue");
      await loop.clock.advance(next.afterMs);
      await loop.reconcile(web);
    },
  };
}

test("new credentials after a failed poll start the next poll at once, also with a new leader", async () => {
  const { loop, asked, said, pollAgain } = polled(httpPin("1.2.3"), refused, httpPin("1.2.4"));
  await pollAgain();
  assert.match(said("Polled"), /^False GET index.yaml: 401/);
  loop.restart();
  await loop.reconcile(web);
  assert.equal(asked(), 2);

  loop.nextAccess("2");
  await loop.reconcile(web);

  assert.equal(asked(), 3);
  assert.equal(said("Polled"), "True");
  assert.equal(loop.helmOp(web).status?.version, "1.2.4");
});

test("a read that fails takes back what was accepted only after seconds of retries", async () => {
  const { loop, said } = polled(httpPin("1.2.3"));
  await loop.reconcile(web);
  loop.restart();
  loop.nextAccess(away, away, away);

  await assert.rejects(loop.reconcile(web), { message: "list secrets: 503" });
  await assert.rejects(loop.reconcile(web, 9), { message: "list secrets: 503" });
  assert.equal(said("Accepted"), "True");

  assert.deepEqual(await loop.reconcile(web, 10), { kind: "done" });
  assert.equal(said("Accepted"), "False list secrets: 503");

  await loop.reconcile(web);
  assert.equal(said("Accepted"), "True");
});

test("a failed poll stays failed after a rejection, which names no time for the next poll", async () => {
  const { loop, said, pollAgain } = polled(httpPin("1.2.3"), refused);
  await pollAgain();
  const failed = said("Polled");
  assert.match(failed, /^False GET index.yaml: 401; retrying at \S+Z$/);
  loop.nextAccess(away);

  await loop.reconcile(web, 10);
  assert.equal(said("Polled"), "False GET index.yaml: 401");
  await loop.reconcile(web);

  assert.equal(said("Polled"), failed);
});
