/**
 * Reads the objects that a Receiver names from the API server, when a call was accepted: what several entries name once, page by
 * page, of which only the keys of selected objects stay in memory. A page counts in a budget of bytes for all calls.
 */
import { createFairSemaphore } from "@flotilla/shared/concurrency";
import { messageOf } from "@flotilla/shared/errors";
import type { ReceiverResource } from "@flotilla/shared/flux";
import { isResponseTooLarge, type KubeRest } from "@flotilla/shared/kube/client";
import { type KubeObject, metadataOf, type Resource } from "@flotilla/shared/kube/objects";
import type { Receiver } from "./receiver.ts";
import { targetKinds } from "./target-kinds.ts";
import { invalidResource, type ReferenceRules, type TargetSelection } from "./targets.ts";

/** Has the selection judge all objects that the entries of a Receiver name. Never rejects. */
export type ReadResources = (receiver: Receiver, selection: TargetSelection) => Promise<void>;

const mebibyte = 1024 * 1024;
/** The budget of all calls, in bytes of JSON, until the objects are judged. */
const budget = { capacity: 64 * mebibyte, share: 32 * mebibyte };
/** The last page has less than this of the largest objects that etcd stores, 1.5 MiB. */
const pageBytes = 8 * mebibyte;
/** A page that is too large is read with fewer objects. */
const pageSizes = [500, 50, 5];
const objectBytes = 2 * mebibyte;
/** The limit of one list. Receivers select 5,000 objects at most. */
const mostListed = 50_000;

/** What is read once, for all entries that name it. */
interface Read {
  readonly kind: string;
  readonly resource: Resource<KubeObject>;
  readonly namespace: string;
  readonly name: string;
  /** The indexes of the entries. */
  readonly entries: number[];
  readonly labelSelectors: Set<string>;
}

type ListOptions = NonNullable<Parameters<KubeRest["list"]>[1]>;

interface ListedPage {
  readonly count: number;
  readonly next: string | undefined;
}

export function createResourceReader(
  deps: { readonly rest: Pick<KubeRest, "get" | "list"> } & ReferenceRules,
): ReadResources {
  const semaphore = createFairSemaphore(budget);

  function readsOf(receiver: Receiver, selection: TargetSelection): readonly Read[] {
    const { namespace: own = "" } = receiver.metadata;
    const reads = new Map<string, Read>();
    for (const [index, wanted] of receiver.spec.resources.entries()) {
      const why = invalidResource(wanted, receiver, deps);
      const known = targetKinds.get(wanted.kind);
      if (why !== undefined || known === undefined) {
        selection.fail([index], why ?? "");
        continue;
      }
      const { kind, name, namespace = own } = wanted;
      const id = `${kind} ${namespace}/${name}`;
      const { resource } = known;
      const read: Read = reads.get(id) ?? {
        kind,
        resource,
        namespace,
        name,
        entries: [],
        labelSelectors: new Set(),
      };
      reads.set(id, read);
      read.entries.push(index);
      read.labelSelectors.add(labelSelectorOf(wanted));
    }
    return [...reads.values()];
  }

  async function run(caller: string, read: Read, selection: TargetSelection): Promise<void> {
    const { kind, namespace, name, entries } = read;
    try {
      if (name === "*") return await list(caller, read, selection);
      await semaphore.run({ caller, weight: objectBytes }, async () => {
        const object = await deps.rest.get(
          read.resource,
          { namespace, name },
          { maxBytes: pageBytes },
        );
        if (object === undefined)
          selection.fail(entries, `${kind} ${namespace}/${name} does not exist`);
        else await selection.add(entries, [object]);
      });
    } catch (thrown) {
      selection.fail(entries, `${kind} ${namespace}/${name} cannot be read: ${messageOf(thrown)}`);
    }
  }

  async function list(caller: string, read: Read, selection: TargetSelection): Promise<void> {
    const { kind, namespace, entries, labelSelectors } = read;
    const [labelSelector = ""] = labelSelectors.size === 1 ? labelSelectors : [];
    const resource = metadataOf(read.resource);
    const options = {
      namespace,
      maxBytes: pageBytes,
      ...(labelSelector !== "" && { labelSelector }),
    };
    /** Undefined: it is too large. */
    const readPage = (page: ListOptions): Promise<ListedPage | undefined> =>
      semaphore.run({ caller, weight: pageBytes }, async () => {
        try {
          const { items, next } = await deps.rest.list(resource, page);
          await selection.add(entries, items);
          return { count: items.length, next };
        } catch (thrown) {
          if (isResponseTooLarge(thrown) && page.limit !== pageSizes.at(-1)) return undefined;
          throw thrown;
        }
      });

    let [size = 1, ...smaller] = pageSizes;
    let listed = 0;
    let next: string | undefined;
    while (selection.takesMore(entries)) {
      if (listed >= mostListed) {
        const why = `${kind} ${namespace}/*: more than ${mostListed} objects; give all entries of this kind the same matchLabels`;
        return selection.fail(entries, why);
      }
      const page = await readPage({ ...options, limit: size, ...(next !== undefined && { next }) });
      if (page === undefined) {
        [size = 1, ...smaller] = smaller;
        continue;
      }
      if (page.next === undefined) return;
      listed += page.count;
      next = page.next;
    }
  }

  return async (receiver, selection) => {
    const { namespace = "" } = receiver.metadata;
    const reads = readsOf(receiver, selection);
    await Promise.all(reads.map((read) => run(namespace, read, selection)));
  };
}

function labelSelectorOf({ matchLabels = {} }: ReceiverResource): string {
  return Object.entries(matchLabels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}
