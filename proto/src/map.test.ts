import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import type { DeploymentState } from "./deployment-state.ts";
import {
  agentMessageFromWire,
  agentMessageToWire,
  certificateFromWire,
  enrollRequestFromWire,
  enrollRequestToWire,
  enrollResponseFromWire,
  enrollResponseToWire,
  hubMessageFromWire,
  hubMessageToWire,
} from "./map.ts";
import type { AgentMessage, EnrollRequest, EnrollResponse, HubMessage } from "./messages.ts";
import { loadFleetService } from "./service.ts";
import { aCertificate, agentMessage, hubMessage } from "./testing/index.ts";
import { WireError, wireLimits } from "./validation.ts";

const { Connect: connect, Enroll: enroll } = loadFleetService().service;

/** Encodes a message and decodes it as the other side does. */
const sent = {
  agent: (message: AgentMessage) =>
    agentMessageFromWire(
      connect.requestDeserialize(connect.requestSerialize(agentMessageToWire(message))),
    ),
  hub: (message: HubMessage) =>
    hubMessageFromWire(
      connect.responseDeserialize(connect.responseSerialize(hubMessageToWire(message))),
    ),
  request: (request: EnrollRequest) =>
    enrollRequestFromWire(
      enroll.requestDeserialize(enroll.requestSerialize(enrollRequestToWire(request))),
    ),
  response: (response: EnrollResponse) =>
    enrollResponseFromWire(
      enroll.responseDeserialize(enroll.responseSerialize(enrollResponseToWire(response))),
    ),
};

/** Compares contents only: protobuf's objects have other prototypes. */
function assertSame(actual: unknown, expected: unknown): void {
  assert.deepEqual(structuredClone(actual), structuredClone(expected));
}

describe("a message is unchanged by encoding and decoding", () => {
  test("of an agent", () => {
    fc.assert(fc.property(agentMessage, (message) => assertSame(sent.agent(message), message)));
  });

  test("of a hub", () => {
    fc.assert(fc.property(hubMessage, (message) => assertSame(sent.hub(message), message)));
  });

  test("a request to enrol", () => {
    const request: EnrollRequest = {
      token: "t",
      certificateRequest: Buffer.from([1, 2]),
      clientId: "c",
      labels: { region: "eu", empty: "" },
      clusterName: "paris",
    };
    const { clusterName: _, ...unnamed } = request;

    assertSame(sent.request(request), request);
    assertSame(sent.request(unnamed), unnamed);
  });

  test("a response to an enrolment", () => {
    const response: EnrollResponse = {
      certificate: { chainPem: "chain", authoritiesPem: "authorities" },
      hubId: "h",
      clusterNamespace: "fleet-default",
      clusterName: "paris",
      clusterUid: "u",
    };

    assertSame(sent.response(response), response);
  });
});

const failed: DeploymentState = {
  name: "web",
  uid: "u",
  deploymentId: "d",
  phase: "failed",
  message: "no",
  ready: false,
  notReady: [],
  resources: [],
  incomplete: false,
  counts: { desiredReady: 0, ready: 0, notReady: 0, missing: 0, unknown: 0 },
};
const pod = { apiVersion: "v1", kind: "Pod", name: "a", state: "ready" } as const;
const paris = { ...pod, state: "in-progress", message: "" } as const;

describe("the sender truncates what exceeds the limits:", () => {
  const long = "x".repeat(wireLimits.messageChars + 1);
  const cut = "x".repeat(wireLimits.messageChars);
  const cases: readonly (readonly [string, DeploymentState, Partial<DeploymentState>])[] = [
    ["a message", { ...failed, message: long }, { message: cut }],
    [
      "the message of a resource",
      { ...failed, notReady: [{ ...paris, message: long }] },
      { notReady: [{ ...paris, message: cut }] },
    ],
    [
      "the list of resources, and marks it as incomplete",
      { ...failed, resources: Array.from({ length: wireLimits.resources + 1 }, () => pod) },
      { resources: Array.from({ length: wireLimits.resources }, () => pod), incomplete: true },
    ],
    [
      "the list of resources that are not ready",
      { ...failed, notReady: Array.from({ length: wireLimits.notReady + 1 }, () => paris) },
      { notReady: Array.from({ length: wireLimits.notReady }, () => paris) },
    ],
  ];
  for (const [what, state, expected] of cases) {
    test(what, () => {
      assertSame(sent.agent({ kind: "state", sequence: 1, state }), {
        kind: "state",
        sequence: 1,
        state: { ...failed, ...expected },
      });
    });
  }
});

