/** Any enrolment requests, to a hub with an API server in memory. */
import assert from "node:assert/strict";
import { type EnrollRequest, isPrintable } from "@flotilla/proto";
import { malformedText, mutated } from "@flotilla/proto/testing";
import {
  apiVersion,
  type Cluster,
  type ClusterRegistrationToken,
  clusterRegistrationTokens,
} from "@flotilla/shared/api";
import { createStore } from "@flotilla/shared/kube/cache";
import { secrets } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { status } from "@grpc/grpc-js";
import fc from "fast-check";
import { Registry } from "prom-client";
import { describe, test } from "vitest";
import { aCertificateRequest, workspace } from "../../testing/index.ts";
import { createAuthority, openAuthority } from "../authority/certificate-authority.ts";
import { makeTokenValue } from "../registrationtoken/secret.ts";
import { RpcError } from "../rpc/errors.ts";
import { createRejections } from "../rpc/rejections.ts";
import { createEnrolment } from "./enrolment.ts";

const tokenUid = "uid-token";
const token = makeTokenValue(tokenUid);
const stored = await createAuthority(Date.now());
const [own, other] = [await aCertificateRequest(), await aCertificateRequest()];

/** A hub with one valid token. */
async function start() {
  const clock = createFakeClock(Date.now());
  const lines: { readonly message: string; readonly err?: unknown }[] = [];
  const events: string[] = [];
  const metrics = new Registry();
  const log = Object.assign(silentLog(), {
    warn: (fields: object, message: string) => void lines.push({ ...fields, message }),
  });
  const rest = createMemoryApiServer();
  rest.put(secrets, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: workspace, name: "token" },
    data: { token: Buffer.from(token).toString("base64") },
  });
  const tokens = createStore<ClusterRegistrationToken>();
  tokens.set(
    rest.put(clusterRegistrationTokens, {
      apiVersion,
      kind: "ClusterRegistrationToken",
      metadata: { namespace: workspace, name: "token", uid: tokenUid },
      spec: {},
      status: { secretName: "token" },
    }),
  );
  const clusters = createStore<Cluster>();
  const authority = await openAuthority(stored, () => clock.now());
  const enrolment = createEnrolment({
    rest,
    clusters,
    tokens,
    isAwaited: () => false,
    authority: {
      async issueClient(request) {
        const chainPem = await authority.issueClient({ ...request, lifetimeMs: 3_600_000 });
        return { chainPem, authoritiesPem: authority.authoritiesPem };
      },
    },
    events: {
      record: ({ metadata }, { reason, note }) =>
        void events.push(`${metadata.name} ${reason}: ${note}`),
      flush: () => Promise.resolve(),
    },
    hubId: "hub",
    rejections: createRejections({ metrics, clock, log }),
    clock,
    log,
  });
  return { clock, enrolment, clusters, rest, metrics, lines, events };
}

const request: EnrollRequest = { token, certificateRequest: own, clientId: "paris", labels: {} };
const peer = "10.0.0.1:1234";

/** The result: the Cluster's name, or the gRPC status of the rejection. */
async function answer(work: Promise<{ readonly clusterName: string }>): Promise<string> {
  try {
    return (await work).clusterName;
  } catch (thrown) {
    assert.ok(thrown instanceof RpcError, String(thrown));
    assert.ok(isPrintable(thrown.message.replaceAll(/[\t\n]/g, " ")), thrown.message);
    return status[thrown.status];
  }
}

