import assert from "node:assert/strict";
import { type DeploymentKey, supportedVersions } from "@flotilla/proto";
import { status } from "@grpc/grpc-js";
import { describe, test } from "vitest";
import { hubErrors } from "../../base/errors/hub-errors.ts";
import { deployed } from "../../testing/index.ts";
import { RpcError } from "../rpc/errors.ts";
import type { Hello } from "./hello.ts";
import {
  initialState,
  type PauseReason,
  type Registration,
  type SessionEffect,
  type SessionEvent,
  type SessionState,
  step,
} from "./session-state.ts";

const ownHub = { id: "hub", version: "1.0.0" };
const hello: Hello = {
  kind: "hello",
  versions: supportedVersions,
  hubId: "hub",
  agentVersion: "1",
  agentNamespace: "agent",
  deployments: [],
  referencedObjects: [],
};
const web: DeploymentKey = { name: "web", uid: "uid-web" };
const registration: Registration = {
  hello,
  version: supportedVersions.newest,
  epoch: 7,
  recordedOrphans: ["db"],
  plan: { steps: [], orphans: ["db"] },
};
const replaced = new RpcError(status.ABORTED, hubErrors.AGENT_REPLACED, "replaced");
const garbled = new RpcError(status.INVALID_ARGUMENT, hubErrors.PROTOCOL_VIOLATION, "garbled");
const failure = new Error("API server unavailable");
const clusterInfo = { kind: "clusterInfo" } as const;

const paused: ReadonlySet<PauseReason> = new Set();
const states = {
  awaitingHello: initialState,
  registering: { kind: "registering", paused },
  connected: { kind: "connected", paused, epoch: 7, orphans: ["db"] },
  ending: { kind: "ending", why: "replaced" },
  ended: { kind: "ended" },
} as const satisfies Record<string, SessionState>;
type StateName = keyof typeof states;

const events = {
  hello: { kind: "message", message: hello },
  "hello for another hub": { kind: "message", message: { ...hello, hubId: "other" } },
  "hello of an unsupported version": {
    kind: "message",
    message: { ...hello, agentVersion: "0.9.0" },
  },
  state: { kind: "message", message: { kind: "state", sequence: 3, state: deployed(web) } },
  withdrawn: { kind: "message", message: { kind: "withdrawn", deployment: web } },
  received: { kind: "message", message: { kind: "deploymentAck", deployment: web } },
  violation: { kind: "violation", error: garbled },
  completed: { kind: "completed" },
  cancelled: { kind: "cancelled" },
  helloTimeout: { kind: "helloTimeout" },
  certificateExpired: { kind: "certificateExpired" },
  end: { kind: "end", error: replaced },
  failed: { kind: "failed", thrown: failure, message: "cannot send" },
  registered: { kind: "registered", registration },
  registrationSkipped: { kind: "registrationSkipped" },
  registrationFailed: { kind: "registrationFailed", thrown: failure },
  paused: { kind: "paused", reason: "rate" },
  resumed: { kind: "resumed", reason: "rate" },
  changed: { kind: "changed", subject: clusterInfo },
  reportMissed: { kind: "reportMissed", name: "web" },
  "orphan appears": { kind: "orphanChanged", name: "web", isOrphan: true },
  "orphan is known again": { kind: "orphanChanged", name: "db", isOrphan: false },
  "no orphan": { kind: "orphanChanged", name: "web", isOrphan: false },
} as const satisfies Record<string, SessionEvent>;
type EventName = keyof typeof events;

/** The next state, and the effects in short; `-` means none. */
type Expected = readonly [next: StateName, ...effects: readonly string[]] | "-";

const rejected = ["ended", "reject", "close error", "release 0"] as const;
const rejectedConnected = ["ended", "reject", "close error", "release 7"] as const;
const rejectedRegistering = ["ending", "reject", "close error"] as const;
const nothing = "-" as const;

/** Every event in every state in which a stream is open. */
const table: Readonly<
  Record<EventName, Readonly<Record<"awaitingHello" | "registering" | "connected", Expected>>>
