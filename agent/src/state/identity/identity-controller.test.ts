import "reflect-metadata";
import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import type { EnrollRequest } from "@flotilla/proto";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock, settle } from "@flotilla/shared/time/testing";
import { X509CertificateGenerator } from "@peculiar/x509";
import { describe, test } from "vitest";
import type { HubClient } from "../hubclient/hub-client.ts";
import type { AgentIdentity, StoredIdentity } from "./agent-identity.ts";
import { createAgentKey } from "./agent-key.ts";
import { type Bootstrap, bootstrapDigest } from "./bootstrap.ts";
import { createIdentityController } from "./identity-controller.ts";
import type { IdentityStore } from "./identity-store.ts";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const keys = await webcrypto.subtle.generateKey(algorithm, false, ["sign", "verify"]);

async function certificate(notBefore: number, notAfter: number): Promise<string> {
  const issued = await X509CertificateGenerator.createSelfSigned(
    {
      name: "CN=agent",
      keys,
      signingAlgorithm: algorithm,
      notBefore: new Date(notBefore),
      notAfter: new Date(notAfter),
    },
    webcrypto,
  );
  return issued.toString("pem");
}

const bootstrap: Bootstrap = {
  address: "old.example.com:8443",
  authoritiesPem: "authorities",
  token: "token",
  labels: {},
};
const newAddress: Bootstrap = { ...bootstrap, address: "new.example.com:8443" };

/** An agent that is enrolled, with a certificate of three hours. */
async function setUp(
  options: { readonly bootstrap?: Bootstrap; readonly enroll?: HubClient["enroll"] } = {},
) {
  const clock = createFakeClock();
  const startMs = clock.now();
  const keyPem = await createAgentKey();
  const enrolled: AgentIdentity = {
    keyPem,
    chainPem: await certificate(startMs, startMs + 3 * 3_600_000),
    authoritiesPem: "authorities",
    hubAddress: bootstrap.address,
    hubId: "hub",
    clientId: "client",
    bootstrapDigest: bootstrapDigest(bootstrap),
    cluster: { namespace: "fleet-default", name: "one", uid: "u" },
  };
  let stored: StoredIdentity = { keyPem, enrolled };
  let bootstrapSecret = options.bootstrap ?? bootstrap;
  let isUnavailable = false;
  let gate = Promise.resolve();
  let notifyBootstrap = (): void => undefined;
  const store: IdentityStore = {
    load: () => Promise.resolve(stored),
    save(identity) {
      if (isUnavailable) return Promise.reject(new Error("the API server is unavailable"));
      stored = identity;
      return Promise.resolve();
    },
    async bootstrap() {
      await gate;
      return bootstrapSecret;
    },
    watchBootstrap(onChange) {
      notifyBootstrap = onChange;
      return Promise.resolve();
    },
    clusterUid: () => Promise.resolve("uid"),
  };
  const controller = createIdentityController({
    store,
    connectHub: () => ({
      enroll: options.enroll ?? (() => assert.fail("unexpected enrolment")),
      renew: () => assert.fail("unexpected renewal"),
      connect: () => assert.fail("unexpected stream"),
      close: () => undefined,
    }),
    clock,
    log: silentLog(),
    random: () => 0.5,
  });
  const running = new AbortController();
  const ended = controller.run(running.signal);
  let replaced = 0;
  controller.onChange(() => {
    replaced += 1;
  });
  await settle();
  return {
    clock,
    controller,
    enrolled,
    stored: () => stored.enrolled,
    setBootstrap(next: Bootstrap) {
      bootstrapSecret = next;
      notifyBootstrap();
    },
    setUnavailable(value: boolean) {
      isUnavailable = value;
    },
    /** Reads of the bootstrap Secret wait until the returned function is called. */
    blockBootstrap() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    replaced: () => replaced,
    usable: () => controller.waitForIdentity(running.signal),
    async end() {
      running.abort();
      await ended;
    },
  };
}

describe("an agent whose hub has another address", () => {
  test("connects to the new address and stores it", async () => {
    const agent = await setUp();
    agent.setBootstrap(newAddress);
    await settle();

    assert.equal((await agent.usable()).hubAddress, newAddress.address);
    assert.equal(agent.stored()?.hubAddress, newAddress.address);
    assert.equal(agent.replaced(), 1);
    await agent.end();
  });

  test("connects to the new address if the bootstrap Secret changed before it started", async () => {
    const agent = await setUp({ bootstrap: newAddress });

    assert.equal((await agent.usable()).hubAddress, newAddress.address);
    assert.equal(agent.stored()?.hubAddress, newAddress.address);
    await agent.end();
  });

  test("connects to the new address even if it cannot be stored, and stores it later", async () => {
    const agent = await setUp();
    agent.setUnavailable(true);
    agent.setBootstrap(newAddress);
    await settle();
    assert.equal((await agent.usable()).hubAddress, newAddress.address);
    assert.equal(agent.stored()?.hubAddress, bootstrap.address);

    agent.setUnavailable(false);
    await agent.clock.advance(2_000);

    assert.equal(agent.stored()?.hubAddress, newAddress.address);
    await agent.end();
  });
});

test("keeps a certificate that is renewed while the bootstrap Secret is read", async () => {
  const agent = await setUp();
  const now = agent.clock.now();
  const chainPem = await certificate(now, now + 6 * 3_600_000);
  const continueReading = agent.blockBootstrap();
  agent.setBootstrap(newAddress);
  await settle();
  await agent.controller.storeRenewed(agent.enrolled, { chainPem, authoritiesPem: "authorities" });

  continueReading();
  await settle();

  assert.equal((await agent.usable()).chainPem, chainPem);
  assert.equal(agent.stored()?.chainPem, chainPem);
  assert.equal(agent.stored()?.hubAddress, newAddress.address);
  await agent.end();
});

test("enrols again with its key when the hub rejects its certificate, and uses the old certificate meanwhile", async () => {
  const requested = Promise.withResolvers<EnrollRequest>();
  const agent = await setUp({
    enroll(request) {
      requested.resolve(request);
      return Promise.reject(new Error("the hub is busy"));
    },
  });
  agent.controller.reportUnauthenticated(agent.enrolled);

  assert.equal((await requested.promise).token, "");
  await settle();

  assert.equal((await agent.usable()).chainPem, agent.enrolled.chainPem);
  assert.equal(agent.controller.lastError, "");
  assert.equal(agent.replaced(), 0);
  await agent.end();
});
