import assert from "node:assert/strict";
import { AppError } from "@flotilla/shared/errors";
import { describe, test } from "vitest";
import { agentErrors } from "../../base/errors/agent-errors.ts";
import type { AgentIdentity } from "./agent-identity.ts";
import { type Bootstrap, bootstrapDigest } from "./bootstrap.ts";
import {
  type Credential,
  type IdentityEffect,
  type IdentityEvent,
  type IdentityState,
  initialState,
  phaseOf,
} from "./identity-state.ts";
import { step } from "./identity-step.ts";

const now = 1_000;
const bootstrap: Bootstrap = { address: "hub:1", authoritiesPem: "ca", token: "token", labels: {} };
const otherToken: Bootstrap = { ...bootstrap, token: "other" };
const identity: AgentIdentity = {
  keyPem: "key",
  chainPem: "chain",
  authoritiesPem: "ca",
  hubAddress: "hub:1",
  hubId: "hub",
  clientId: "client",
  bootstrapDigest: bootstrapDigest(bootstrap),
  cluster: { namespace: "fleet-default", name: "one", uid: "u" },
};
const times = { renewAt: 5_000, expiresAt: 9_000 };
const valid: Credential = { identity, ...times, isRejected: false };
const expired: Credential = { ...valid, expiresAt: 500 };
const fresh: Credential = { ...valid, identity: { ...identity, chainPem: "fresh" } };
const enrolled: IdentityState = { ...initialState, current: valid };
const stored = { keyPem: "key", enrolled: identity };

const wake: IdentityEvent = { kind: "wake" };
const read = (found?: Bootstrap): IdentityEvent => ({ kind: "bootstrap-read", bootstrap: found });
const loaded: IdentityEvent = { kind: "loaded", stored, credential: valid };
const empty: IdentityEvent = { kind: "loaded" };
const written: IdentityEvent = { kind: "written" };
const error = new AppError(agentErrors.HUB_CALL_FAILED, "no answer");
const revoked = new AppError(agentErrors.KEY_REVOKED, "revoked");
const certificate = { chainPem: "renewed", authoritiesPem: "ca" };
const renewed: IdentityEvent = { kind: "renewed", call: 1, of: identity, certificate, times };
const authorities: IdentityEvent = {
  kind: "authorities",
  call: 2,
  hubId: "hub",
  authoritiesPem: "new ca",
};

/** The state after all events, the kinds of the last event's effects, and the effects of all events. */
function applyEvents(start: IdentityState, events: readonly IdentityEvent[]) {
  let state = start;
  let last: readonly IdentityEffect[] = [];
  const all: IdentityEffect[] = [];
  for (const event of events) {
    const next = step(state, event, now);
    state = next.state;
    last = next.effects;
    all.push(...last);
  }
  return { state, effects: last.map(({ kind }) => kind), all };
}

