import assert from "node:assert/strict";
import { type ClusterRegistrationToken, clusterRegistrationTokens } from "@flotilla/shared/api";
import { createInformer, createStore } from "@flotilla/shared/kube/cache";
import { namespaces, type Secret, secrets } from "@flotilla/shared/kube/objects";
import { aContext, createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { systemClock } from "@flotilla/shared/time";
import { Registry } from "prom-client";
import { onTestFinished, test } from "vitest";
import { localToken } from "./bootstrap.ts";
import { localClusterReconciler, runLocalCluster } from "./controller.ts";

const key = "fleet-local/local";
const bootstrap = { namespace: "flotilla-agent", name: "flotilla-bootstrap" };

function start() {
  const kube = createMemoryApiServer();
  const store = createStore<ClusterRegistrationToken>();
  const notes: string[] = [];
  const reconcile = localClusterReconciler({
    rest: kube,
    tokens: { store, onChange: () => () => undefined },
    events: { record: (_, { note }) => void notes.push(note), flush: () => Promise.resolve() },
  });
  return {
    kube,
    notes,
    /** Reconciles with the token that is stored now, once its Secret was made. */
    async reconcile() {
      const token = kube.peek(clusterRegistrationTokens, localToken.metadata);
      if (token !== undefined) store.set({ ...token, status: { secretName: "local" } });
      await reconcile(key, aContext());
    },
    makeTokenSecret: (address: string) =>
      kube.put(secrets, { metadata: localToken.metadata, data: { address } }),
    secret: () => kube.peek(secrets, bootstrap),
  };
}

test("a token is made, then the Secret in a namespace for the agent, and nothing after that", async () => {
  const { kube, reconcile, makeTokenSecret, secret } = start();

  await reconcile();
  assert.equal(secret(), undefined);
  makeTokenSecret("aHVi");
  await reconcile();

  assert.equal(secret()?.data?.["address"], "aHVi");
  assert.ok(kube.peek(namespaces, { name: "flotilla-agent" }) !== undefined);
  const { length } = kube.writes;
  await reconcile();
  assert.equal(kube.writes.length, length);
});

test("the Secret follows the address of the hub", async () => {
  const { reconcile, makeTokenSecret, secret } = start();
  await reconcile();
  makeTokenSecret("aHVi");
  await reconcile();

  makeTokenSecret("bW92ZWQ=");
  await reconcile();

  assert.equal(secret()?.data?.["address"], "bW92ZWQ=");
});

test("a Secret that somebody else has made stays, and an event says so", async () => {
  const { kube, notes, reconcile, makeTokenSecret, secret } = start();
  kube.put(secrets, { metadata: bootstrap, data: { token: "bWluZQ==" } });
  await reconcile();
  makeTokenSecret("aHVi");

  await reconcile();

  assert.deepEqual(secret()?.data, { token: "bWluZQ==" });
  assert.match(notes.join(), /^Secret flotilla-agent\/flotilla-bootstrap exists and was not made/);
});

test("the Secret is made as soon as that of somebody else is deleted, and again when it is deleted itself", async () => {
  const kube = createMemoryApiServer();
  const log = silentLog();
  const ending = new AbortController();
  const tokens = createInformer<ClusterRegistrationToken>({
    ...{ rest: kube, resource: clusterRegistrationTokens, log },
  });
  const made = createInformer<Secret>({ rest: kube, resource: secrets, log });
  const { promise: warned, resolve: warn } = Promise.withResolvers<void>();
  const events = { record: () => warn(), flush: () => Promise.resolve() };
  kube.put(secrets, { metadata: bootstrap, data: { token: "bWluZQ==" } });
  kube.put(secrets, { metadata: localToken.metadata, data: { address: "aHVi" } });
  kube.put(clusterRegistrationTokens, { ...localToken, status: { secretName: "local" } });
  const running = [
    tokens.run(ending.signal),
    made.run(ending.signal),
    runLocalCluster(
      { rest: kube, tokens, events, clock: systemClock, log, metrics: new Registry() },
      ending.signal,
    ),
  ];
  onTestFinished(async () => {
    ending.abort();
    await Promise.all(running);
  });
  /** Resolves with the UID of the hub's own Secret, once it is not `uid`. */
  const madeAfter = (uid?: string) =>
    new Promise<string | undefined>((resolve) => {
      const check = () => {
        const found = made.store.get("flotilla-agent/flotilla-bootstrap");
        const isOwn = found?.data?.["address"] === "aHVi";
        if (isOwn && found.metadata.uid !== uid) resolve(found.metadata.uid);
      };
      made.onChange(check);
      check();
    });
  await warned;

  await kube.delete(secrets, bootstrap);
  const first = await madeAfter();
  await kube.delete(secrets, bootstrap);

  assert.notEqual(await madeAfter(first), undefined);
});
