/** The hub's authority as the Secret flotilla-ca has it, also in the middle of a rotation. Pure. */
import {
  certificateLifetimeAnnotation,
  rotationHandledAnnotation,
  rotationPhaseAnnotation,
  rotationRequestAnnotation,
  rotationSinceAnnotation,
} from "@flotilla/shared/api/names.ts";
import type { Secret } from "@flotilla/shared/kube/objects/core-resources.ts";
import { parseGoDuration } from "@flotilla/shared/time/go-duration.ts";
import type { StoredAuthority } from "./certificate-authority.ts";
import { dataOf } from "./ensure-secret.ts";

/**
 * Where a rotation stands. `since` is when that began, ms since 1970; absent where nobody can tell, because somebody else
 * has written there.
 */
export type AuthorityPhase =
  | { readonly kind: "steady" }
  /** The next authority is trusted; the one of before still signs. */
  | {
      readonly kind: "introducing";
      readonly next: StoredAuthority;
      readonly since: number | undefined;
    }
  /** The new one signs; the one of before is still trusted. */
  | {
      readonly kind: "switched";
      readonly previousPem: string;
      readonly since: number | undefined;
    };

export interface AuthorityRecord {
  readonly signing: StoredAuthority;
  readonly phase: AuthorityPhase;
  /** Any new value is one request to rotate. */
  readonly request: string | undefined;
  /** The request that was answered last. */
  readonly handled: string | undefined;
  /** The longest life that any replica gives to agents' certificates; absent where none has said so. */
  readonly lifetimeMs: number | undefined;
}

const keys = {
  certificate: "tls.crt",
  key: "tls.key",
  nextCertificate: "next.crt",
  nextKey: "next.key",
  previousCertificate: "previous.crt",
} as const;

/** Throws SECRET_INVALID where the signing pair is not there. Whether it is any good shows when it is opened. */
export function readRecord(secret: Secret): AuthorityRecord {
  const said = secret.metadata.annotations ?? {};
  return {
    signing: {
      certificatePem: dataOf(secret, keys.certificate).toString(),
      keyPem: dataOf(secret, keys.key).toString(),
    },
    phase: phaseOf(secret),
    request: said[rotationRequestAnnotation],
    handled: said[rotationHandledAnnotation],
    lifetimeMs: parseGoDuration(said[certificateLifetimeAnnotation] ?? ""),
  };
}

/** What is in the Secret decides, not what is noted on it: the phase in the annotations is for people. */
function phaseOf(secret: Secret): AuthorityPhase {
  const stamp = Date.parse(secret.metadata.annotations?.[rotationSinceAnnotation] ?? "");
  const since = Number.isNaN(stamp) ? undefined : stamp;
  const read = (key: string): string => Buffer.from(secret.data?.[key] ?? "", "base64").toString();
  const next = { certificatePem: read(keys.nextCertificate), keyPem: read(keys.nextKey) };
  if (next.certificatePem !== "" && next.keyPem !== "") return { kind: "introducing", next, since };
  const previousPem = read(keys.previousCertificate);
  return previousPem === "" ? { kind: "steady" } : { kind: "switched", previousPem, since };
}

/** `secret` with what the record says; what else is noted on it stays. */
export function withRecord(secret: Secret, record: AuthorityRecord): Secret {
  const { phase, signing } = record;
  const texts = {
    [keys.certificate]: signing.certificatePem,
    [keys.key]: signing.keyPem,
    ...(phase.kind === "introducing" && {
      [keys.nextCertificate]: phase.next.certificatePem,
      [keys.nextKey]: phase.next.keyPem,
    }),
    ...(phase.kind === "switched" && { [keys.previousCertificate]: phase.previousPem }),
  };
  const since = phase.kind === "steady" ? undefined : phase.since;
  const ours: Readonly<Record<string, string | undefined>> = {
    [rotationRequestAnnotation]: record.request,
    [rotationHandledAnnotation]: record.handled,
    [rotationPhaseAnnotation]: phase.kind,
    [rotationSinceAnnotation]: since === undefined ? undefined : new Date(since).toISOString(),
    [certificateLifetimeAnnotation]:
      record.lifetimeMs === undefined ? undefined : `${record.lifetimeMs / 1_000}s`,
  };
  const noted: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...secret.metadata.annotations, ...ours })) {
    if (value !== undefined) noted[name] = value;
  }
  return {
    ...secret,
    metadata: { ...secret.metadata, annotations: noted },
    data: Object.fromEntries(
      Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
    ),
  };
}

/**
 * What hub and agents trust, PEM. In the order in which they were made, so that the list does not change with the one
 * that signs.
 */
export function trustedBy({ signing, phase }: AuthorityRecord): string {
  const own = signing.certificatePem;
  switch (phase.kind) {
    case "steady":
      return own;
    case "introducing":
      return joined(own, phase.next.certificatePem);
    case "switched":
      return joined(phase.previousPem, own);
  }
}

function joined(first: string, second: string): string {
  return `${first.trim()}\n${second.trim()}\n`;
}