describe("an enrolment", () => {
  test("with any request creates at most one Cluster for each client and only with the token, or is rejected with a message", async () => {
    const odd: fc.Arbitrary<EnrollRequest> = fc.record(
      {
        token: fc.oneof(
          fc.constantFrom(token, token, "", `${tokenUid}.wrong`, `${token}x`),
          malformedText,
        ),
        certificateRequest: fc.oneof(fc.constantFrom(own, other), mutated(own)),
        // A decoded request always has a client id.
        clientId: fc
          .oneof(fc.constantFrom("paris", "rome"), malformedText)
          .filter((id) => id !== ""),
        labels: fc.dictionary(malformedText, malformedText, { maxKeys: 3 }),
        clusterName: fc.oneof(fc.constantFrom("paris", "rome"), malformedText),
      },
      { requiredKeys: ["token", "certificateRequest", "clientId", "labels"] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(odd, { maxLength: 12 }), async (requests) => {
        const { enrolment, clusters, clock } = await start();

        for (const each of requests) {
          const before = clusters.size;
          const outcome = await answer(enrolment.enroll(each, peer));
          assert.ok(clusters.size === before || each.token === token, outcome);
          await clock.advance(10_000);
        }

        const clients = clusters.list().map(({ spec }) => spec.clientID);
        assert.equal(new Set(clients).size, clients.length, clients.join());
      }),
      { numRuns: 60 },
    );
  });

  test("of one client is rate limited, and others are not affected", async () => {
    const { enrolment } = await start();
    const answers = new Set<string>();

    for (let times = 0; times < 50; times += 1)
      answers.add(await answer(enrolment.enroll(request, peer)));

    assert.ok(answers.has("RESOURCE_EXHAUSTED"));
    const rome = { ...request, certificateRequest: other, clientId: "rome" };
    assert.match(await answer(enrolment.enroll(rome, peer)), /^cluster-/);
  });

  test("with a valid token does not wait for others with invalid tokens at the same address", async () => {
    const { enrolment, clock } = await start();
    for (let second = 0; second < 60; second += 1) {
      for (let at = 0; at < 20; at += 1) {
        const wrong = { ...request, token: "", certificateRequest: other, clientId: `bad-${at}` };
        await answer(enrolment.enroll(wrong, peer));
      }
      await clock.advance(1_000);
    }

    assert.match(await answer(enrolment.enroll(request, peer)), /^cluster-/);
  });

  test("that is rejected is counted, and logged once a minute with client and reason; a failure of the hub is not counted", async () => {
    const { enrolment, clock, lines, rest, metrics } = await start();
    const wrong = { ...request, token: "" };
    await answer(enrolment.enroll(wrong, peer));
    await clock.advance(30_000);
    await answer(enrolment.enroll(wrong, peer));
    await clock.advance(30_000);
    await answer(enrolment.enroll(wrong, peer));
    Object.assign(rest, { get: () => Promise.reject(new Error("the API server is unavailable")) });

    assert.equal(await answer(enrolment.enroll(request, peer)), "UNAVAILABLE");

    const who = { peer: "10.0.0.1", clientId: "paris" };
    const [first, second, ...others] = lines;
    assert.deepEqual([first?.message, second?.message], Array(2).fill("rejected an enrolment"));
    assert.match(String(first?.err), /no Cluster of this hub is enrolled with the agent's key/);
    assert.deepEqual(others, [
      { ...who, err: "the API server is unavailable", message: "cannot enrol an agent" },
    ]);
    assert.match(
      await metrics.getSingleMetricAsString("flotilla_hub_rejected_total"),
      /reason="enrolment"\} 3$/m,
    );
  });

  test("with a taken name gets another one, and an Event", async () => {
    const { enrolment, clusters, events } = await start();
    const named = { ...request, clusterName: "paris" };
    assert.equal(await answer(enrolment.enroll(named, peer)), "paris");
    assert.deepEqual(events, []);

    const second = { ...named, certificateRequest: other, clientId: "other" };
    const name = await answer(enrolment.enroll(second, peer));

    assert.match(name, /^cluster-/);
    assert.equal(clusters.size, 2);
    assert.deepEqual(events, [
      `${name} NameTaken: the agent requested the name paris, which another Cluster has; this one is named ${name}`,
    ]);
  });

  test("with a wrong token uses up nobody's limit, whether of one sender or of many", async () => {
    const { enrolment, rest } = await start();
    const wrong = { ...request, token: `${tokenUid}.wrong` };
    const flood = Array.from({ length: 2_000 }, (_, at) =>
      answer(enrolment.enroll({ ...wrong, clientId: `made-${at}` }, `10.0.${at % 200}.1:1234`)),
    );
    assert.deepEqual([...new Set(await Promise.all(flood))], ["UNAUTHENTICATED"]);
    assert.deepEqual(
      rest.reads.filter((read) => read.startsWith("secrets ")),
      [`secrets ${workspace}/token`],
    );

    assert.match(await answer(enrolment.enroll(request, "10.0.0.1:1234")), /^cluster-/);
  });

  test("can be renewed up to the limit", async () => {
    const { enrolment, clock } = await start();
    const { clusterName: name, clusterUid: uid } = await enrolment.enroll(request, peer);
    const identity = { hubId: "hub", namespace: workspace, name, uid };
    const renew = () =>
      answer(enrolment.renew(identity, own).then(() => ({ clusterName: "renewed" })));
    const answers: string[] = [];

    for (let times = 0; times < 100; times += 1) answers.push(await renew());

    assert.ok(answers.filter((one) => one === "renewed").length < 20);
    assert.equal(answers.at(-1), "RESOURCE_EXHAUSTED");
    await clock.advance(60_000);
    assert.equal(await renew(), "renewed");
  });
});
