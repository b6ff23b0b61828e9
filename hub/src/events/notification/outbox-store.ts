/** The Secrets in which outboxes are stored, one for each Provider. Other replicas of the hub write them, too. */
import { createInformer, type Informer } from "@flotilla/shared/kube/cache";
import {
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeRest,
} from "@flotilla/shared/kube/client";
import { keyOf, type ObjectKey, type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import type { Clock } from "@flotilla/shared/time";
import {
  changeEntries,
  entriesOf,
  type OutboxChange,
  type OutboxEntry,
  type OutboxLimits,
  outboxLabel,
  outboxName,
  outboxSecret,
  providerOf,
} from "./outbox-record.ts";

export interface OutboxStoreDeps {
  readonly rest: KubeRest;
  readonly namespace: string;
  readonly limits: OutboxLimits;
  /** Called with the entries that a full outbox has dropped. */
  readonly onDropped: (provider: ObjectKey, entries: readonly OutboxEntry[]) => void;
  readonly clock: Clock;
  readonly log: Log;
}

const mostConflicts = 10;

export class OutboxStore {
  readonly #deps: OutboxStoreDeps;
  readonly #informer: Informer<Secret>;

  constructor(deps: OutboxStoreDeps) {
    const { rest, namespace, clock, log } = deps;
    this.#deps = deps;
    this.#informer = createInformer<Secret>({
      rest,
      resource: secrets,
      namespace,
      labelSelector: `${outboxLabel}=true`,
      log: log.child({ cache: "notification outbox" }),
      clock,
    });
  }

  /** What is stored, as far as the watch has delivered it, oldest first. */
  entries(provider: ObjectKey): readonly OutboxEntry[] {
    return entriesOf(this.#stored(provider));
  }

  providers(): readonly ObjectKey[] {
    return this.#informer.store.list().map(providerOf);
  }

  /** Calls with the Provider of a Secret that any replica has changed. */
  onChange(listener: (provider: ObjectKey) => void): void {
    this.#informer.onChange(({ before, after }) => {
      const secret = after ?? before;
      if (secret !== undefined) listener(providerOf(secret));
    });
  }

  /** Resolves when a list that starts after the call is complete, or when `signal` aborts. */
  refresh(signal: AbortSignal): Promise<void> {
    return this.#informer.refresh(signal);
  }

  /** Watches until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void> {
    return this.#informer.run(signal);
  }

  /**
   * Changes what is stored, on top of what other replicas have written, and passes on what a full outbox drops. Rejects when the API
   * server does, or when others write each time in between; then nothing is changed, or only its response is lost: a
   * change may be written again.
   */
  async write(provider: ObjectKey, change: OutboxChange): Promise<void> {
    const { rest, namespace } = this.#deps;
    let found = this.#stored(provider);
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#replace(provider, found, change);
        return;
      } catch (thrown) {
        const isStale = isConflict(thrown) || isAlreadyExists(thrown) || isNotFound(thrown);
        if (!isStale || attempt === mostConflicts) throw thrown;
        // Another replica has written it since our cache saw it.
        found = await rest.get(secrets, { namespace, name: outboxName(provider) });
      }
    }
  }

  async #replace(
    provider: ObjectKey,
    found: Secret | undefined,
    change: OutboxChange,
  ): Promise<void> {
    const { rest, namespace, limits, onDropped } = this.#deps;
    const before = entriesOf(found);
    const { entries, dropped } = changeEntries(before, change, limits);
    const desired = outboxSecret({ namespace, provider }, entries);
    if (found === undefined) {
      if (entries.length > 0) this.#informer.store.wrote(await rest.create(secrets, desired));
    } else if (entries.length !== before.length || change.add.length > 0) {
      const metadata = { ...found.metadata, ...desired.metadata };
      this.#informer.store.wrote(await rest.replace(secrets, { ...desired, metadata }));
    }
    if (dropped.length > 0) onDropped(provider, dropped);
  }

  #stored(provider: ObjectKey): Secret | undefined {
    const { namespace } = this.#deps;
    return this.#informer.store.get(keyOf({ namespace, name: outboxName(provider) }));
  }
}
