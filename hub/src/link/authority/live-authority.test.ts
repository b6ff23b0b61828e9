import assert from "node:assert/strict";
import { secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { test } from "vitest";
import { LiveAuthority } from "./live-authority.ts";

const deps = {
  namespace: "flotilla-system",
  lifetimeMs: 3_600_000,
  clock: createFakeClock(Date.now()),
  log: silentLog(),
};

test("confirms what was read, also from a server restored from a backup with older versions", async (t) => {
  const restored = await LiveAuthority.open({ ...deps, rest: createMemoryApiServer() });
  const rest = createMemoryApiServer();
  rest.put(secrets, { metadata: { namespace: deps.namespace, name: "earlier" } });
  const live = await LiveAuthority.open({ ...deps, rest });
  const stop = new AbortController();
  const running = live.run(stop.signal);
  t.onTestFinished(async () => {
    stop.abort();
    await running;
  });
  // It is listed as of version 2.
  await settle();
  const { metadata } = restored.secret;
  const get = () =>
    Promise.resolve({ ...restored.secret, metadata: { ...metadata, resourceVersion: "1" } });
  Object.assign(rest, { get });
  assert.notEqual(live.trusted.digest, restored.trusted.digest);

  const confirmed = await live.confirmed();

  assert.equal(confirmed.digest, restored.trusted.digest);
  assert.equal(live.trusted.digest, restored.trusted.digest);
});
