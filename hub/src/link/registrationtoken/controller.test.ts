import assert from "node:assert/strict";
import {
  type Cluster,
  type ClusterRegistrationToken,
  clusterRegistrationTokens,
  clusters,
} from "@flotilla/shared/api";
import { createInformer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { systemClock } from "@flotilla/shared/time";
import { Registry } from "prom-client";
import { onTestFinished, test } from "vitest";
import { runTokenController } from "./controller.ts";

const ref = { namespace: "fleet-default", name: "first" };

function start() {
  const kube = createMemoryApiServer();
  const log = silentLog();
  const ending = new AbortController();
  const { signal } = ending;
  const tokens = createInformer<ClusterRegistrationToken>({
    ...{ rest: kube, resource: clusterRegistrationTokens, log },
  });
  const made = createInformer<Secret>({ rest: kube, resource: secrets, log });
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
  /** The client of the controller, which reads the Secret once more after its own write of the token. */
  const rest: KubeRest = {
    ...kube,
    async get(resource, at, options) {
      const found = await kube.get(resource, at, options);
      if (resource.kind === "Secret" && found !== undefined) settle();
      return found;
    },
  };
  const running = [
    tokens.run(signal),
    made.run(signal),
    runTokenController(
      {
        ...{ rest, tokens, clock: systemClock, log, metrics: new Registry() },
        clusters: createInformer<Cluster>({ rest: kube, resource: clusters, log }),
        authority: { trusted: { pem: "pem", digest: "" }, onChange: () => () => undefined },
        address: "hub.example.com:8443",
        events: { record: () => undefined, flush: () => Promise.resolve() },
      },
      signal,
    ),
  ];
  onTestFinished(async () => {
    ending.abort();
    await Promise.all(running);
  });
  /** Resolves to the Secret once it is another one than that with `uid`. */
  const secretAfter = (uid?: string) =>
    new Promise<Secret>((resolve) => {
      const check = () => {
        const found = made.store.get("fleet-default/first");
        if (found !== undefined && found.metadata.uid !== uid) resolve(found);
      };
      made.onChange(check);
      check();
    });
  return { kube, settled, secretAfter };
}

test("the Secret of a registration token that was deleted is made again, without another change", async () => {
  const { kube, settled, secretAfter } = start();
  await kube.create(clusterRegistrationTokens, { metadata: ref, spec: {} });
  const first = await secretAfter();
  await settled;

  await kube.delete(secrets, ref);

  const second = await secretAfter(first.metadata.uid);
  assert.notEqual(second.data?.["token"], undefined);
  assert.notEqual(second.data?.["token"], first.data?.["token"], "the old value was revoked");
});
