/**
 * The authority as one replica uses it: watches the Secret and applies its changes without a restart.
 *
 * The cache may be stale when a watch lags or the process was frozen. So before a certificate is issued, or authorities are sent
 * to an agent, state that is older than a rotation allows is read again; concurrent callers share one read.
 */

import { authoritiesDigest, type IssuedCertificate } from "@flotilla/proto";
import { authoritySecretName } from "@flotilla/shared/api/names";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { createInformer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { isLaterVersion, keyOf, type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { hubErrors } from "../errors/index.ts";
import type { ReplicaIdentity } from "../identity/index.ts";
import {
  type CertificateAuthority,
  type ClientCertificateRequest,
  openAuthority,
  type ServingCertificate,
} from "./certificate-authority.ts";
import { rotationTimes } from "./plan-rotation.ts";
import { type AuthorityRecord, readRecord, trustedBy } from "./record.ts";
import { ensureAuthority } from "./secret.ts";

export interface LiveAuthorityDeps {
  readonly rest: KubeRest;
  /** The hub's own, which must exist. */
  readonly namespace: string;
  /** Of agents' certificates. */
  readonly lifetimeMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** The authorities that hub and agents trust. */
export interface TrustedAuthorities {
  readonly pem: string;
  readonly digest: string;
}

export interface LiveAuthority {
  /** The Secret in use. */
  readonly secret: Secret;
  readonly record: AuthorityRecord;
  readonly trusted: TrustedAuthorities;
  /** The same, read from the API server after the call. */
  confirmed(): Promise<TrustedAuthorities>;
  /** With this hub's validity of agents' certificates. */
  issueClient(request: Omit<ClientCertificateRequest, "lifetimeMs">): Promise<IssuedCertificate>;
  issueServing(names: readonly string[], lifetimeMs: number): Promise<ServingCertificate>;
  issueReplica(identity: ReplicaIdentity, lifetimeMs: number): Promise<ServingCertificate>;
  /** Called after every change of the Secret in use; returns the function that removes the listener. */
  onChange(listener: () => void): () => void;
  /** Called when the Secret is deleted; the authority in use stays. */
  onDeleted(listener: () => void): () => void;
  /** Watches the Secret until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

interface InUse {
  readonly secret: Secret;
  readonly record: AuthorityRecord;
  readonly signing: CertificateAuthority;
  readonly trusted: TrustedAuthorities;
}

/** The authority of the hub, created if there is none. */
export async function createLiveAuthority(deps: LiveAuthorityDeps): Promise<LiveAuthority> {
  const { rest, namespace, lifetimeMs, clock, log } = deps;
  const ref = { namespace, name: authoritySecretName };
  const { freshMs } = rotationTimes(lifetimeMs);
  const changeListeners = new Set<() => void>();
  const deletionListeners = new Set<() => void>();
  let confirmedAt = clock.monotonic();
  let inUse = await open(await ensureAuthority(rest, namespace, clock.now(), lifetimeMs));
  let applying: Promise<void> = Promise.resolve();
  let reading: Promise<void> = Promise.resolve();
  let nextReading: Promise<void> | undefined;
  const informer = createInformer<Secret>({
    rest,
    resource: secrets,
    namespace,
    fieldSelector: `metadata.name=${authoritySecretName}`,
    log,
    clock,
  });
  informer.onChange(({ after }) => {
    if (after === undefined) for (const listener of deletionListeners) listener();
    else void apply();
  });

  async function open(secret: Secret): Promise<InUse> {
    const record = readRecord(secret);
    const signing = await openAuthority(record.signing, () => clock.now());
    const pem = trustedBy(record);
    return { secret, record, signing, trusted: { pem, digest: authoritiesDigest(pem) } };
  }

  /** Applies the Secret that was read, or else the cached one. Never rejects: an invalid one leaves the last one in use. */
  function apply(read?: Secret): Promise<void> {
    applying = applying.then(async () => {
      const secret = read ?? informer.store.get(keyOf(ref));
      if (secret === undefined) return;
      if (secret.metadata.resourceVersion === inUse.secret.metadata.resourceVersion) return;
      try {
        inUse = await open(secret);
      } catch (thrown) {
        log.error(
          { err: messageOf(thrown) },
          "invalid authority Secret; the last valid one stays in use",
        );
        return;
      }
      for (const listener of changeListeners) listener();
    });
    return applying;
  }

  /** Starts a read after the call; concurrent callers share the next read. */
  function read(): Promise<void> {
    nextReading ??= reading
      .catch(() => undefined)
      .then(() => {
        nextReading = undefined;
        reading = readNow();
        return reading;
      });
    return nextReading;
  }

  async function readNow(): Promise<void> {
    const begunAt = clock.monotonic();
    const before = informer.store.get(keyOf(ref));
    const secret = await rest.get(secrets, ref);
    if (secret === undefined) {
      const message = `Secret ${keyOf(ref)} was deleted; the leader restores it`;
      throw new AppError(hubErrors.AUTHORITY_UNCONFIRMED, message);
    }
    informer.store.wrote(secret);
    const known = informer.store.get(keyOf(ref));
    // Only versions that arrived during this read count: a server restored from a backup has lower ones.
    const isOvertaken =
      known !== before &&
      isLaterVersion(known?.metadata.resourceVersion, secret.metadata.resourceVersion);
    await apply(isOvertaken ? known : secret);
    confirmedAt = begunAt;
  }

  async function fresh(): Promise<InUse> {
    if (clock.monotonic() - confirmedAt > freshMs) await read();
    return inUse;
  }

  return {
    get secret() {
      return inUse.secret;
    },
    get record() {
      return inUse.record;
    },
    get trusted() {
      return inUse.trusted;
    },
    async confirmed() {
      await read();
      return inUse.trusted;
    },
    async issueClient(request) {
      const { signing, trusted } = await fresh();
      const chainPem = await signing.issueClient({ ...request, lifetimeMs });
      return { chainPem, authoritiesPem: trusted.pem };
    },
    issueServing: (names, servingLifetimeMs) =>
      inUse.signing.issueServing(names, servingLifetimeMs),
    issueReplica: (identity, replicaLifetimeMs) =>
      inUse.signing.issueReplica(identity, replicaLifetimeMs),
    onChange(listener) {
      changeListeners.add(listener);
      return () => void changeListeners.delete(listener);
    },
    onDeleted(listener) {
      deletionListeners.add(listener);
      return () => void deletionListeners.delete(listener);
    },
    run: (signal) => informer.run(signal),
  };
}
