/** The queue of writes of the identity Secret. Each write is computed when it begins, from the state at that time. Pure. */
import { unreachable } from "@flotilla/shared/errors";
import { type AgentIdentity, renewedWith, type StoredIdentity } from "./agent-identity.ts";
import type { IdentityState, Write } from "./identity-state.ts";
import {
  adopt,
  and,
  isCurrent,
  stay,
  storedAs,
  succeeded,
  type Transition,
  then,
} from "./identity-transitions.ts";

export function enqueueWrite(state: IdentityState, entry: Write): Transition {
  return nextWrite({ ...state, writes: [...state.writes, entry] });
}

/** Begins the first write of the queue, unless one is in flight. An entry without changes completes at once. */
export function nextWrite(state: IdentityState): Transition {
  const [entry] = state.writes;
  if (entry === undefined || state.isWriting) return stay(state);
  const { current, nextKey } = state;
  switch (entry.kind) {
    case "key":
      return save(state, { keyPem: entry.keyPem });
    case "next-key": {
      const stored = current === undefined ? entry.stored : storedAs(current.identity);
      return save(state, { ...stored, nextKey: entry.nextKey });
    }
    case "enrolment":
      return save(state, toStored(entry.credential.identity, nextKey));
    case "renewal":
      // Another identity may have replaced the one that was renewed.
      return isCurrent(state, entry.of)
        ? save(state, toStored(renewedWith(state.current.identity, entry.certificate), nextKey))
        : skip(state);
    case "move": {
      if (current === undefined) return skip(state);
      const isMoved = current.identity.hubAddress !== entry.hubAddress;
      if (!isMoved && !state.isDirty) return skip(state);
      const identity = { ...current.identity, hubAddress: entry.hubAddress };
      const adopted = isMoved ? adopt(state, { ...current, identity }) : stay(state);
      return and(
        save({ ...adopted.state, isDirty: true }, toStored(identity, nextKey)),
        ...adopted.effects,
      );
    }
    case "authorities": {
      const { authoritiesPem, hubId } = entry;
      if (current?.identity.hubId !== hubId || current.identity.authoritiesPem === authoritiesPem)
        return skip(state);
      const identity = { ...current.identity, authoritiesPem };
      return save({ ...state, current: { ...current, identity } }, toStored(identity, nextKey));
    }
    default:
      return unreachable(entry);
  }
}

function save(state: IdentityState, stored: StoredIdentity): Transition {
  return { state: { ...state, isWriting: true }, effects: [{ kind: "save", stored }] };
}

/** The first entry has no changes to write. */
function skip(state: IdentityState): Transition {
  const [entry, ...writes] = state.writes;
  const left = { ...state, writes };
  if (entry?.kind === "renewal")
    return and(nextWrite(left), { kind: "settle", call: entry.call, identity: entry.of });
  if (entry?.kind === "authorities")
    return and(nextWrite(left), { kind: "settle", call: entry.call });
  return then(nextWrite(left), (state) => succeeded(state, []));
}

function toStored(identity: AgentIdentity, nextKey: IdentityState["nextKey"]): StoredIdentity {
  const isUsed = nextKey === undefined || nextKey.keyPem === identity.keyPem;
  return { ...storedAs(identity), ...(!isUsed && { nextKey }) };
}