describe("mapping rejects", () => {
  const tooLong = "x".repeat(wireLimits.nameChars + 1);
  const hello = {
    kind: "hello",
    versions: { oldest: 1, newest: 1 },
    hubId: "h",
    agentVersion: "1",
    agentNamespace: "flotilla-agent",
    deployments: [],
    referencedObjects: [],
  } as const satisfies AgentMessage;
  const observed = { name: "a", uid: "u", deploymentId: "d", paused: false, withdrawing: false };
  const verified = {
    ...{ kind: "deployment", deployment: { name: "a", uid: "u" }, deploymentId: "d" },
    ...{ paused: false, content: Buffer.from("c") },
    verification: { diff: "d", key: Buffer.from("k"), at: "t" },
  } as const satisfies HubMessage;
  const rejected: readonly (readonly [string, () => unknown, RegExp])[] = [
    [
      "a deployment without a name",
      () => sent.agent({ kind: "withdrawn", deployment: { name: "", uid: "u" } }),
      /withdrawn\.name is empty/,
    ],
    [
      "a deployment without a UID",
      () => sent.hub({ kind: "withdrawal", deployment: { name: "a", uid: "" } }),
      /withdrawal\.uid is empty/,
    ],
    [
      "a name that is too long",
      () => sent.agent({ kind: "state", sequence: 1, state: { ...failed, name: tooLong } }),
      /state\.name has length 513; the limit is 512/,
    ],
    [
      "too many deployments",
      () =>
        sent.agent({
          ...hello,
          deployments: Array.from({ length: wireLimits.deployments + 1 }, () => observed),
        }),
      /hello\.deployments has length 10001; the limit is 10000/,
    ],
    [
      "too many referenced objects",
      () =>
        sent.agent({
          ...hello,
          referencedObjects: Array.from({ length: wireLimits.referencedObjects + 1 }, () => ({
            kind: "Secret" as const,
            name: "a",
          })),
        }),
      /hello\.referenced_objects has length 10001/,
    ],
    [
      "more capabilities than there can be",
      () => sent.agent({ ...hello, capabilities: Array.from({ length: 33 }, () => "A") }),
      /hello\.capabilities has length 33; the limit is 32/,
    ],
    [
      "authorities with other text between them",
      () => sent.hub({ kind: "authorities", pem: `${aCertificate}${aCertificate.slice(0, 100)}` }),
      /authorities\.pem is not a list of certificates/,
    ],
    [
      "no authorities",
      () => sent.hub({ kind: "authorities", pem: "" }),
      /authorities\.pem is not a list of certificates/,
    ],
    ...(["diff", "at"] as const).map(
      (field) =>
        [
          `a verification without its ${field}`,
          () => sent.hub({ ...verified, verification: { ...verified.verification, [field]: "" } }),
          new RegExp(`verification\\.${field} is empty`),
        ] as const,
    ),
    ...([0, 65] as const).map(
      (length) =>
        [
          `a verification with a key of ${length} bytes`,
          () =>
            sent.hub({
              ...verified,
              verification: { ...verified.verification, key: new Uint8Array(length) },
            }),
          /verification\.key (is empty|has length 65; the limit is 64)/,
        ] as const,
    ),
    [
      "a referenced object of another kind",
      () =>
        hubMessageFromWire(
          connect.responseDeserialize(
            connect.responseSerialize({ referencedObject: { kind: "Pod", name: "a" } }),
          ),
        ),
      /referenced_object\.kind is Pod, must be Secret or ConfigMap/,
    ],
    [
      "a sequence beyond the integers of a number",
      () => sent.hub({ kind: "stateAck", name: "a", sequence: 2 ** 53 }),
      /state_ack\.sequence is 9007199254740992, which is out of range/,
    ],
    [
      "an agent's message without a body",
      () => agentMessageFromWire(connect.requestDeserialize(Buffer.alloc(0))),
      /the agent sent a message of an unknown kind/,
    ],
    [
      "a hub's message without a body",
      () => hubMessageFromWire(connect.responseDeserialize(Buffer.alloc(0))),
      /the hub sent a message of an unknown kind/,
    ],
    [
      "a state without a phase",
      () =>
        agentMessageFromWire(
          connect.requestDeserialize(connect.requestSerialize({ state: { name: "a", uid: "u" } })),
        ),
      /state\.phase is PHASE_UNSPECIFIED, which is none of PHASE_PENDING/,
    ],
    [
      "an enrolment without a client id",
      () =>
        sent.request({
          token: "t",
          certificateRequest: new Uint8Array(),
          clientId: "",
          labels: {},
        }),
      /client_id is empty/,
    ],
    [
      "an enrolment with hundreds of labels",
      () =>
        sent.request({
          token: "t",
          certificateRequest: new Uint8Array(),
          clientId: "c",
          labels: Object.fromEntries(
            Array.from({ length: wireLimits.labels + 1 }, (_, index) => [`l${index}`, ""]),
          ),
        }),
      /labels has length 201/,
    ],
    [
      "a response without a certificate",
      () => certificateFromWire(null),
      /the hub's response has no certificate/,
    ],
  ];
  for (const [what, read, message] of rejected) {
    test(what, () => {
      assert.throws(read, (thrown) => {
        assert.ok(thrown instanceof WireError);
        assert.match(thrown.message, message);
        return true;
      });
    });
  }
});
