/** A publisher of the statuses of ships, in an API server in memory. */
import type { Semaphore } from "@flotilla/shared/concurrency";
import { createStore, type WatchedStore } from "@flotilla/shared/kube/cache";
import { type KubeObject, keyOf, type Resource } from "@flotilla/shared/kube/objects";
import { createMemoryApiServer } from "@flotilla/shared/kube/testing";
import { silentLog } from "@flotilla/shared/log";
import { createFakeClock } from "@flotilla/shared/time/testing";
import { createPublisher } from "../publisher.ts";

interface Status {
  readonly text: string;
}

export interface Ship extends KubeObject {
  readonly status?: Status;
}

export const ships: Resource<Ship> = {
  group: "example.com",
  version: "v1",
  kind: "Ship",
  plural: "ships",
  namespaced: true,
};
export const ref = { namespace: "sea", name: "argo" };
export const key = keyOf(ref);
export const written = `replace ships ${key}`;

/** A ship in the API server and in the cache. A test sets its desired status; `!` makes it urgent. */
export function start(
  options: {
    readonly concurrency?: number;
    readonly others?: number;
    readonly goesFirst?: Semaphore;
  } = {},
) {
  const kube = createMemoryApiServer();
  const clock = createFakeClock();
  const store: WatchedStore<Ship> = createStore();
  const desired = new Map<string, string>();
  const settled: string[] = [];
  const launch = (name: string) =>
    store.set(kube.put(ships, { metadata: { namespace: "sea", name } }));
  launch(ref.name);
  for (let index = 0; index < (options.others ?? 0); index += 1) launch(`other-${index}`);
  const writer = createPublisher<Status, Ship>({
    rest: kube,
    resource: ships,
    store,
    rollUp: (ship) => {
      const text = desired.get(ship.metadata.name);
      return text === undefined ? undefined : { text };
    },
    isUrgent: (_before, after) => after.text.endsWith("!"),
    onSettled: (name) => settled.push(name),
    clock,
    log: silentLog(),
    ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
    goesFirst: options.goesFirst,
  });

  /** Changes the desired status of a ship. */
  const setDesired = (text: string, name = ref.name): void => {
    desired.set(name, text);
    writer.refresh(`sea/${name}`);
  };
  const stored = (name = ref.name) => kube.peek(ships, { namespace: "sea", name })?.status?.text;
  return { kube, clock, store, desired, settled, writer, setDesired, stored };
}
