/** An agent that sends any messages in any order, while any events happen on the hub. */

import assert from "node:assert/strict";
import {
  type AgentMessage,
  agentMessageToWire,
  loadFleetService,
  type ReadAgentMessage,
  supportedVersions,
} from "@flotilla/proto";
import { agentMessage } from "@flotilla/proto/testing";
import { settle } from "@flotilla/shared/time/testing";
import { status } from "@grpc/grpc-js";
import fc from "fast-check";
import { describe, test } from "vitest";
import { hubErrors } from "../../base/errors/hub-errors.ts";
import {
  aDeployment,
  deployed,
  openTestSession,
  type TestSession,
  testHubId,
} from "../../testing/index.ts";
import { RpcError } from "../rpc/errors.ts";
import { type Incoming, withIncomingDecoders } from "../rpc/incoming.ts";

const { requestSerialize, requestDeserialize } = withIncomingDecoders(
  loadFleetService().service,
).Connect;

function wire(message: AgentMessage): Incoming<ReadAgentMessage> {
  return requestDeserialize(requestSerialize(agentMessageToWire(message)));
}

const hello: AgentMessage = {
  kind: "hello",
  versions: supportedVersions,
  hubId: testHubId,
  agentVersion: "1",
  agentNamespace: "test",
  deployments: [],
  referencedObjects: [],
};

const names = ["web", "db", "other"] as const;
const name = fc.constantFrom(...names);
/** The UID of the present deployment, of an earlier one, or of another cluster. */
const key = fc
  .tuple(
    fc.constantFrom("web", "web", "web", ...names),
    fc.constantFrom("", "", "", "-earlier", "-elsewhere"),
  )
  .map(([name, more]) => ({ name, uid: `uid-${name}-paris${more}` }));

/** Messages that are plausible here, so that many sequences get past the start. */
const plausible: fc.Arbitrary<AgentMessage> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(hello) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(key, fc.nat(9))
      .map(([key, sequence]) => ({ kind: "state", sequence, state: deployed(key) }) as const),
  },
  { weight: 3, arbitrary: key.map((deployment) => ({ kind: "withdrawn", deployment }) as const) },
  {
    weight: 1,
    arbitrary: key.map((deployment) => ({ kind: "deploymentAck", deployment }) as const),
  },
);

type Step = readonly [what: string, run: (test: TestSession) => void | Promise<void>];

