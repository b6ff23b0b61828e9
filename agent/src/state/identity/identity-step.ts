/** The transitions of the agent's identity. Pure: `step` takes the state and an event, and returns the state and effects. */
import { bootstrapSecretName } from "@flotilla/shared/api/names";
import { AppError, unreachable } from "@flotilla/shared/errors";
import { agentErrors } from "../../base/errors/index.ts";
import { renewedWith, type StoredIdentity } from "./agent-identity.ts";
import type { Bootstrap } from "./bootstrap.ts";
import {
  type Activity,
  type Enrolment,
  type IdentityEvent,
  type IdentityState,
  type Pass,
  type PassWithKey,
  phaseOf,
  type Write,
} from "./identity-state.ts";
import {
  adopt,
  adoptLoaded,
  and,
  clean,
  end,
  isCurrent,
  readBootstrap,
  stay,
  succeeded,
  type Transition,
  then,
  wake,
} from "./identity-transitions.ts";
import { enqueueWrite, nextWrite } from "./identity-writes.ts";
import { planEnrolment } from "./plan-enrolment.ts";

/** `now`: ms since 1970. */
export function step(state: IdentityState, event: IdentityEvent, now: number): Transition {
  const { activity } = state;
  switch (event.kind) {
    case "wake":
      return wake(state);
    case "loaded":
      return loaded(state, event);
    case "bootstrap-read":
      return activity.kind === "reading-bootstrap"
        ? decide(state, activity.pass, event.bootstrap, now)
        : stay(state);
    case "key-created":
      return activity.kind === "creating-key"
        ? keyCreated(state, activity, event.keyPem)
        : stay(state);
    case "enrolled":
      return activity.kind === "enrolling"
        ? and(
            enqueueWrite(
              { ...state, activity: { kind: "storing", pass: activity.pass } },
              {
                kind: "enrolment",
                credential: event.credential,
              },
            ),
            { kind: "log", what: "enrolled", identity: event.credential.identity },
          )
        : stay(state);
    case "failed":
      return failed(state, event.error, now);
    case "renewed":
      return enqueueWrite(state, { ...event, kind: "renewal" });
    case "authorities":
      return enqueueWrite(state, event);
    case "written":
      return written(state, now);
    case "write-failed":
      return writeFailed(state, event.error, now);
    case "expired":
      return isCurrent(state, event.identity)
        ? wake({ ...state, current: { ...state.current, expiresAt: 0 } })
        : stay(state);
    case "unauthenticated":
      return isCurrent(state, event.identity) && !state.current.isRejected
        ? wake({ ...state, current: { ...state.current, isRejected: true } })
        : stay(state);
    default:
      return unreachable(event);
  }
}

function loaded(state: IdentityState, { stored, credential }: Pass): Transition {
  if (state.activity.kind !== "loading") return stay(state);
  const nextKey = state.nextKey ?? stored?.nextKey;
  return readBootstrap({ ...state, nextKey }, { stored, credential });
}

function decide(
  state: IdentityState,
  pass: Pass,
  bootstrap: Bootstrap | undefined,
  now: number,
): Transition {
  const credential = state.current ?? pass.credential;
  const plan = planEnrolment({
    enrolled: credential?.identity,
    isCertificateValid:
      credential !== undefined && credential.expiresAt > now && !credential.isRejected,
    bootstrap,
  });
  switch (plan.kind) {
    case "keep": {
      const adopted = adoptLoaded(state, pass);
      const storing = { ...adopted.state, activity: { kind: "storing", pass } as const };
      return and(
        enqueueWrite(storing, { kind: "move", hubAddress: plan.hubAddress }),
        ...adopted.effects,
      );
    }
    case "missing":
      return failed(
        state,
        new AppError(
          agentErrors.BOOTSTRAP_MISSING,
          `there is no Secret ${bootstrapSecretName} in the agent's namespace to enrol with; copy the data of a registration token's Secret there`,
        ),
        now,
      );
    case "enroll": {
      const enrolment = { plan, bootstrap };
      if (pass.stored !== undefined)
        return enroll(state, { ...pass, stored: pass.stored }, enrolment);
      return createKey(state, pass, enrolment);
    }
    default:
      return unreachable(plan);
  }
}

function createKey(state: IdentityState, pass: Pass, enrolment: Enrolment): Transition {
  return {
    state: { ...state, activity: { kind: "creating-key", pass, enrolment } },
    effects: [{ kind: "create-key" }],
  };
}

