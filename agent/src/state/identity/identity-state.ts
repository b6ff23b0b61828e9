/**
 * The state of the agent's identity, and the events and effects of its state machine (`step`).
 *
 * A pass is one reconcile: it reads the Secrets, decides whether to enrol, and ends with an identity or an error. Writes of
 * the identity Secret are queued, so that a late renewal never overwrites an enrolment.
 */
import type { IssuedCertificate } from "@flotilla/proto";
import type { AppError } from "@flotilla/shared/errors";
import type { AgentIdentity, CertificateTimes, NextKey, StoredIdentity } from "./agent-identity.ts";
import type { Bootstrap } from "./bootstrap.ts";
import type { EnrolRequestPlan } from "./plan-enrolment.ts";

/** An identity in use. */
export interface Credential extends CertificateTimes {
  readonly identity: AgentIdentity;
  /** The hub answered UNAUTHENTICATED without a reason. The certificate stays in use until another one is issued. */
  readonly isRejected: boolean;
}

/** What a pass has found in the identity Secret. */
export interface Pass {
  readonly stored?: StoredIdentity | undefined;
  /** Its identity, which is not in use before the pass has decided to keep it. */
  readonly credential?: Credential | undefined;
}

export type PassWithKey = Pass & { readonly stored: StoredIdentity };

export interface Enrolment {
  readonly plan: EnrolRequestPlan;
  readonly bootstrap: Bootstrap | undefined;
}

/** What the current pass does. */
export type Activity =
  /** Waits for a timer, a change of the bootstrap Secret, or a report about the certificate. */
  | { readonly kind: "idle" }
  /** Reads the identity Secret. */
  | { readonly kind: "loading" }
  | { readonly kind: "reading-bootstrap"; readonly pass: Pass }
  /** With a `pass.stored`, the hub requested a new key, which replaces the current one after the enrolment. */
  | { readonly kind: "creating-key"; readonly pass: Pass; readonly enrolment: Enrolment }
  | {
      readonly kind: "enrolling";
      readonly pass: PassWithKey;
      readonly enrolment: Enrolment;
      readonly isNextKey: boolean;
    }
  /** Waits until its write of the identity Secret is done. `enrolment`: to be continued then. */
  | { readonly kind: "storing"; readonly pass: Pass; readonly enrolment?: Enrolment };

/** A write of the identity Secret. `call` identifies the caller that waits for it; without one the pass waits. */
export type Write =
  | { readonly kind: "key"; readonly keyPem: string }
  | { readonly kind: "next-key"; readonly nextKey: NextKey; readonly stored: StoredIdentity }
  | { readonly kind: "enrolment"; readonly credential: Credential }
  | { readonly kind: "move"; readonly hubAddress: string }
  | ({ readonly kind: "renewal"; readonly call: number } & Renewal)
  | ({ readonly kind: "authorities"; readonly call: number } & NewAuthorities);

export interface Renewal {
  /** The identity that was renewed. */
  readonly of: AgentIdentity;
  readonly certificate: IssuedCertificate;
  readonly times: CertificateTimes;
}

export interface NewAuthorities {
  readonly hubId: string;
  readonly authoritiesPem: string;
}

export interface IdentityState {
  readonly activity: Activity;
  /** A wake-up arrived during the pass: the next pass follows at once. */
  readonly isStale: boolean;
  readonly current: Credential | undefined;
  /** `current` differs from the identity Secret. */
  readonly isDirty: boolean;
  readonly nextKey: NextKey | undefined;
  /** The first one is in flight when `isWriting`. */
  readonly writes: readonly Write[];
  readonly isWriting: boolean;
  /** Failed passes in a row. */
  readonly failures: number;
  /** The last error of the last pass; "" when it succeeded. */
  readonly lastError: string;
}

export const initialState: IdentityState = {
  activity: { kind: "idle" },
  isStale: false,
  current: undefined,
  isDirty: false,
  nextKey: undefined,
  writes: [],
  isWriting: false,
  failures: 0,
  lastError: "",
};

export type IdentityEvent =
  /** The start, a timer, or a change of the bootstrap Secret. */
  | { readonly kind: "wake" }
  | ({ readonly kind: "loaded" } & Pass)
  | { readonly kind: "bootstrap-read"; readonly bootstrap: Bootstrap | undefined }
  /** The activity of the pass failed. */
  | { readonly kind: "failed"; readonly error: AppError }
  | { readonly kind: "key-created"; readonly keyPem: string }
  | { readonly kind: "enrolled"; readonly credential: Credential }
  | { readonly kind: "written" }
  | { readonly kind: "write-failed"; readonly error: AppError }
  | ({ readonly kind: "renewed"; readonly call: number } & Renewal)
  | ({ readonly kind: "authorities"; readonly call: number } & NewAuthorities)
  /** The hub reports that this certificate has expired. */
  | { readonly kind: "expired"; readonly identity: AgentIdentity }
  /** The hub rejects this certificate without a reason. */
  | { readonly kind: "unauthenticated"; readonly identity: AgentIdentity };

export type IdentityEffect =
  | { readonly kind: "load" }
  | { readonly kind: "read-bootstrap" }
  | { readonly kind: "create-key" }
  | { readonly kind: "enroll"; readonly keyPem: string; readonly enrolment: Enrolment }
  | { readonly kind: "save"; readonly stored: StoredIdentity }
  /** `isReplacement`: another identity was in use before. */
  | { readonly kind: "publish"; readonly isReplacement: boolean }
  /** Wake at this time, ms since 1970. */
  | { readonly kind: "wait"; readonly untilMs: number }
  | {
      readonly kind: "retry";
      readonly error: AppError;
      readonly failures: number;
      readonly what: "unregistered" | "not-stored" | "not-enrolled";
    }
  /** Resolves a caller: with an identity or an error for a renewal, without a value for authorities. */
  | {
      readonly kind: "settle";
      readonly call: number;
      readonly identity?: AgentIdentity;
      readonly error?: AppError;
    }
  | { readonly kind: "log"; readonly what: "enrolled"; readonly identity: AgentIdentity }
  | { readonly kind: "log"; readonly what: "key-replaced" | "authorities-replaced" }
  | { readonly kind: "log"; readonly what: "authorities-not-stored"; readonly error: AppError };

/** `rejected` and `enrolled` identities are used for connections. */
export type IdentityPhase = "unregistered" | "enrolled" | "rejected" | "expired";

export function phaseOf({ current }: IdentityState, now: number): IdentityPhase {
  if (current === undefined) return "unregistered";
  if (current.expiresAt <= now) return "expired";
  return current.isRejected ? "rejected" : "enrolled";
}
