/** A thousand HelmOps of one repository, with the real reconciler and repository client. */
import assert from "node:assert/strict";
import { keyOf } from "@flotilla/shared/kube/objects";
import {
  createTestClient,
  indexText,
  send,
  startTestServer,
} from "@flotilla/shared/source/testing";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { afterAll, test } from "vitest";
import { aHelmOp, createTestHelmOps } from "../../testing/index.ts";

const many = 1_000;
const atATime = 32;
let versions = ["1.2.3"];
let status = 200;
const server = await startTestServer(({ headers }, response) => {
  const etag = `"${versions.length}"`;
  if (status !== 200) send(response, status);
  else if (headers["if-none-match"] === etag) send(response, 304, "", { etag });
  else send(response, 200, indexText({ web: versions }), { etag });
});
afterAll(() => server[Symbol.asyncDispose]());
const clock = createFakeClock();
const client = createTestClient({ clock });
afterAll(() => client.close());
const helmOps = createTestHelmOps(client, clock);
const keys = Array.from({ length: many }, (_, at) =>
  keyOf({ namespace: "fleet-default", name: `web-${at}` }),
);

/** Reconciles with the concurrency of a controller; returns the distinct delays until the next polls. */
async function reconcileAll(): Promise<ReadonlySet<number>> {
  const delays = new Set<number>();
  const waiting = keys.values();
  await Promise.all(
    Array.from({ length: atATime }, async () => {
      for (const key of waiting) {
        const next = await helmOps.reconcile(key);
        assert.ok(next.kind === "requeue");
        delays.add(next.afterMs);
      }
    }),
  );
  return delays;
}

/** Advances the clock by one interval; returns the number of requests to the repository. */
async function pollAll(
  delays: ReadonlySet<number>,
): Promise<[requests: number, ReadonlySet<number>]> {
  assert.equal(delays.size, 1, "all of them are due at the same moment");
  const before = server.seen.length;
  await clock.advance([...delays][0] ?? 0);
  const next = await reconcileAll();
  return [server.seen.length - before, next];
}

for (const key of keys) {
  const [namespace = "", name = ""] = key.split("/");
  const helm = { repo: server.origin, chart: "web", version: "~1.2" };
  helmOps.put(aHelmOp({ helm, pollingInterval: "5m" }, { namespace, name, uid: `uid-${name}` }));
}
let delays = await reconcileAll();

test("make one request in each interval, whether the index changed or not", async () => {
  let requests: number;
  [requests, delays] = await pollAll(delays);
  assert.equal(requests, 1);
  assert.notEqual(server.seen.at(-1)?.headers["if-none-match"], undefined, "a conditional one");

  versions = ["1.2.3", "1.2.4"];
  [requests, delays] = await pollAll(delays);
  assert.equal(requests, 1);
  assert.ok(keys.every((key) => helmOps.helmOp(key).status?.version === "1.2.4"));
});

test("make one request also while the repository fails, and while no version matches", async () => {
  let requests: number;
  status = 500;
  [requests, delays] = await pollAll(delays);
  assert.equal(requests, 1);
  assert.ok(keys.every((key) => helmOps.helmOp(key).status?.polling?.error?.includes("500")));

  status = 200;
  versions = ["9.0.0", "9.0.1", "9.0.2"];
  [requests, delays] = await pollAll(delays);
  assert.equal(requests, 1);
  assert.ok(keys.every((key) => helmOps.helmOp(key).status?.version === "1.2.4"));
});

test("make no request when the hub restarts between two polls", async () => {
  const before = server.seen.length;
  helmOps.restart();
  delays = await reconcileAll();
  assert.equal(server.seen.length, before);
});