/** The key is stored before it is used: an agent that is killed while it enrols registers as the same Cluster again. */
function keyCreated(
  state: IdentityState,
  { pass, enrolment }: Extract<Activity, { kind: "creating-key" }>,
  keyPem: string,
): Transition {
  const storing = { ...state, activity: { kind: "storing", pass, enrolment } as const };
  const { stored } = pass;
  if (stored === undefined) return enqueueWrite(storing, { kind: "key", keyPem });
  const nextKey = { keyPem, bootstrapDigest: enrolment.plan.bootstrapDigest };
  return enqueueWrite(storing, { kind: "next-key", nextKey, stored });
}

function enroll(state: IdentityState, pass: PassWithKey, enrolment: Enrolment): Transition {
  const { nextKey } = state;
  const isNextKey = nextKey?.bootstrapDigest === enrolment.plan.bootstrapDigest;
  const keyPem = isNextKey ? nextKey.keyPem : pass.stored.keyPem;
  return {
    state: { ...state, activity: { kind: "enrolling", pass, enrolment, isNextKey } },
    effects: [{ kind: "enroll", keyPem, enrolment }],
  };
}

/** An identity that was loaded and is still valid stays in use after any failure of the pass. */
function failed(state: IdentityState, thrown: AppError, now: number): Transition {
  const { activity } = state;
  if (activity.kind === "idle") return stay(state);
  const isEnrolling = activity.kind === "enrolling";
  if (isEnrolling && !activity.isNextKey && thrown.code === agentErrors.KEY_REVOKED.code)
    return createKey(state, activity.pass, activity.enrolment);
  const error = isEnrolling
    ? new AppError(agentErrors.ENROLMENT_FAILED, thrown.message, { cause: thrown })
    : thrown;
  const pass = activity.kind === "loading" ? {} : activity.pass;
  const isValid = pass.credential !== undefined && pass.credential.expiresAt > now;
  const adopted = isValid ? adoptLoaded(state, pass) : stay(state);
  const phase = phaseOf(adopted.state, now);
  const failures = state.failures + 1;
  const what =
    phase === "unregistered" || phase === "expired"
      ? "unregistered"
      : state.isDirty
        ? "not-stored"
        : "not-enrolled";
  return end({ ...adopted.state, failures, lastError: error.message }, [
    ...adopted.effects,
    { kind: "retry", error, failures, what },
  ]);
}

function written(state: IdentityState, now: number): Transition {
  const [entry, ...writes] = state.writes;
  if (entry === undefined) return stay(state);
  return then(complete({ ...state, writes, isWriting: false }, entry, now), nextWrite);
}

function complete(state: IdentityState, entry: Write, now: number): Transition {
  const { activity } = state;
  switch (entry.kind) {
    case "key":
      return goOn(state, activity, { keyPem: entry.keyPem }, now);
    case "next-key":
      return and(goOn({ ...state, nextKey: entry.nextKey }, activity, entry.stored, now), {
        kind: "log",
        what: "key-replaced",
      });
    case "enrolment": {
      const { identity } = entry.credential;
      const adopted = adopt(clean(state, identity), entry.credential);
      return then(adopted, (state) => succeeded(state, []));
    }
    case "renewal": {
      const identity = renewedWith(state.current?.identity ?? entry.of, entry.certificate);
      const credential = { identity, ...entry.times, isRejected: false };
      const adopted = adopt(clean(state, identity), credential);
      const settled = { kind: "settle", call: entry.call, identity } as const;
      return { state: adopted.state, effects: [...adopted.effects, settled] };
    }
    case "move":
      return succeeded(clean(state, state.current?.identity), []);
    case "authorities":
      return {
        state: clean(state, state.current?.identity),
        effects: [
          { kind: "log", what: "authorities-replaced" },
          { kind: "settle", call: entry.call },
        ],
      };
    default:
      return unreachable(entry);
  }
}

/** Enrols with the key that was stored. */
function goOn(
  state: IdentityState,
  activity: Activity,
  stored: StoredIdentity | undefined,
  now: number,
): Transition {
  if (activity.kind === "storing" && activity.enrolment !== undefined && stored !== undefined)
    return enroll(state, { ...activity.pass, stored }, activity.enrolment);
  return failed(state, AppError.from(new Error("the enrolment was interrupted")), now);
}

function writeFailed(state: IdentityState, error: AppError, now: number): Transition {
  const [entry, ...writes] = state.writes;
  const left = { ...state, writes, isWriting: false };
  switch (entry?.kind) {
    case undefined:
      return stay(state);
    case "renewal":
      return and(nextWrite(left), { kind: "settle", call: entry.call, error });
    case "authorities":
      // They are in use; the next pass stores them.
      return and(
        then(wake({ ...left, isDirty: true }), nextWrite),
        { kind: "log", what: "authorities-not-stored", error },
        { kind: "settle", call: entry.call },
      );
    default:
      return then(failed(left, error, now), nextWrite);
  }
}
