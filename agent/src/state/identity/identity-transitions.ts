/** Building blocks of the identity's transitions: how a pass begins and ends, and how an identity is adopted. Pure. */
import type { AgentIdentity, StoredIdentity } from "./agent-identity.ts";
import type { Credential, IdentityEffect, IdentityState, Pass } from "./identity-state.ts";

export interface Transition {
  readonly state: IdentityState;
  readonly effects: readonly IdentityEffect[];
}

/** Begins a pass, or requests another one after the current pass. */
export function wake(state: IdentityState): Transition {
  if (state.activity.kind !== "idle") return stay({ ...state, isStale: true });
  const { current } = state;
  const begun = { ...state, isStale: false };
  if (current === undefined)
    return { state: { ...begun, activity: { kind: "loading" } }, effects: [{ kind: "load" }] };
  return readBootstrap(begun, { stored: storedAs(current.identity), credential: current });
}

export function readBootstrap(state: IdentityState, pass: Pass): Transition {
  return {
    state: { ...state, activity: { kind: "reading-bootstrap", pass } },
    effects: [{ kind: "read-bootstrap" }],
  };
}

export function succeeded(state: IdentityState, effects: readonly IdentityEffect[]): Transition {
  const untilMs = state.current?.expiresAt ?? 0;
  return end({ ...state, failures: 0, lastError: "" }, [...effects, { kind: "wait", untilMs }]);
}

/** The end of a pass. */
export function end(state: IdentityState, effects: readonly IdentityEffect[]): Transition {
  const idle: IdentityState = { ...state, activity: { kind: "idle" } };
  return state.isStale ? and(wake(idle), ...effects) : { state: idle, effects };
}

export function adoptLoaded(state: IdentityState, { credential }: Pass): Transition {
  return state.current === undefined && credential !== undefined
    ? adopt(state, credential)
    : stay(state);
}

export function adopt(state: IdentityState, credential: Credential): Transition {
  const before = state.current?.identity;
  const { chainPem, hubAddress } = credential.identity;
  if (before?.chainPem === chainPem && before.hubAddress === hubAddress) return stay(state);
  return {
    state: { ...state, current: { ...credential, isRejected: false } },
    effects: [{ kind: "publish", isReplacement: before !== undefined }],
  };
}

export function isCurrent(
  state: IdentityState,
  { chainPem }: AgentIdentity,
): state is IdentityState & { readonly current: Credential } {
  return state.current?.identity.chainPem === chainPem;
}

export function storedAs(identity: AgentIdentity): StoredIdentity {
  return { keyPem: identity.keyPem, enrolled: identity };
}

/** The identity is stored; the next key is not needed any more once it is in use. */
export function clean(state: IdentityState, identity: AgentIdentity | undefined): IdentityState {
  const isUsed = state.nextKey !== undefined && state.nextKey.keyPem === identity?.keyPem;
  return { ...state, isDirty: false, nextKey: isUsed ? undefined : state.nextKey };
}

export function stay(state: IdentityState): Transition {
  return { state, effects: [] };
}

/** With effects that come first. */
export function and(
  { state, effects }: Transition,
  ...first: readonly IdentityEffect[]
): Transition {
  return { state, effects: [...first, ...effects] };
}

export function then(
  { state, effects }: Transition,
  next: (state: IdentityState) => Transition,
): Transition {
  const after = next(state);
  return { state: after.state, effects: [...effects, ...after.effects] };
}
