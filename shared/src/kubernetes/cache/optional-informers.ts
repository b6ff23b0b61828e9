/**
 * Informers of kinds whose CustomResourceDefinitions may be absent. Each runs while its definition exists and it is allowed;
 * otherwise its store is empty, and has synced.
 */
import type { Log } from "../../runtime/log/index.ts";
import type { KubeRest } from "../client/index.ts";
import {
  customResourceDefinitions,
  type KubeObject,
  metadataOf,
  type Resource,
} from "../objects/index.ts";
import { createInformer, type Informer } from "./informer.ts";

export interface OptionalInformers {
  /** An informer of a kind, to be created before `run`. Its own `run` does nothing: `run` below runs it. */
  add<T extends KubeObject>(resource: Resource<T>, inner: Informer<T>): Informer<T>;
  /** Watches the definitions, and runs the informers of those that exist, until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Decides again which informers run: `isAllowed` may have another answer. */
  update(): void;
  /** Whether any informer runs. */
  isRunning(): boolean;
}

interface Optional {
  readonly name: string;
  readonly inner: Informer<KubeObject>;
  /** The definition does not exist, or the kind is not allowed. */
  readonly settle: () => void;
  running?: AbortController | undefined;
  /** When the last run ended. */
  ended: Promise<void>;
}

export interface OptionalInformersDeps {
  readonly rest: KubeRest;
  readonly log: Log;
  /** While it is false no informer runs, as if there were no definitions. */
  readonly isAllowed?: () => boolean;
}

export function createOptionalInformers({
  isAllowed = () => true,
  ...deps
}: OptionalInformersDeps): OptionalInformers {
  let until: AbortSignal | undefined;
  const definitions = createInformer<KubeObject>({
    ...deps,
    resource: metadataOf(customResourceDefinitions),
    transform: ({ metadata: { name, uid, resourceVersion } }) => ({
      metadata: { name, ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
    }),
  });
  const optional = new Map<string, Optional>();

  function updateAll(): void {
    if (until === undefined || until.aborted) return;
    for (const each of optional.values()) update(each, until);
  }

  function update(each: Optional, signal: AbortSignal): void {
    const exists = definitions.store.get(each.name) !== undefined;
    if (!exists || !isAllowed()) {
      each.running?.abort();
      each.running = undefined;
      each.settle();
      return;
    }
    if (each.running !== undefined) return;
    const running = new AbortController();
    each.running = running;
    each.ended = runAfter(each, AbortSignal.any([signal, running.signal])).then(() => {
      // Objects are deleted with their definition, which may be delivered before the last of them; and objects of a kind that
      // is not allowed do not matter here.
      if (!signal.aborted) each.inner.clear();
    });
  }

  return {
    add<T extends KubeObject>({ plural, group }: Resource<T>, inner: Informer<T>): Informer<T> {
      const absent = Promise.withResolvers<void>();
      const synced = Promise.race([inner.synced, absent.promise]);
      synced.catch(() => undefined);
      const name = `${plural}.${group}`;
      optional.set(name, { name, inner, settle: absent.resolve, ended: Promise.resolve() });
      return {
        ...inner,
        get hasSynced() {
          return inner.hasSynced || optional.get(name)?.running === undefined;
        },
        synced,
        refresh: async (signal) => {
          if (optional.get(name)?.running !== undefined) await inner.refresh(signal);
        },
        run: () => Promise.resolve(),
      };
    },
    async run(signal) {
      definitions.onChange(({ key }) => {
        const each = optional.get(key);
        if (each !== undefined && definitions.hasSynced) update(each, signal);
      });
      const watching = definitions.run(signal);
      await definitions.synced.catch(() => undefined);
      until = signal;
      updateAll();
      await watching;
      await Promise.all([...optional.values()].map(({ ended }) => ended));
    },
    update: updateAll,
    isRunning: () => [...optional.values()].some(({ running }) => running !== undefined),
  };
}

/** Runs once the run before it has ended. */
async function runAfter({ inner, ended }: Optional, signal: AbortSignal): Promise<void> {
  await ended;
  await inner.run(signal);
}
