/**
 * The authority as one replica uses it: watches the Secret and applies its changes without a restart.
 *
 * The cache may be stale when a watch lags or the process was frozen. So before a certificate is issued, or authorities are sent
 * to an agent, state that is older than a rotation allows is read again; concurrent callers share one read.
 */

import { authoritiesDigest, type IssuedCertificate } from "@flotilla/proto";
import { authoritySecretName } from "@flotilla/shared/api/names";
import { NextRun } from "@flotilla/shared/concurrency";
import { AppError, messageOf } from "@flotilla/shared/errors";
import { createInformer, type Informer } from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { isLaterVersion, keyOf, type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import { hubErrors } from "../../base/index.ts";
import type { ReplicaIdentity } from "../identity/replica-identity.ts";
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
  /** For which certificates of agents are issued. */
  readonly lifetimeMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** The authorities that hub and agents trust. */
export interface TrustedAuthorities {
  readonly pem: string;
  readonly digest: string;
}

interface InUse {
  readonly secret: Secret;
  readonly record: AuthorityRecord;
  readonly signing: CertificateAuthority;
  readonly trusted: TrustedAuthorities;
}

export class LiveAuthority {
  readonly #deps: LiveAuthorityDeps;
  readonly #freshMs: number;
  readonly #informer: Informer<Secret>;
  readonly #reads = new NextRun(() => this.#readNow());
  readonly #changeListeners = new Set<() => void>();
  readonly #deletionListeners = new Set<() => void>();
  #inUse: InUse;
  /** When the last read that has succeeded began, on the monotonic clock. */
  #confirmedAt: number;
  #applying: Promise<void> = Promise.resolve();

  /** The authority of the hub, created if there is none. Rejects when the Secret cannot be read or written, or is invalid. */
  static async open(deps: LiveAuthorityDeps): Promise<LiveAuthority> {
    const { rest, namespace, lifetimeMs, clock } = deps;
    const openedAt = clock.monotonic();
    const secret = await ensureAuthority(rest, namespace, clock.now(), lifetimeMs);
    return new LiveAuthority(deps, await opened(secret, clock), openedAt);
  }

  private constructor(deps: LiveAuthorityDeps, inUse: InUse, openedAt: number) {
    const { rest, namespace, clock, log } = deps;
    this.#deps = deps;
    this.#freshMs = rotationTimes(deps.lifetimeMs).freshMs;
    this.#inUse = inUse;
    this.#confirmedAt = openedAt;
    this.#informer = createInformer<Secret>({
      rest,
      resource: secrets,
      namespace,
      fieldSelector: `metadata.name=${authoritySecretName}`,
      log,
      clock,
    });
    this.#informer.onChange(({ after }) => {
      if (after === undefined) for (const listener of this.#deletionListeners) listener();
      else void this.#apply();
    });
  }

  /** The Secret in use. */
  get secret(): Secret {
    return this.#inUse.secret;
  }

  get record(): AuthorityRecord {
    return this.#inUse.record;
  }

  get trusted(): TrustedAuthorities {
    return this.#inUse.trusted;
  }

  /**
   * The same, read from the API server after the call. Rejects when it cannot be read, and with AUTHORITY_UNCONFIRMED when the Secret
   * was deleted; the authority in use stays.
   */
  async confirmed(): Promise<TrustedAuthorities> {
    await this.#reads.run();
    return this.#inUse.trusted;
  }

  /**
   * With this hub's validity of agents' certificates, by an authority that is not older than a rotation allows. Rejects as `confirmed`
   * does when it has to be read.
   */
  async issueClient(
    request: Omit<ClientCertificateRequest, "lifetimeMs">,
  ): Promise<IssuedCertificate> {
    const { clock, lifetimeMs } = this.#deps;
    if (clock.monotonic() - this.#confirmedAt > this.#freshMs) await this.#reads.run();
    const { signing, trusted } = this.#inUse;
    const chainPem = await signing.issueClient({ ...request, lifetimeMs });
    return { chainPem, authoritiesPem: trusted.pem };
  }

  /** By the authority in use, without a read. */
  issueServing(names: readonly string[], lifetimeMs: number): Promise<ServingCertificate> {
    return this.#inUse.signing.issueServing(names, lifetimeMs);
  }

  /** By the authority in use, without a read. */
  issueReplica(identity: ReplicaIdentity, lifetimeMs: number): Promise<ServingCertificate> {
    return this.#inUse.signing.issueReplica(identity, lifetimeMs);
  }

  /** Called after every change of the Secret in use; returns the function that removes the listener. */
  onChange(listener: () => void): () => void {
    this.#changeListeners.add(listener);
    return () => void this.#changeListeners.delete(listener);
  }

  /** Called when the Secret is deleted; the authority in use stays. */
  onDeleted(listener: () => void): () => void {
    this.#deletionListeners.add(listener);
    return () => void this.#deletionListeners.delete(listener);
  }

  /** Watches the Secret until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void> {
    return this.#informer.run(signal);
  }

  get #stored(): Secret | undefined {
    return this.#informer.store.get(keyOf(this.#ref));
  }

  get #ref() {
    return { namespace: this.#deps.namespace, name: authoritySecretName };
  }

  /** Applies the Secret that was read, or else the cached one. Never rejects: an invalid one leaves the last one in use. */
  #apply(read?: Secret): Promise<void> {
    this.#applying = this.#applying.then(() => this.#applyNow(read ?? this.#stored));
    return this.#applying;
  }

  async #applyNow(secret: Secret | undefined): Promise<void> {
    if (secret === undefined) return;
    if (secret.metadata.resourceVersion === this.#inUse.secret.metadata.resourceVersion) return;
    try {
      this.#inUse = await opened(secret, this.#deps.clock);
    } catch (thrown) {
      this.#deps.log.error(
        { err: messageOf(thrown) },
        "invalid authority Secret; the last valid one stays in use",
      );
      return;
    }
    for (const listener of this.#changeListeners) listener();
  }

  async #readNow(): Promise<void> {
    const { rest, clock } = this.#deps;
    const begunAt = clock.monotonic();
    const before = this.#stored;
    const secret = await rest.get(secrets, this.#ref);
    if (secret === undefined) {
      const message = `Secret ${keyOf(this.#ref)} was deleted; the leader restores it`;
      throw new AppError(hubErrors.AUTHORITY_UNCONFIRMED, message);
    }
    this.#informer.store.wrote(secret);
    const known = this.#stored;
    // Only versions that arrived during this read count: a server restored from a backup has lower ones.
    const isOvertaken =
      known !== before &&
      isLaterVersion(known?.metadata.resourceVersion, secret.metadata.resourceVersion);
    await this.#apply(isOvertaken ? known : secret);
    this.#confirmedAt = begunAt;
  }
}

async function opened(secret: Secret, clock: Clock): Promise<InUse> {
  const record = readRecord(secret);
  const signing = await openAuthority(record.signing, () => clock.now());
  const pem = trustedBy(record);
  return { secret, record, signing, trusted: { pem, digest: authoritiesDigest(pem) } };
}
