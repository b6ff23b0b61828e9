/**
 * Watches of Helm's release Secrets, of which only labels are cached. The agent watches all of them with its own rights; or,
 * if impersonation is required, watches of single namespaces as the accounts of the deployments that have releases there.
 */
import { AppError } from "@flotilla/shared/errors";
import {
  type Change,
  createInformer,
  defineIndex,
  type Informer,
} from "@flotilla/shared/kube/cache";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { type Secret, secrets } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { agentErrors } from "../../base/errors/index.ts";
import {
  type AccountWatch,
  createAccountWatches,
  isUsable,
  type WatchScope,
} from "../../base/index.ts";
import type { InventoryReader } from "../../state/index.ts";
import { helmOwnerSelector, type ReleaseKey, recordOf } from "./release-record.ts";

export interface RecordWatches {
  /** Resolves when the records that are watched from the start are listed. */
  readonly synced: Promise<void>;
  /** The Secrets of a release. */
  secretsOf(release: ReleaseKey): readonly Secret[];
  /** The client that reads the Secrets of a release. */
  reader(release: ReleaseKey): KubeRest;
  /** See Releases. */
  observe(id: string, scope: WatchScope): Promise<void>;
  forget(id: string): void;
  run(signal: AbortSignal): Promise<void>;
}

export interface RecordWatchesDeps {
  readonly log: Log;
  readonly onChange: (change: Change<Secret>) => void;
}

const byRelease = defineIndex<Secret>("release", (secret) => {
  const record = recordOf(secret);
  return record === undefined ? [] : [`${record.namespace}/${record.name}`];
});

/** One watch of all namespaces, with the agent's own rights. */
export function watchAllRecords({
  rest,
  log,
  onChange,
}: RecordWatchesDeps & { readonly rest: KubeRest }): RecordWatches {
  const informer = createRecordInformer({ rest, log });
  informer.onChange(onChange);
  return {
    synced: informer.synced,
    secretsOf: (release) => secretsIn(informer, release),
    reader: () => rest,
    observe: () => Promise.resolve(),
    forget: () => undefined,
    run: (signal) => informer.run(signal),
  };
}

export interface AccountRecordsDeps extends RecordWatchesDeps {
  readonly inventory: Pick<InventoryReader, "ownerOf">;
  /** Called with the ids of releases whose records can be listed again, or not any more. */
  readonly onReadable: (ids: ReadonlySet<string>) => void;
}

/** One watch for each account and namespace, shared by the deployments of that account. */
export function watchRecordsAsAccounts(deps: AccountRecordsDeps): RecordWatches {
  const watches = createAccountWatches<Secret>({
    createInformer: ({ client, namespace, onListed }) =>
      createRecordInformer({
        rest: client.rest,
        log: deps.log.child({ account: client.subject, namespace }),
        namespace,
        onListed,
      }),
    onChange(watch, change) {
      const record = recordOf(change.after ?? change.before ?? { metadata: { name: "" } });
      if (record !== undefined && watchOf(record) === watch) deps.onChange(change);
    },
    onUsable: deps.onReadable,
  });

  /**
   * The watch that decides about a release: its owner's, else the first one. All see the same Secrets, but one may be
   * later than another, so they are not mixed.
   */
  function watchOf(release: ReleaseKey): AccountWatch<Secret> | undefined {
    const candidates = watches.inNamespace(release.namespace);
    const owner = deps.inventory.ownerOf(release)?.id;
    const ofOwner = candidates.find(({ followers }) => owner !== undefined && followers.has(owner));
    const all = ofOwner === undefined ? candidates : [ofOwner, ...candidates];
    return all.find(isUsable) ?? ofOwner;
  }

  return {
    synced: Promise.resolve(),
    secretsOf(release) {
      const watch = watchOf(release);
      return watch === undefined ? [] : secretsIn(watch.informer, release);
    },
    reader(release) {
      const watch = watchOf(release);
      if (watch !== undefined) return watch.client.rest;
      const { namespace, name } = release;
      throw new AppError(
        agentErrors.RELEASE_UNREADABLE,
        `read release ${namespace}/${name}: no deployment has an account that reads namespace ${namespace}`,
      );
    },
    async observe(id, scope) {
      for (const watch of await watches.observe(id, scope)) throwUnlessUsable(watch);
    },
    forget: watches.forget,
    run: watches.run,
  };
}

function throwUnlessUsable(watch: AccountWatch<Secret>): void {
  if (isUsable(watch)) return;
  const { client, namespace, failure } = watch;
  const why = failure?.message ?? "cancelled before the first list";
  throw new AppError(
    agentErrors.RELEASE_UNREADABLE,
    `watch Helm's records in namespace ${namespace} as ${client.subject}: ${why}; nothing was changed`,
    { cause: failure },
  );
}

interface RecordInformerOptions {
  readonly rest: KubeRest;
  readonly log: Log;
  readonly namespace?: string;
  readonly onListed?: (failure?: AppError) => void;
}

function createRecordInformer({ log, ...options }: RecordInformerOptions): Informer<Secret> {
  return createInformer<Secret>({
    ...options,
    resource: secrets,
    log: log.child({ cache: "helm releases" }),
    labelSelector: helmOwnerSelector,
    transform: ({
      apiVersion,
      kind,
      metadata: { name, namespace, uid, resourceVersion, labels },
    }) => ({
      ...(apiVersion !== undefined && { apiVersion }),
      ...(kind !== undefined && { kind }),
      metadata: {
        name,
        ...(namespace !== undefined && { namespace }),
        ...(uid !== undefined && { uid }),
        ...(resourceVersion !== undefined && { resourceVersion }),
        ...(labels !== undefined && { labels }),
      },
    }),
  });
}

function secretsIn(informer: Informer<Secret>, { namespace, name }: ReleaseKey): readonly Secret[] {
  return informer.store.byIndex(byRelease, `${namespace}/${name}`);
}
