/** A thousand HelmOps and one repository, with the real loop and the real client of repositories. */
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
import { aHelmOp, createTestHelmOps } from "../testing/index.ts";

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
const loop = createTestHelmOps(client, clock);
const keys = Array.from({ length: many }, (_, at) =>
  keyOf({ namespace: "fleet-default", name: `web-${at}` }),
);

/** As the workers of a controller do, so many at a time; gives how long until each is due. */
async function reconcileAll(): Promise<ReadonlySet<number>> {
  const delays = new Set<number>();
  const waiting = keys.values();
  await Promise.all(
    Array.from({ length: atATime }, async () => {
      for (const key of waiting) {
        const next = await loop.reconcile(key);
        assert.ok(next.kind === "requeue");
        delays.add(next.afterMs);
      }
    }),
  );
  return delays;
}

/** One interval on; gives how often the repository was asked. */
async function pollAll(delays: ReadonlySet<number>): Promise<[asked: number, ReadonlySet<number>]> {
  assert.equal(delays.size, 1, "all of them are due at the same moment");
  const before = server.seen.length;
  await clock.advance([...delays][0] ?? 0);
  const next = await reconcileAll();
  return [server.seen.length - before, next];
}

for (const key of keys) {
  const [namespace = "", name = ""] = key.split("/");
  const helm = { repo: server.origin, chart: "web", version: "~1.2" };
  loop.put(aHelmOp({ helm, pollingInterval: "5m" }, { namespace, name, uid: `uid-${name}` }));
}
let delays = await reconcileAll();

test("cost their repository one request in each interval, whether something changed or not", async () => {
  let asked: number;
  [asked, delays] = await pollAll(delays);
  assert.equal(asked, 1);
  assert.notEqual(server.seen.at(-1)?.headers["if-none-match"], undefined, "a conditional one");

  versions = ["1.2.3", "1.2.4"];
  [asked, delays] = await pollAll(delays);
  assert.equal(asked, 1);
  assert.ok(keys.every((key) => loop.helmOp(key).status?.version === "1.2.4"));
});

test("cost it one request also while it fails, and while nothing matches", async () => {
  let asked: number;
  status = 500;
  [asked, delays] = await pollAll(delays);
  assert.equal(asked, 1);
  assert.ok(keys.every((key) => loop.helmOp(key).status?.polling?.error?.includes("500")));

  status = 200;
  versions = ["9.0.0", "9.0.1", "9.0.2"];
  [asked, delays] = await pollAll(delays);
  assert.equal(asked, 1);
  assert.ok(keys.every((key) => loop.helmOp(key).status?.version === "1.2.4"));
});

test("cost it no request when the hub starts anew between two polls", async () => {
  const before = server.seen.length;
  loop.restart();
  delays = await reconcileAll();
  assert.equal(server.seen.length, before);
});
