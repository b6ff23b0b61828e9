/** A HelmOp that somebody else led until now: what is told and done of it by whoever begins with its status alone. */
import assert from "node:assert/strict";
import { findCondition } from "@flotilla/shared/conditions/condition.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { chartErrors } from "@flotilla/shared/source/errors.ts";
import type { Pin } from "@flotilla/shared/source/pin.ts";
import { test } from "vitest";
import { hubErrors } from "../errors.ts";
import { createHelmOpLoop, web } from "../testing/helm-op-loop.ts";
import { aHelmOp, httpPin } from "../testing/objects.ts";

const refused = new AppError(chartErrors.INDEX_FETCH, "GET index.yaml: 401");
const away = new AppError(hubErrors.HELM_SECRET_UNUSABLE, "list secrets: 503", { retryable: true });

/** One that is polled, whose repository gives these answers, the last of them for good. */
function polled(...answers: readonly (Pin | AppError)[]) {
  let asked = 0;
  const loop = createHelmOpLoop({
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

test("new credentials for a poll that failed have it made at once, whoever leads", async () => {
  const { loop, asked, said, pollAgain } = polled(httpPin("1.2.3"), refused, httpPin("1.2.4"));
  await pollAgain();
  assert.match(said("Polled"), /^False GET index.yaml: 401/);
  loop.restart();
  await loop.reconcile(web);
  assert.equal(asked(), 2);

  loop.nextAccess({ hasChanged: true });
  await loop.reconcile(web);

  assert.equal(asked(), 3);
  assert.equal(said("Polled"), "True");
  assert.equal(loop.helmOp(web).status?.version, "1.2.4");
});

test("what it is accessed with could not be read at the first look: that takes nothing back, at the second it does", async () => {
  const { loop, said } = polled(httpPin("1.2.3"));
  await loop.reconcile(web);
  loop.restart();
  loop.nextAccess(away, away);

  const first = await loop.reconcile(web);

  assert.deepEqual(first, {
    kind: "requeue",
    afterMs: 5_000,
    why: "read what it is accessed with",
  });
  assert.equal(said("Accepted"), "True");

  assert.deepEqual(await loop.reconcile(web), { kind: "done" });
  assert.equal(said("Accepted"), "False list secrets: 503");

  await loop.reconcile(web);
  assert.equal(said("Accepted"), "True");
});

test("a poll that failed has failed also after a refusal in between, which names no time for the next", async () => {
  const { loop, said, pollAgain } = polled(httpPin("1.2.3"), refused);
  await pollAgain();
  assert.match(said("Polled"), /^False GET index.yaml: 401; it is tried again at \S+Z$/);
  loop.nextAccess(away);

  await loop.reconcile(web);
  assert.equal(said("Polled"), "False GET index.yaml: 401");
  await loop.reconcile(web);

  assert.equal(said("Polled"), "False GET index.yaml: 401");
});
