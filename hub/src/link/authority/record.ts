/** The hub's authority as stored in the Secret flotilla-ca, also during a rotation. Pure. */

import {
  certificateLifetimeAnnotation,
  rotationHandledAnnotation,
  rotationPhaseAnnotation,
  rotationRequestAnnotation,
  rotationSinceAnnotation,
} from "@flotilla/shared/api/names";
import type { Secret } from "@flotilla/shared/kube/objects";
import { formatTimeMs, parseGoDuration } from "@flotilla/shared/time";
import type { StoredAuthority } from "./certificate-authority.ts";
import { dataOf } from "./hub-secrets.ts";

/** The phase of a rotation. `since`: its start, ms since 1970; undefined when the Secret was edited and has none. */
export type AuthorityPhase =
  | { readonly kind: "steady" }
  /** The next authority is trusted; the current one still signs. */
  | {
      readonly kind: "introducing";
      readonly next: StoredAuthority;
      readonly since: number | undefined;
    }
  /** The new one signs; the previous one is still trusted. */
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
  /** The last request that was handled. */
  readonly handled: string | undefined;
  /** The longest validity of agents' certificates on any replica; undefined when not recorded. */
  readonly lifetimeMs: number | undefined;
}

const keys = {
  certificate: "tls.crt",
  key: "tls.key",
  nextCertificate: "next.crt",
  nextKey: "next.key",
  previousCertificate: "previous.crt",
} as const;

/** Throws SECRET_INVALID when the signing pair is missing. It is validated when it is opened. */
export function readRecord(secret: Secret): AuthorityRecord {
  const annotations = secret.metadata.annotations ?? {};
  return {
    signing: {
      certificatePem: dataOf(secret, keys.certificate).toString(),
      keyPem: dataOf(secret, keys.key).toString(),
    },
    phase: phaseOf(secret),
    request: annotations[rotationRequestAnnotation],
    handled: annotations[rotationHandledAnnotation],
    lifetimeMs: parseGoDuration(annotations[certificateLifetimeAnnotation] ?? ""),
  };
}

/** Decided by the data of the Secret: the phase in the annotations is informational. */
function phaseOf(secret: Secret): AuthorityPhase {
  const stamp = Date.parse(secret.metadata.annotations?.[rotationSinceAnnotation] ?? "");
  const since = Number.isNaN(stamp) ? undefined : stamp;
  const read = (key: string): string => Buffer.from(secret.data?.[key] ?? "", "base64").toString();
  const next = { certificatePem: read(keys.nextCertificate), keyPem: read(keys.nextKey) };
  if (next.certificatePem !== "" && next.keyPem !== "") return { kind: "introducing", next, since };
  const previousPem = read(keys.previousCertificate);
  return previousPem === "" ? { kind: "steady" } : { kind: "switched", previousPem, since };
}

/** `secret` with the record; other annotations stay. */
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
  const own: Readonly<Record<string, string | undefined>> = {
    [rotationRequestAnnotation]: record.request,
    [rotationHandledAnnotation]: record.handled,
    [rotationPhaseAnnotation]: phase.kind,
    [rotationSinceAnnotation]: since === undefined ? undefined : formatTimeMs(since),
    [certificateLifetimeAnnotation]:
      record.lifetimeMs === undefined ? undefined : `${record.lifetimeMs / 1_000}s`,
  };
  const annotations: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...secret.metadata.annotations, ...own })) {
    if (value !== undefined) annotations[name] = value;
  }
  return {
    ...secret,
    metadata: { ...secret.metadata, annotations },
    data: Object.fromEntries(
      Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
    ),
  };
}

/** The authorities that hub and agents trust, PEM, oldest first, so that the list does not change when the next one signs. */
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
