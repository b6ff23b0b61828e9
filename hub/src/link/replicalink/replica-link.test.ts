import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { once } from "node:events";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { describe, test } from "vitest";
import { createAuthority, openAuthority } from "../authority/certificate-authority.ts";
import type { ForwardedRequest } from "./forwarded-request.ts";
import { replicaLinks } from "./testing/index.ts";

const forwarded: ForwardedRequest = {
  username: "alice",
  cluster: "shop/paris",
  deployment: { name: "web", uid: "1" },
  body: { kind: "log", tailLines: 10, previous: false, tests: false },
};
const signal = AbortSignal.timeout(30_000);

describe("a replica of the hub", () => {
  test("answers a request that another one forwards", async (t) => {
    const open = await replicaLinks(t, "hub");
    const [a, b] = [await open("a"), await open("b")];
    const received: ForwardedRequest[] = [];
    a.answer(() => Promise.resolve());
    b.answer((given, response) => {
      received.push(given);
      response.end("answer");
      return Promise.resolve();
    });

    const answer = await a.forward({ name: "b", address: b.address }, forwarded, signal);

    assert.equal(await text(answer), "answer");
    assert.deepEqual(received, [forwarded]);
  });

  test("forwards nothing to a replica of another name", async (t) => {
    const open = await replicaLinks(t, "hub");
    const [a, b] = [await open("a"), await open("b")];
    for (const link of [a, b]) link.answer(() => assert.fail("it must not be answered"));

    await assert.rejects(a.forward({ name: "c", address: b.address }, forwarded, signal), {
      code: "REPLICA_UNREACHABLE",
      message:
        /^forward the request to replica c of the hub at .*: its certificate is not the certificate of replica c; retry$/,
    });
  });

  test("rejects a replica of another hub, with the same authority or another one", async (t) => {
    const stored = createAuthority(Date.now());
    const [own, same, other] = [
      await replicaLinks(t, "hub", stored),
      await replicaLinks(t, "other-hub", stored),
      await replicaLinks(t, "hub"),
    ];
    const b = await own("b");
    b.answer(() => assert.fail("it must not answer"));
    for (const open of [same, other]) {
      const a = await open("a");
      a.answer(() => Promise.resolve());
      await assert.rejects(a.forward({ name: "b", address: b.address }, forwarded, signal), {
        code: "REPLICA_UNREACHABLE",
      });
    }
  });

  test("rejects an agent, and a client without a certificate", async (t) => {
    const stored = await createAuthority(Date.now());
    const b = await (await replicaLinks(t, "hub", Promise.resolve(stored)))("b");
    b.answer(() => assert.fail("it must not answer"));
    const authority = await openAuthority(stored, () => Date.now());
    const keys = await webcrypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
      "sign",
      "verify",
    ]);
    const cert = await authority.issueClient({
      identity: { hubId: "hub", namespace: "ns", name: "paris", uid: "1" },
      spki: new Uint8Array(await webcrypto.subtle.exportKey("spki", keys.publicKey)),
      lifetimeMs: 60_000,
    });
    const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey));
    const key = `-----BEGIN PRIVATE KEY-----\n${der.toString("base64")}\n-----END PRIVATE KEY-----\n`;

    async function send(credentials: { readonly key?: string; readonly cert?: string }) {
      const [host, port] = b.address.split(":");
      const outgoing = request({
        ...{ host, port, path: "/v1/forward", method: "POST", ca: stored.certificatePem },
        ...{ checkServerIdentity: () => undefined, agent: false, ...credentials },
      });
      outgoing.end(JSON.stringify(forwarded));
      const [answer] = (await once(outgoing, "response")) as [{ readonly statusCode: number }];
      return answer.statusCode;
    }

    assert.equal(await send({ key, cert }), 403);
    await assert.rejects(send({}));
  });
});
