import assert from "node:assert/strict";
import type { Receiver as FluxReceiver } from "@flotilla/shared/flux";
import { type KubeObject, secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { describe, type TestContext, test } from "vitest";
import { createWatchedObjects } from "../../rules/referenced/watch-objects.ts";
import { createWatchedStore } from "../../testing/index.ts";
import { hasSpec, type Receiver } from "./receiver.ts";
import { createReceiverSecrets, watchReceiverSecrets } from "./tokens.ts";

const namespace = "apps";

function aReceiver(): FluxReceiver & Receiver {
  const receiver: FluxReceiver = {
    metadata: { name: "hook", namespace },
    spec: {
      ...{ type: "generic", interval: "10m", secretRef: { name: "token" } },
      resources: [{ kind: "HelmRelease", name: "web" }],
    },
  };
  if (!hasSpec(receiver)) throw new Error("it has a spec");
  return receiver;
}

function aSecret(token: string) {
  const data = { token: Buffer.from(token).toString("base64") };
  return { metadata: { name: "token", namespace }, data };
}

function setUp(t: TestContext) {
  const rest = createMemoryApiServer();
  const receivers = createWatchedStore<FluxReceiver>();
  const objects = createWatchedObjects({
    ...{ rest, receivers, clock: createFakeClock(), log: silentLog() },
    clusters: createWatchedStore<KubeObject>(),
    helmOps: createWatchedStore<KubeObject>(),
    namespaces: [],
  });
  watchReceiverSecrets(receivers, objects);
  const stop = new AbortController();
  const running = objects.run(stop.signal);
  t.onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const known = createReceiverSecrets({ rest, objects });
  return {
    rest,
    receivers,
    objects,
    token: async () => (await known.known(aReceiver()))?.token,
    changed: () =>
      new Promise<void>((resolve) => {
        const stopListening = objects.onChange(() => {
          stopListening();
          resolve();
        });
      }),
  };
}

describe("the Secret of a Receiver in a namespace without Clusters and HelmOps", () => {
  test("may come after the Receiver", async (t) => {
    const { rest, receivers, changed, token } = setUp(t);
    receivers.saw(aReceiver());
    assert.equal(await token(), undefined);

    const change = changed();
    rest.put(secrets, aSecret("first"));
    await change;

    assert.equal(await token(), "first");
  });

  test("may be rotated", async (t) => {
    const { rest, receivers, changed, token } = setUp(t);
    rest.put(secrets, aSecret("first"));
    receivers.saw(aReceiver());
    assert.equal(await token(), "first");

    const change = changed();
    rest.put(secrets, aSecret("second"));
    await change;

    assert.equal(await token(), "second");
  });

  test("is watched although a deployment has referred to it before", async (t) => {
    const { rest, receivers, objects, changed, token } = setUp(t);
    rest.put(secrets, aSecret("first"));
    objects.watch(namespace, { kind: "Secret", name: "token" });
    await objects.known(namespace, { kind: "Secret", name: "token" });
    receivers.saw(aReceiver());
    assert.equal(await token(), "first");

    const change = changed();
    rest.put(secrets, aSecret("second"));
    await change;

    assert.equal(await token(), "second");
  });
});
