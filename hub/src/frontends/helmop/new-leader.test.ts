/** What a newly elected leader does for a HelmOp, of which it has only the status. */
import assert from "node:assert/strict";
import { findCondition } from "@flotilla/shared/conditions";
import { AppError } from "@flotilla/shared/errors";
import { chartErrors, type DownloadPin } from "@flotilla/shared/source";
import { test } from "vitest";
import { hubErrors } from "../../base/errors/hub-errors.ts";
import { aHelmOp, createTestHelmOps, httpPin, web } from "../../testing/index.ts";

const unauthorized = new AppError(chartErrors.INDEX_FETCH, "GET index.yaml: 401");
const unreadable = new AppError(hubErrors.HELM_SECRET_UNUSABLE, "list secrets: 503", {
  retryable: true,
});

/** A HelmOp with polling, whose repository has these responses; the last one repeats. */
function polled(...answers: readonly (DownloadPin | AppError)[]) {
  let requests = 0;
  const helmOps = createTestHelmOps({
    resolve() {
      const answer = answers[Math.min(requests, answers.length - 1)];
      requests += 1;
      return answer === undefined || answer instanceof AppError
        ? Promise.reject(answer ?? new Error("there is no answer"))
        : Promise.resolve({ pin: answer, problems: [] });
    },
  });
  helmOps.put(aHelmOp({ pollingInterval: "24h" }));
  return {
    helmOps,
    requests: () => requests,
    conditionText(type: string) {
      const condition = findCondition(helmOps.helmOp(web).status?.conditions, type);
      return [condition?.status, condition?.message].filter(Boolean).join(" ");
    },
    async pollAgain() {
      const next = await helmOps.reconcile(web);
      assert.ok(next.kind === "requeue");
      await helmOps.clock.advance(next.afterMs);
      await helmOps.reconcile(web);
    },
  };
}

test("new credentials after a failed poll start the next poll at once, also with a new leader", async () => {
  const { helmOps, requests, conditionText, pollAgain } = polled(
    httpPin("1.2.3"),
    unauthorized,
    httpPin("1.2.4"),
  );
  await pollAgain();
  assert.match(
    conditionText("Polled"),
    /^False could not get a chart version: GET index.yaml: 401/,
  );
  helmOps.restart();
  await helmOps.reconcile(web);
  assert.equal(requests(), 2);

  helmOps.nextAccess("2");
  await helmOps.reconcile(web);

  assert.equal(requests(), 3);
  assert.equal(conditionText("Polled"), "True");
  assert.equal(helmOps.helmOp(web).status?.version, "1.2.4");
});

test("a failed read sets Accepted to False only after seconds of retries", async () => {
  const { helmOps, conditionText } = polled(httpPin("1.2.3"));
  await helmOps.reconcile(web);
  helmOps.restart();
  helmOps.nextAccess(unreadable, unreadable, unreadable);

  await assert.rejects(helmOps.reconcile(web), { message: "list secrets: 503" });
  await assert.rejects(helmOps.reconcile(web, 9), { message: "list secrets: 503" });
  assert.equal(conditionText("Accepted"), "True");

  assert.deepEqual(await helmOps.reconcile(web, 10), { kind: "done" });
  assert.equal(conditionText("Accepted"), "False list secrets: 503");

  await helmOps.reconcile(web);
  assert.equal(conditionText("Accepted"), "True");
});

test("a failed poll stays failed after a rejection, which sets no time for the next poll", async () => {
  const { helmOps, conditionText, pollAgain } = polled(httpPin("1.2.3"), unauthorized);
  await pollAgain();
  const failed = conditionText("Polled");
  assert.match(
    failed,
    /^False could not get a chart version: GET index.yaml: 401; retrying at \S+Z$/,
  );
  helmOps.nextAccess(unreadable);

  await helmOps.reconcile(web, 10);
  assert.equal(conditionText("Polled"), "False could not get a chart version: GET index.yaml: 401");
  await helmOps.reconcile(web);

  assert.equal(conditionText("Polled"), failed);
});
