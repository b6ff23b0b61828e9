import assert from "node:assert/strict";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { Registry } from "prom-client";
import { test } from "vitest";
import { aDeployment, deployed } from "../../testing/index.ts";
import { createRejections } from "../rpc/rejections.ts";
import { createDispatchMetrics } from "./metrics.ts";
import { createReportIntake } from "./report-intake.ts";

/** An intake whose acknowledgements wait until they are sent, the latest of each name. */
function start() {
  const metrics = new Registry();
  const log = silentLog();
  const clock = createFakeClock();
  const waiting = new Map<string, () => void>();
  const paused = new Set<string>();
  const known = new Set(["web"]);
  const kept: string[] = [];
  const release = Promise.withResolvers<void>();
  const intake = createReportIntake({
    cluster: {
      namespace: "fleet-default",
      name: "paris",
      uid: "uid-paris",
      deploymentsNamespace: "cluster-paris",
    },
    desired: (name) => (known.has(name) ? aDeployment("paris") : undefined),
    isStored: (name) => name === "installed",
    sink: {
      report(_, __, { name }) {
        kept.push(name);
        return release.promise;
      },
      withdrawn: () => Promise.resolve(),
    },
    metrics: createDispatchMetrics(metrics),
    rejections: createRejections({ metrics, clock, log }),
    log,
    acknowledge: (name, _, onSent) => void waiting.set(name, onSent),
    onUninstalled: () => undefined,
    onPaused: (limit) => void paused.add(limit),
    onResumed: (limit) => void paused.delete(limit),
    onFailed: (thrown) => assert.fail(String(thrown)),
  });
  return {
    intake,
    known,
    waiting,
    paused,
    kept,
    release: release.resolve,
    foreign: (name: string, sequence: number) =>
      intake.state({ epoch: 1, sequence }, deployed({ name, uid: "u" })),
    sendAll() {
      for (const [name, onSent] of waiting) {
        waiting.delete(name);
        onSent();
      }
    },
  };
}

test("pauses an agent that invents names and reads no acknowledgements after a few hundred reports", () => {
  const { foreign, paused, waiting, kept, sendAll } = start();
  let made = 0;

  while (!paused.has("acknowledgements") && made < 10_000) foreign(`made-${made++}`, made);
  assert.ok(made < 300, `${made} names are stored`);
  assert.equal(waiting.size, made);
  sendAll();

  assert.equal(paused.size, 0);
  assert.deepEqual(kept, []);
});

test("does not pause an agent that repeats one rejected report, because one acknowledgement waits", () => {
  const { foreign, paused, waiting } = start();

  for (let sequence = 1; sequence <= 10_000; sequence += 1) foreign("other", sequence);

  assert.equal(waiting.size, 1);
  assert.equal(paused.size, 0);
});

test("pauses an agent while its reports arrive faster than they can be stored", async () => {
  const { intake, paused, kept, release } = start();
  let sequence = 0;

  while (!paused.has("reports") && sequence < 10_000)
    intake.state({ epoch: 1, sequence: sequence++ }, deployed());
  assert.ok(kept.length < 300, `${kept.length} reports are pending`);
  release();
  await settle();

  assert.equal(paused.size, 0);
});

test("does not acknowledge a report on a deployment that is not in the cache yet, and marks it as missed once it is", () => {
  const { intake, known, waiting, foreign } = start();
  const uid = aDeployment("paris").metadata.uid ?? "";
  intake.state({ epoch: 1, sequence: 1 }, deployed({ name: "installed", uid }));
  foreign("made-up", 2);

  assert.deepEqual([...waiting.keys()], ["made-up"]);
  assert.equal(intake.hasMissed("installed"), false);
  known.add("installed").add("made-up");

  assert.equal(intake.hasMissed("installed"), true);
  assert.equal(intake.hasMissed("made-up"), false);
});

test("does not mark a report on an earlier deployment of the name as missed", () => {
  const { intake, known } = start();
  intake.state({ epoch: 1, sequence: 1 }, deployed({ name: "installed", uid: "uid-earlier" }));

  known.add("installed");

  assert.equal(intake.hasMissed("installed"), false);
});