> = {
  hello: {
    awaitingHello: ["registering", "stopHelloTimer", "register"],
    registering: rejectedRegistering,
    connected: rejectedConnected,
  },
  "hello for another hub": {
    awaitingHello: rejected,
    registering: rejectedRegistering,
    connected: rejectedConnected,
  },
  "hello of an unsupported version": {
    awaitingHello: rejected,
    registering: rejectedRegistering,
    connected: rejectedConnected,
  },
  state: {
    awaitingHello: rejected,
    registering: rejectedRegistering,
    connected: ["connected", "acceptReport 7/3"],
  },
  withdrawn: {
    awaitingHello: rejected,
    registering: ["registering", "acceptWithdrawn"],
    connected: ["connected", "acceptWithdrawn"],
  },
  received: {
    awaitingHello: rejected,
    registering: ["registering", "logStored"],
    connected: ["connected", "logStored"],
  },
  violation: {
    awaitingHello: rejected,
    registering: rejectedRegistering,
    connected: rejectedConnected,
  },
  completed: {
    awaitingHello: ["ended", "close complete", "release 0"],
    registering: ["ending", "close complete"],
    connected: ["ended", "close complete", "release 7"],
  },
  cancelled: {
    awaitingHello: ["ended", "close disconnected", "release 0"],
    registering: ["ending", "close disconnected"],
    connected: ["ended", "close disconnected", "release 7"],
  },
  helloTimeout: {
    awaitingHello: ["ended", "close error", "release 0"],
    registering: nothing,
    connected: nothing,
  },
  certificateExpired: {
    awaitingHello: ["ended", "close error", "release 0"],
    registering: ["ending", "close error"],
    connected: ["ended", "close error", "release 7"],
  },
  end: {
    awaitingHello: ["ended", "close error", "release 0"],
    registering: ["ending", "close error"],
    connected: ["ended", "close error", "release 7"],
  },
  failed: {
    awaitingHello: ["ended", "logFailure", "close error", "release 0"],
    registering: ["ending", "logFailure", "close error"],
    connected: ["ended", "logFailure", "close error", "release 7"],
  },
  registered: {
    awaitingHello: nothing,
    registering: ["connected", "startDispatch"],
    connected: nothing,
  },
  registrationSkipped: { awaitingHello: nothing, registering: nothing, connected: nothing },
  registrationFailed: {
    awaitingHello: nothing,
    registering: ["ended", "logFailure", "close error", "release 0"],
    connected: nothing,
  },
  paused: {
    awaitingHello: ["awaitingHello", "pauseReading"],
    registering: ["registering", "pauseReading"],
    connected: ["connected", "pauseReading"],
  },
  resumed: { awaitingHello: nothing, registering: nothing, connected: nothing },
  changed: {
    awaitingHello: nothing,
    registering: nothing,
    connected: ["connected", "enqueue clusterInfo"],
  },
  reportMissed: {
    awaitingHello: nothing,
    registering: nothing,
    connected: ["ended", "close error", "release 7"],
  },
  "orphan appears": {
    awaitingHello: nothing,
    registering: nothing,
    connected: ["connected", "recordOrphans db,web"],
  },
  "orphan is known again": {
    awaitingHello: nothing,
    registering: nothing,
    connected: ["connected", "recordOrphans "],
  },
  "no orphan": { awaitingHello: nothing, registering: nothing, connected: nothing },
};

function describeEffect(effect: SessionEffect): string {
  switch (effect.kind) {
    case "close":
      return `close ${effect.how instanceof RpcError ? "error" : effect.how}`;
    case "release":
      return `release ${effect.epoch}`;
    case "enqueue":
      return `enqueue ${effect.subject.kind}`;
    case "recordOrphans":
      return `recordOrphans ${effect.orphans.join()}`;
    case "acceptReport":
      return `acceptReport ${effect.position.epoch}/${effect.position.sequence}`;
    default:
      return effect.kind;
  }
}

function assertStep(from: StateName, event: EventName, expected: Expected): void {
  const { state, effects } = step(states[from], events[event], ownHub);
  const [next, ...inOrder] = expected === "-" ? [from] : expected;
  assert.equal(state.kind, next);
  assert.deepEqual(effects.map(describeEffect), inOrder);
}

describe("a session", () => {
  for (const [event, row] of Object.entries(table) as [EventName, (typeof table)[EventName]][])
    for (const [from, expected] of Object.entries(row) as [StateName, Expected][])
      test(`that is ${from} handles ${event}`, () => assertStep(from, event, expected));

  const settled: Partial<Record<EventName, Expected>> = {
    registered: ["ended", "release 7"],
    registrationSkipped: ["ended", "release 0"],
    registrationFailed: ["ended", "release 0"],
  };
  for (const event of Object.keys(events) as EventName[]) {
    test(`that is ending handles ${event}`, () =>
      assertStep("ending", event, settled[event] ?? nothing));
    test(`that is ended ignores ${event}`, () => assertStep("ended", event, nothing));
  }

  test("records orphans that changed while its registration was written", () => {
    const plan = { steps: [], orphans: ["db", "web"] };
    const event: SessionEvent = { kind: "registered", registration: { ...registration, plan } };

    const { state, effects } = step(states.registering, event, ownHub);

    assert.deepEqual(state, { ...states.connected, orphans: plan.orphans });
    assert.deepEqual(effects.map(describeEffect), ["startDispatch", "recordOrphans db,web"]);
  });

  test("reads again when no reason to pause is left", () => {
    let state: SessionState = states.connected;
    const effects: string[] = [];
    for (const [kind, reason] of [
      ["paused", "rate"],
      ["paused", "reports"],
      ["paused", "rate"],
      ["resumed", "rate"],
      ["resumed", "reports"],
    ] as const) {
      const next = step(state, { kind, reason }, ownHub);
      state = next.state;
      effects.push([`${kind} ${reason}:`, ...next.effects.map(describeEffect)].join(" "));
    }

    assert.deepEqual(effects, [
      "paused rate: pauseReading",
      "paused reports:",
      "paused rate:",
      "resumed rate:",
      "resumed reports: resumeReading",
    ]);
  });

  test("has the reason of its end, also when its registration settles later", () => {
    const ending = step(states.registering, events.completed, ownHub).state;

    const { effects } = step(ending, events.registered, ownHub);

    assert.deepEqual(effects, [{ kind: "release", epoch: 7, why: "the agent closed the stream" }]);
  });
});
