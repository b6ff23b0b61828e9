/**
 * The authority as one replica uses it: follows the Secret, and takes what that says into use without a restart.
 *
 * What is remembered may be old, where a watch lags or a process was frozen. So nothing is signed, and no agent is told
 * what to trust, by knowledge that is older than a rotation allows for: the Secret is then read once more, at most once
 * at a time however many agents ask.
 */
import { authoritiesDigest } from "@flotilla/proto/authorities.ts";
import type { IssuedCertificate } from "@flotilla/proto/messages.ts";
import { authoritySecretName } from "@flotilla/shared/api/names.ts";
import { AppError, messageOf } from "@flotilla/shared/errors/app-error.ts";
import { createInformer } from "@flotilla/shared/kube/cache/informer.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { type Secret, secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import { isLaterVersion, keyOf } from "@flotilla/shared/kube/objects/object.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { type AuthorityRecord, readRecord, trustedBy } from "./authority-record.ts";
import { ensureAuthority } from "./authority-secret.ts";
import {
  type CertificateAuthority,
  type ClientCertificateRequest,
  openAuthority,
  type ServingCertificate,
} from "./certificate-authority.ts";
import { identityErrors } from "./errors.ts";
import { rotationTimes } from "./plan-rotation.ts";

export interface LiveAuthorityDeps {
  readonly rest: KubeRest;
  /** The hub's own, which must exist. */
  readonly namespace: string;
  /** Of agents' certificates. */
  readonly lifetimeMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** What hub and agents trust. */
export interface TrustedAuthorities {
  readonly pem: string;
  readonly digest: string;
}

export interface LiveAuthority {
  /** The Secret that is in use. */
  readonly secret: Secret;
  readonly record: AuthorityRecord;
  readonly trusted: TrustedAuthorities;
  /** The same, as the API server has it after this was called. */
  confirmed(): Promise<TrustedAuthorities>;
  /** For as long as this hub gives to agents' certificates. */
  issueClient(request: Omit<ClientCertificateRequest, "lifetimeMs">): Promise<IssuedCertificate>;
  issueServing(names: readonly string[], lifetimeMs: number): Promise<ServingCertificate>;
  /** Hears of every change of the Secret that is in use; gives the function that stops it. */
  onChange(listener: () => void): () => void;
  /** Hears that the Secret is gone, which changes nothing here. */
  onGone(listener: () => void): () => void;
  /** Follows the Secret until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

interface InUse {
  readonly secret: Secret;
  readonly record: AuthorityRecord;
  readonly signing: CertificateAuthority;
  readonly trusted: TrustedAuthorities;
}

/** The authority of the hub, made when there is none. */
export async function createLiveAuthority(deps: LiveAuthorityDeps): Promise<LiveAuthority> {
  const { rest, namespace, lifetimeMs, clock, log } = deps;
  const ref = { namespace, name: authoritySecretName };
  const { freshMs } = rotationTimes(lifetimeMs);
  const changed = new Set<() => void>();
  const gone = new Set<() => void>();
  let confirmedAt = clock.monotonic();
  let inUse = await open(await ensureAuthority(rest, namespace, clock.now(), lifetimeMs));
  let taking: Promise<void> = Promise.resolve();
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
    if (after === undefined) for (const listener of gone) listener();
    else void take();
  });

  async function open(secret: Secret): Promise<InUse> {
    const record = readRecord(secret);
    const signing = await openAuthority(record.signing, () => clock.now());
    const pem = trustedBy(record);
    return { secret, record, signing, trusted: { pem, digest: authoritiesDigest(pem) } };
  }

  /**
   * Takes into use what was read of the Secret, or else what is known of it by now. Never rejects: what is no good leaves
   * what is in use.
   */
  function take(read?: Secret): Promise<void> {
    taking = taking.then(async () => {
      const secret = read ?? informer.store.get(keyOf(ref));
      if (secret === undefined) return;
      if (secret.metadata.resourceVersion === inUse.secret.metadata.resourceVersion) return;
      try {
        inUse = await open(secret);
      } catch (thrown) {
        log.error({ err: messageOf(thrown) }, "authority was not taken into use, the last one is");
        return;
      }
      for (const listener of changed) listener();
    });
    return taking;
  }

  /** Reads the Secret, beginning after this was called; those who ask meanwhile share the next reading. */
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
      const message = `Secret ${keyOf(ref)} is gone; the leader puts it back`;
      throw new AppError(identityErrors.AUTHORITY_UNCONFIRMED, message);
    }
    informer.store.wrote(secret);
    const known = informer.store.get(keyOf(ref));
    // A version from before this reading says nothing: a server that is back from a backup counts from an earlier one.
    const isOvertaken =
      known !== before &&
      isLaterVersion(known?.metadata.resourceVersion, secret.metadata.resourceVersion);
    await take(isOvertaken ? known : secret);
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
    onChange(listener) {
      changed.add(listener);
      return () => void changed.delete(listener);
    },
    onGone(listener) {
      gone.add(listener);
      return () => void gone.delete(listener);
    },
    run: (signal) => informer.run(signal),
  };
}
