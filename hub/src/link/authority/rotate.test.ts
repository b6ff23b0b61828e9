import assert from "node:assert/strict";
import { authoritySecretName, rotationRequestAnnotation } from "@flotilla/shared/api/names";
import { isConflict } from "@flotilla/shared/kube/client";
import type { EventNote } from "@flotilla/shared/kube/events";
import { keyOf, type Secret, secrets } from "@flotilla/shared/kube/objects";
import { aContext, createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, test } from "vitest";
import { readRecord } from "./record.ts";
import { rotationReconciler } from "./rotate.ts";
import { ensureAuthority } from "./secret.ts";

const lifetimeMs = 3_600_000;
const phaseMs = 3_960_000;
const ref = { namespace: "flotilla-system", name: authoritySecretName };

async function leader() {
  const rest = createMemoryApiServer();
  const clock = createFakeClock();
  const events: EventNote[] = [];
  const secret = await ensureAuthority(rest, ref.namespace, clock.now(), lifetimeMs);
  const recorder = {
    record: (_: unknown, note: EventNote) => void events.push(note),
    flush: () => Promise.resolve(),
  };
  const reconcile = rotationReconciler({
    rest,
    authority: { secret },
    lifetimeMs,
    events: recorder,
    clock,
  });
  const now = (): Secret => {
    const found = rest.peek(secrets, ref);
    assert.ok(found);
    return found;
  };
  return {
    rest,
    clock,
    events,
    now,
    run: () => reconcile(keyOf(ref), aContext()),
    ask() {
      const { metadata } = now();
      const annotations = { ...metadata.annotations, [rotationRequestAnnotation]: "please" };
      rest.put(secrets, { ...now(), metadata: { ...metadata, annotations } });
    },
  };
}

describe("the rotation of the hub's authority", () => {
  test("takes one step at a time, and requeues for the next", async () => {
    const { run, ask, events, now, clock } = await leader();
    ask();

    const outcomes = [await run(), await run()];
    await clock.advance(phaseMs);
    outcomes.push(await run());
    await clock.advance(phaseMs);
    await run();

    assert.deepEqual(
      outcomes.map((outcome) => outcome.kind === "requeue" && outcome.afterMs),
      [phaseMs, phaseMs, phaseMs],
    );
    assert.deepEqual(
      events.map(({ reason }) => reason),
      ["AuthorityIntroduced", "AuthoritySwitched", "AuthorityRetired"],
    );
    assert.deepEqual(readRecord(now()).phase, { kind: "steady" });
  });

  test("has a conflict after a write of another leader", async () => {
    const { rest, run, ask, events, now } = await leader();
    ask();
    const release = rest.hold();

    const both = Promise.allSettled([run(), run()]);
    while (rest.writes.filter((write) => write.startsWith("replace")).length < 2) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    release();
    const results = await both;

    const rejected = results.filter((result) => result.status === "rejected");
    assert.equal(rejected.length, 1);
    assert.ok(isConflict(rejected[0]?.reason));
    assert.equal(events.length, 1);
    assert.equal(readRecord(now()).phase.kind, "introducing");
  });

  test("restores a deleted Secret with the same content", async () => {
    const { rest, run, events, now } = await leader();
    const before = now();
    await rest.delete(secrets, ref);

    await run();

    assert.deepEqual(now().data, before.data);
    assert.deepEqual(now().metadata.annotations, before.metadata.annotations);
    assert.deepEqual(
      events.map(({ reason }) => reason),
      ["AuthorityDeleted"],
    );
  });

  test("does not build on an invalid authority", async () => {
    const { rest, run, ask, now } = await leader();
    ask();
    const { data } = now();
    rest.put(secrets, { ...now(), data: { ...data, "tls.crt": "bm9uZQ==" } });

    await assert.rejects(run(), { code: "SECRET_INVALID", retryable: false });
    assert.equal(readRecord(now()).phase.kind, "steady");
  });
});
