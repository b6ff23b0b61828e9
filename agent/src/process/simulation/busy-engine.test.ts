/** The engine with everything around it in memory: what it reports while all of its workers are busy. */
import assert from "node:assert/strict";
import { AppError } from "@flotilla/shared/errors";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { Registry } from "prom-client";
import { test } from "vitest";
import { agentErrors } from "../../base/errors/agent-errors.ts";
import { createFetchedSources } from "../../observe/report/fetched-sources.ts";
import { createEngine, type EngineDeps } from "../../release/engine/engine.ts";
import { createAssignments } from "../../state/assignment/assignments.ts";
import { createReleaseAssignments } from "../../state/assignment/release-assignments.ts";
import { createClusterInfoStore } from "../../state/referenced/cluster-info.ts";
import { createReferencedObjects } from "../../state/referenced/referenced-objects.ts";
import { testAssignment } from "../../testing/index.ts";
import {
  createAnsweredRequests,
  noAssignmentStorage,
  noDrift,
  noSecretStorage,
} from "./in-memory-parts.ts";
import { createSimulatedReadiness } from "./simulated-readiness.ts";

const noChanges = { onChange: () => undefined };

function setUp(deploy: EngineDeps["deployer"]["deploy"]) {
  const [clock, log] = [createFakeClock(), silentLog()];
  const reported: string[] = [];
  const assignments = createAssignments({ storage: noAssignmentStorage, log });
  const engine = createEngine({
    ...{ clients: noChanges, inputs: noChanges, downstream: noChanges },
    releases: {
      ...{ ...noChanges, onRemoved: () => undefined, onReadable: () => undefined },
      history: () => [],
    },
    inventory: { releasesOf: () => [], knows: () => false },
    documents: { isComplete: true, setComplete: () => Promise.resolve() },
    attempts: {
      ...{ setFailedAttempts: () => Promise.resolve(), failedAttemptsOf: () => undefined },
      deadlineOf: () => undefined,
    },
    requests: createAnsweredRequests(),
    assignments,
    assigned: createReleaseAssignments(assignments),
    referenced: createReferencedObjects({ secrets: noSecretStorage, log }),
    clusterInfo: createClusterInfoStore({ secrets: noSecretStorage, log }),
    deployer: {
      deploy,
      installed: () => Promise.resolve(undefined),
      withdraw: () => Promise.resolve(),
    },
    readiness: createSimulatedReadiness(),
    drift: noDrift,
    sources: createFetchedSources(),
    outbox: {
      report: ({ name, message }) => void reported.push(`${name}: ${message}`),
      withdrawn: () => undefined,
    },
    ...{ concurrency: 1, clock, log, metrics: new Registry() },
  });
  async function assign(name: string): Promise<void> {
    const { owner: deployment, ...assigned } = await testAssignment(name);
    await assignments.assign({ deployment, ...assigned });
  }

  return { clock, reported, assign, engine };
}

test("a retry that is due is reported as due until a worker is free for it", async (t) => {
  const longOne = Promise.withResolvers<never>();
  const failed = new AppError(agentErrors.HELM_FAILED, "no chart");
  const { clock, reported, assign, engine } = setUp(async ({ owner }, { began }) => {
    if (owner.name === "web") throw failed;
    began("install");
    return await longOne.promise;
  });
  const stop = new AbortController();
  const ended = engine.run(stop.signal);
  t.onTestFinished(async () => {
    stop.abort();
    longOne.reject(failed);
    await ended;
  });

  await assign("web");
  await clock.advance(1_000);
  await assign("long");
  await clock.advance(60_000);

  assert.deepEqual(reported, [
    "web: no chart; retrying at 2026-01-01T00:00:05Z",
    "long: the installation is running since 2026-01-01T00:00:01Z",
    "web: no chart; the next attempt is due since 2026-01-01T00:00:05Z, and begins as soon as the agent has a free worker",
  ]);

  longOne.reject(failed);
  await clock.advance(1_000);
  assert.deepEqual(reported.slice(3), [
    "long: no chart; retrying at 2026-01-01T00:01:06Z",
    "web: no chart; retrying at 2026-01-01T00:01:11Z",
  ]);
});