describe("the identity of an agent", () => {
  const cases: readonly {
    readonly name: string;
    readonly start?: IdentityState;
    readonly events: readonly IdentityEvent[];
    readonly activity: IdentityState["activity"]["kind"];
    readonly phase: ReturnType<typeof phaseOf>;
    readonly effects: readonly IdentityEffect["kind"][];
  }[] = [
    {
      name: "is loaded first",
      events: [wake],
      activity: "loading",
      phase: "unregistered",
      effects: ["load"],
    },
    {
      name: "is used from storage if the bootstrap Secret has not changed",
      events: [wake, loaded, read(bootstrap)],
      activity: "idle",
      phase: "enrolled",
      effects: ["publish", "wait"],
    },
    {
      name: "is missing without a bootstrap Secret, which is read again after a delay",
      events: [wake, empty, read()],
      activity: "idle",
      phase: "unregistered",
      effects: ["retry"],
    },
    {
      name: "starts with a new key",
      events: [wake, empty, read(bootstrap)],
      activity: "creating-key",
      phase: "unregistered",
      effects: ["create-key"],
    },
    {
      name: "has its key stored before the key is used",
      events: [wake, empty, read(bootstrap), { kind: "key-created", keyPem: "key" }],
      activity: "storing",
      phase: "unregistered",
      effects: ["save"],
    },
    {
      name: "is requested with the stored key",
      events: [wake, empty, read(bootstrap), { kind: "key-created", keyPem: "key" }, written],
      activity: "enrolling",
      phase: "unregistered",
      effects: ["enroll"],
    },
    {
      name: "is stored before it is used",
      events: [
        wake,
        { kind: "loaded", stored: { keyPem: "key" } },
        read(bootstrap),
        { kind: "enrolled", credential: valid },
      ],
      activity: "storing",
      phase: "unregistered",
      effects: ["log", "save"],
    },
    {
      name: "is used once it is stored",
      events: [
        wake,
        { kind: "loaded", stored: { keyPem: "key" } },
        read(bootstrap),
        { kind: "enrolled", credential: valid },
        written,
      ],
      activity: "idle",
      phase: "enrolled",
      effects: ["publish", "wait"],
    },
    {
      name: "stays in use when another enrolment fails",
      events: [wake, loaded, read(otherToken), { kind: "failed", error }],
      activity: "idle",
      phase: "enrolled",
      effects: ["publish", "retry"],
    },
    {
      name: "stays in use when the bootstrap Secret cannot be read",
      events: [wake, loaded, { kind: "failed", error }],
      activity: "idle",
      phase: "enrolled",
      effects: ["publish", "retry"],
    },
    {
      name: "is requested again when the stored certificate has expired",
      events: [wake, { kind: "loaded", stored, credential: expired }, read(bootstrap)],
      activity: "enrolling",
      phase: "unregistered",
      effects: ["enroll"],
    },
    {
      name: "gets a new key when the hub has revoked the old one",
      events: [wake, loaded, read(otherToken), { kind: "failed", error: revoked }],
      activity: "creating-key",
      phase: "unregistered",
      effects: ["create-key"],
    },
    {
      name: "has the new address before it is stored",
      start: enrolled,
      events: [wake, read({ ...bootstrap, address: "hub:2" })],
      activity: "storing",
      phase: "enrolled",
      effects: ["publish", "save"],
    },
    {
      name: "is requested again when the hub rejects it, and used meanwhile",
      start: enrolled,
      events: [{ kind: "unauthenticated", identity }, read(bootstrap)],
      activity: "enrolling",
      phase: "rejected",
      effects: ["enroll"],
    },
    {
      name: "is requested again when the hub reports that it has expired",
      start: enrolled,
      events: [{ kind: "expired", identity }, read(bootstrap)],
      activity: "enrolling",
      phase: "expired",
      effects: ["enroll"],
    },
    {
      name: "ignores a report about another certificate",
      start: enrolled,
      events: [{ kind: "expired", identity: fresh.identity }],
      activity: "idle",
      phase: "enrolled",
      effects: [],
    },
    {
      name: "is reconciled again at once when the bootstrap Secret changes during a reconcile",
      start: enrolled,
      events: [wake, wake, read(bootstrap)],
      activity: "reading-bootstrap",
      phase: "enrolled",
      effects: ["wait", "read-bootstrap"],
    },
    {
      name: "is stored when it is renewed during a reconcile",
      start: enrolled,
      events: [wake, renewed],
      activity: "reading-bootstrap",
      phase: "enrolled",
      effects: ["save"],
    },
    {
      name: "is used when its renewal is stored",
      start: enrolled,
      events: [renewed, written],
      activity: "idle",
      phase: "enrolled",
      effects: ["publish", "settle"],
    },
    {
      name: "is not replaced by a renewal of the previous identity",
      start: { ...enrolled, current: fresh },
      events: [renewed],
      activity: "idle",
      phase: "enrolled",
      effects: ["settle"],
    },
    {
      name: "has new authorities stored",
      start: enrolled,
      events: [authorities, written],
      activity: "idle",
      phase: "enrolled",
      effects: ["log", "settle"],
    },
    {
      name: "has authorities stored by the next reconcile if the first write failed",
      start: enrolled,
      events: [authorities, { kind: "write-failed", error }, read(bootstrap)],
      activity: "storing",
      phase: "enrolled",
      effects: ["save"],
    },
  ];
  for (const { name, start = initialState, events, activity, phase, effects } of cases) {
    test(name, () => {
      const applied = applyEvents(start, events);

      assert.equal(applied.state.activity.kind, activity);
      assert.equal(phaseOf(applied.state, now), phase);
      assert.deepEqual(applied.effects, effects);
    });
  }

  test("is stored by one write at a time, and a late renewal does not overwrite an enrolment", () => {
    const { state, all } = applyEvents(enrolled, [
      { kind: "expired", identity },
      read(bootstrap),
      { kind: "enrolled", credential: fresh },
      renewed,
      written,
    ]);

    const saved = all.flatMap((effect) => (effect.kind === "save" ? [effect.stored] : []));
    assert.deepEqual(saved, [{ keyPem: "key", enrolled: fresh.identity }]);
    assert.equal(state.current?.identity.chainPem, "fresh");
    assert.ok(all.some((effect) => effect.kind === "settle" && effect.identity === identity));
  });

  test("has no next key after it has enrolled with it", () => {
    const next = { keyPem: "next", bootstrapDigest: bootstrapDigest(otherToken) };
    const withNext: Credential = { ...fresh, identity: { ...fresh.identity, keyPem: "next" } };
    const { state, all } = applyEvents(initialState, [
      wake,
      loaded,
      read(otherToken),
      { kind: "failed", error: revoked },
      { kind: "key-created", keyPem: "next" },
      written,
      { kind: "enrolled", credential: withNext },
      written,
    ]);

    const saved = all.flatMap((effect) => (effect.kind === "save" ? [effect.stored] : []));
    assert.deepEqual(saved, [
      { ...stored, nextKey: next },
      { keyPem: "next", enrolled: withNext.identity },
    ]);
    assert.equal(state.nextKey, undefined);
  });
});
