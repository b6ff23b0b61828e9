/**
 * Referenced objects of one kind in one namespace that is not a workspace: each is read by its name when it is first referenced,
 * whenever somebody asks for its current state or says that it has changed, and with back-off while it does not exist: what waits
 * for it may ask again only hours later. No other object of the namespace is read.
 */
import { type KindWatch, type KindWatchOptions, resourceOf } from "./kind-watch.ts";
import { createObjectEntries } from "./object-entries.ts";

const absentBackoff = { firstMs: 5_000, longestMs: 5 * 60_000 };

export function createNamedObjects(options: KindWatchOptions): KindWatch {
  const { rest, kind, namespace } = options;
  const resource = resourceOf(kind);
  let isRunning = false;
  const entries = createObjectEntries({
    ...options,
    log: options.log.child({ namespace }),
    isReady: () => isRunning,
    failure: () => undefined,
    absentBackoff,
    read: (name) => rest.get(resource, { namespace, name }),
  });
  return {
    get size() {
      return entries.size;
    },
    names: entries.names,
    watch: entries.watch,
    unwatch: entries.unwatch,
    get: entries.get,
    known: entries.known,
    async refreshed(name) {
      await entries.refresh(name);
      const failure = entries.failureOf(name);
      if (failure !== undefined) throw failure;
      return entries.get(name);
    },
    changed: (name) => void entries.refresh(name),
    async run(signal) {
      isRunning = true;
      for (const name of entries.names()) void entries.refresh(name);
      if (!signal.aborted)
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      isRunning = false;
      entries.end();
    },
  };
}