function step(what: string, run: Step[1]): Step {
  return [what, run];
}

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: plausible.map((message) =>
      step(`send ${JSON.stringify(message)}`, (test) => test.send(wire(message))),
    ),
  },
  {
    weight: 1,
    arbitrary: agentMessage.map((message) =>
      step("say anything", (test) => test.send(wire(message))),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .uint8Array({ maxLength: 20 })
      .map((bytes) =>
        step(`say bytes ${bytes.join()}`, (test) =>
          test.send(requestDeserialize(Buffer.from(bytes))),
        ),
      ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(name, fc.constantFrom("", "-earlier"), fc.boolean())
      .map(([name, more, isDeleted]) =>
        step(`desire ${name}${more}${isDeleted ? ", deleted" : ""}`, ({ desired, session }) => {
          const metadata = {
            uid: `uid-${name}-paris${more}`,
            ...(isDeleted && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
          };
          desired.set(name, aDeployment("paris", { bundle: name, metadata }));
          session.changed({ kind: "deployment", name });
          session.deploymentsChanged(name);
        }),
      ),
  },
  {
    weight: 1,
    arbitrary: name.map((name) =>
      step(`lose ${name}`, ({ desired, session }) => {
        desired.delete(name);
        session.deploymentsChanged(name);
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      step("facts", ({ session }) => session.changed({ kind: "clusterInfo" })),
      step("referenced object", ({ session }) =>
        session.changed({ kind: "referencedObject", ref: { kind: "Secret", name: "a" } }),
      ),
      step("reports cannot be stored", (test) => test.failReports()),
      step("connections cannot be recorded", (test) => test.failRegistration()),
      step("the connection is closed", (test) => test.disconnect()),
      step("the agent closes the stream", (test) => test.endRequests()),
      step("half an hour", ({ clock }) => clock.advance(1_800_000)),
      step("another stream", ({ session }) =>
        session.end(new RpcError(status.ABORTED, hubErrors.AGENT_REPLACED, "replaced")),
      ),
    ),
  },
  { weight: 4, arbitrary: fc.constant(step("a moment", () => settle())) },
);

/** Most begin with valid messages, or few would connect. */
const begun: readonly Step[] = [
  step("desire web", ({ desired }) => void desired.set("web", aDeployment("paris"))),
  step("say hello", (test) => test.send(wire(hello))),
  step("a moment", () => settle()),
];
const sequences = fc
  .tuple(fc.constantFrom([], begun, begun, begun), fc.array(steps, { maxLength: 30 }))
  .map((parts) => parts.flat());

describe("a session", () => {
  test("stores only reports of its cluster, ends at most once, and leaves no timers", async () => {
    const seen = { welcomed: 0, kept: 0, ended: 0 };
    await fc.assert(
      fc.asyncProperty(sequences, async (sequence) => {
        const test = openTestSession();

        for (const [, run] of sequence) {
          const before = test.sent.length;
          const wasOver = test.ends.length > 0;
          await run(test);
          if (wasOver) assert.equal(test.sent.length, before, "sent after the end");
        }
        await settle();

        for (const { kind, name, uid, place, deployment } of test.stored) {
          assert.equal(deployment?.metadata.uid, uid, `${kind} of ${name}`);
          if (kind === "withdrawn") assert.ok(deployment.metadata.deletionTimestamp !== undefined);
          else assert.equal(place?.epoch, 1);
        }
        assert.ok(test.ends.length <= 1, test.ends.join());
        const isWelcomed = test.presence.includes("connected");
        seen.welcomed += isWelcomed ? 1 : 0;
        seen.kept += test.stored.length;
        seen.ended += test.ends.length;

        test.disconnect();
        await test.session.ended;
        assert.deepEqual(test.presence, ["opened", ...(isWelcomed ? ["connected"] : []), "closed"]);
        assert.deepEqual(test.clock.waiting(), [], "timers");
      }),
      { numRuns: 500 },
    );
    // Sequences that never connect would prove nothing.
    assert.ok(seen.welcomed > 50 && seen.kept > 50 && seen.ended > 50, JSON.stringify(seen));
  });

  test("is ended when its agent reported on a deployment before the cache had it, so that the agent repeats the report", async () => {
    const test = openTestSession();
    const web = { name: "web", uid: "uid-web-paris" };
    const holding = { ...web, deploymentId: "sha256:1", paused: false, withdrawing: false };
    test.send(wire({ ...hello, deployments: [holding] }));
    await settle();
    test.send(wire({ kind: "state", sequence: 1, state: deployed(web) }));
    await settle();
    assert.ok(!test.sent.some(({ stateAck }) => stateAck), "it is not acknowledged");
    assert.deepEqual(test.ends, []);

    test.desired.set("web", aDeployment("paris"));
    test.session.changed({ kind: "deployment", name: "web" });

    assert.deepEqual(test.ends, ["error"]);
    await test.session.ended;
  });

  for (const [when, before] of [
    ["as its first message", []],
    ["after the welcome", [wire(hello)]],
  ] as const) {
    test(`whose agent sends an undecodable message ${when} is ended with the reason, counted and logged`, async () => {
      const test = openTestSession();
      for (const message of before) test.send(message);
      await settle();

      test.send(requestDeserialize(Buffer.from("ffffffffffff", "hex")));
      await settle();

      const [why = ""] = test.errorMessages;
      assert.match(why, /^the message of 6 bytes cannot be decoded: /);
      assert.equal(test.errorMessages.length, 1);
      assert.deepEqual(test.warnings, [
        { cluster: "fleet-default/paris", err: why, reason: "protocol_violation" },
      ]);
      const counted = await test.metrics.getSingleMetricAsString("flotilla_hub_rejected_total");
      assert.match(counted, /reason="protocol_violation"\} 1$/m);
      test.disconnect();
      await test.session.ended;
    });
  }

  test("whose agent is one minor version newer logs a warning", async () => {
    const test = openTestSession();
    test.send(wire({ ...hello, agentVersion: "1.1.0" }));
    await settle();

    const why =
      "the agent has version 1.1.0, the hub 1.0.0: the agent is newer; upgrade the hub first";
    assert.deepEqual(test.warnings, [{ why }]);
    test.disconnect();
    await test.session.ended;
  });

  test("whose agent has a version that the hub does not support is ended with what to upgrade", async () => {
    const test = openTestSession();
    test.send(wire({ ...hello, agentVersion: "2.0.0" }));
    await settle();

    assert.deepEqual(test.errorMessages, [
      "the agent has version 2.0.0, the hub 1.0.0: another major version is not supported; upgrade the hub; what it has installed keeps running",
    ]);
    test.disconnect();
    await test.session.ended;
  });

  test("whose agent does not read queues one message for each deployment", async () => {
    const test = openTestSession();
    const setDesired = (name: string, change: number): void => {
      const spec = { deploymentID: `sha256:${change}`, stagedDeploymentID: `sha256:${change}` };
      test.desired.set(name, aDeployment("paris", { bundle: name, spec }));
      test.session.changed({ kind: "deployment", name });
    };
    test.send(wire(hello));
    await settle();
    const before = test.sent.length;
    test.setReading(false);

    for (let change = 1; change <= 5_000; change += 1) {
      for (const name of names) setDesired(name, change);
      if (change % 100 === 0) await test.clock.advance(60_000);
    }
    assert.equal(test.sent.length, before + 1, "the one that was under way");
    test.setReading(true);
    await settle();

    const message = test.sent.slice(before + 1).map(({ deployment }) => deployment?.deploymentId);
    assert.deepEqual(message, ["sha256:5000", "sha256:5000", "sha256:5000"]);
    test.disconnect();
    await test.session.ended;
  });
});
