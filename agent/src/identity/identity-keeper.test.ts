import "reflect-metadata";
import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import type { EnrollRequest } from "@flotilla/proto/messages.ts";
import { silentLog } from "@flotilla/shared/log/log.ts";
import { createFakeClock, settle } from "@flotilla/shared/time/testing/fake-clock.ts";
import { X509CertificateGenerator } from "@peculiar/x509";
import { describe, test } from "vitest";
import type { HubClient } from "../link/hub-client.ts";
import type { AgentIdentity, StoredIdentity } from "./agent-identity.ts";
import { createAgentKey } from "./agent-key.ts";
import { type Bootstrap, markOf } from "./bootstrap.ts";
import { createIdentityKeeper } from "./identity-keeper.ts";
import type { IdentityStore } from "./identity-store.ts";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const keys = await webcrypto.subtle.generateKey(algorithm, false, ["sign", "verify"]);

async function certificate(notBefore: number, notAfter: number): Promise<string> {
  const made = await X509CertificateGenerator.createSelfSigned(
    {
      name: "CN=agent",
      keys,
      signingAlgorithm: algorithm,
      notBefore: new Date(notBefore),
      notAfter: new Date(notAfter),
    },
    webcrypto,
  );
  return made.toString("pem");
}

const bootstrap: Bootstrap = {
  address: "old.example.com:8443",
  authoritiesPem: "authorities",
  token: "token",
  labels: {},
};
const moved: Bootstrap = { ...bootstrap, address: "new.example.com:8443" };

/** An agent that is enrolled, with a certificate of three hours. */
async function setUp(
  options: { readonly bootstrap?: Bootstrap; readonly enroll?: HubClient["enroll"] } = {},
) {
  const clock = createFakeClock();
  const begun = clock.now();
  const keyPem = await createAgentKey();
  const enrolled: AgentIdentity = {
    keyPem,
    chainPem: await certificate(begun, begun + 3 * 3_600_000),
    authoritiesPem: "authorities",
    hubAddress: bootstrap.address,
    hubId: "hub",
    clientId: "client",
    bootstrapMark: markOf(bootstrap),
    cluster: { namespace: "fleet-default", name: "one", uid: "u" },
  };
  let stored: StoredIdentity = { keyPem, enrolled };
  let given = options.bootstrap ?? bootstrap;
  let isAway = false;
  let isHeld = Promise.resolve();
  let tellOfBootstrap = (): void => undefined;
  const store: IdentityStore = {
    load: () => Promise.resolve(stored),
    save(identity) {
      if (isAway) return Promise.reject(new Error("the API server is away"));
      stored = identity;
      return Promise.resolve();
    },
    async bootstrap() {
      await isHeld;
      return given;
    },
    watchBootstrap(onChange) {
      tellOfBootstrap = onChange;
      return Promise.resolve();
    },
    clusterUid: () => Promise.resolve("uid"),
  };
  const keeper = createIdentityKeeper({
    store,
    connectHub: () => ({
      enroll: options.enroll ?? (() => assert.fail("it has no reason to enrol")),
      renew: () => assert.fail("a keeper does not renew"),
      connect: () => assert.fail("a keeper has no stream"),
      close: () => undefined,
    }),
    clock,
    log: silentLog(),
    random: () => 0.5,
  });
  const running = new AbortController();
  const ended = keeper.run(running.signal);
  let replaced = 0;
  keeper.onReplaced(() => {
    replaced += 1;
  });
  await settle();
  return {
    clock,
    keeper,
    enrolled,
    stored: () => stored.enrolled,
    give(next: Bootstrap) {
      given = next;
      tellOfBootstrap();
    },
    setAway(away: boolean) {
      isAway = away;
    },
    /** Whoever reads the bootstrap Secret waits until this is called. */
    holdBootstrap() {
      const { promise, resolve } = Promise.withResolvers<void>();
      isHeld = promise;
      return resolve;
    },
    replaced: () => replaced,
    usable: () => keeper.usable(running.signal),
    async end() {
      running.abort();
      await ended;
    },
  };
}

describe("an agent whose hub has moved", () => {
  test("goes there, and finds it there after a start without the bootstrap Secret", async () => {
    const agent = await setUp();
    agent.give(moved);
    await settle();

    assert.equal((await agent.usable()).hubAddress, moved.address);
    assert.equal(agent.stored()?.hubAddress, moved.address);
    assert.equal(agent.replaced(), 1);
    await agent.end();
  });

  test("goes there also when it is told so at its start", async () => {
    const agent = await setUp({ bootstrap: moved });

    assert.equal((await agent.usable()).hubAddress, moved.address);
    assert.equal(agent.stored()?.hubAddress, moved.address);
    await agent.end();
  });

  test("goes there although that cannot be stored, which is done later", async () => {
    const agent = await setUp();
    agent.setAway(true);
    agent.give(moved);
    await settle();
    assert.equal((await agent.usable()).hubAddress, moved.address);
    assert.equal(agent.stored()?.hubAddress, bootstrap.address);

    agent.setAway(false);
    await agent.clock.advance(2_000);

    assert.equal(agent.stored()?.hubAddress, moved.address);
    await agent.end();
  });
});

test("a certificate that is renewed while the bootstrap Secret is read stays", async () => {
  const agent = await setUp();
  const now = agent.clock.now();
  const chainPem = await certificate(now, now + 6 * 3_600_000);
  const letRead = agent.holdBootstrap();
  agent.give(moved);
  await settle();
  await agent.keeper.renewed(agent.enrolled, { chainPem, authoritiesPem: "authorities" });

  letRead();
  await settle();

  assert.equal((await agent.usable()).chainPem, chainPem);
  assert.equal(agent.stored()?.chainPem, chainPem);
  assert.equal(agent.stored()?.hubAddress, moved.address);
  await agent.end();
});

test("a certificate that the hub takes for none is asked for anew with the key alone, and used until then", async () => {
  const asked = Promise.withResolvers<EnrollRequest>();
  const agent = await setUp({
    enroll(request) {
      asked.resolve(request);
      return Promise.reject(new Error("the hub has no time"));
    },
  });
  agent.keeper.doubted(agent.enrolled);

  assert.equal((await asked.promise).token, "");
  await settle();

  assert.equal((await agent.usable()).chainPem, agent.enrolled.chainPem);
  assert.equal(agent.keeper.trouble, "");
  assert.equal(agent.replaced(), 0);
  await agent.end();
});
