/** Reads the objects that a Receiver names from the API server: metadata only, and only when a call was accepted. */
import { createSemaphore } from "@flotilla/shared/concurrency";
import { messageOf } from "@flotilla/shared/errors";
import type { ReceiverResource } from "@flotilla/shared/flux";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { type KubeObject, metadataOf, type Resource } from "@flotilla/shared/kube/objects";
import type { Receiver } from "./receiver.ts";
import { targetKinds } from "./target-kinds.ts";
import { invalidResource, mostTargets, type ReadResource, type ReferenceRules } from "./targets.ts";

export type ReadResources = (receiver: Receiver) => Promise<readonly ReadResource[]>;

const parallelReads = 16;
const pageSize = 500;

export function createResourceReader(
  deps: { readonly rest: Pick<KubeRest, "get" | "list"> } & ReferenceRules,
): ReadResources {
  const semaphore = createSemaphore(parallelReads);

  async function read(wanted: ReceiverResource, receiver: Receiver): Promise<ReadResource> {
    const why = invalidResource(wanted, receiver, deps);
    const known = targetKinds.get(wanted.kind);
    if (why !== undefined || known === undefined) return failed(why ?? "");
    const { kind, name, matchLabels = {} } = wanted;
    const namespace = wanted.namespace ?? receiver.metadata.namespace ?? "";
    const resource = metadataOf(known.resource);
    try {
      if (name === "*") return await list(resource, { namespace, matchLabels });
      const object = await deps.rest.get(resource, { namespace, name });
      return object === undefined
        ? failed(`${kind} ${namespace}/${name} does not exist`)
        : { kind: "read", objects: [object] };
    } catch (thrown) {
      return failed(`${kind} ${namespace}/${name} cannot be read: ${messageOf(thrown)}`);
    }
  }

  /** One more than the limit of a call, so that it is seen to be exceeded. */
  async function list(
    resource: Resource<KubeObject>,
    {
      namespace,
      matchLabels,
    }: { readonly namespace: string; readonly matchLabels: Readonly<Record<string, string>> },
  ): Promise<ReadResource> {
    const labelSelector = Object.entries(matchLabels)
      .map(([key, value]) => `${key}=${value}`)
      .join(",");
    const objects: KubeObject[] = [];
    let next: string | undefined;
    do {
      const page = await deps.rest.list(resource, {
        namespace,
        limit: pageSize,
        ...(labelSelector !== "" && { labelSelector }),
        ...(next !== undefined && { next }),
      });
      objects.push(...page.items);
      next = page.next;
    } while (next !== undefined && objects.length <= mostTargets);
    return { kind: "read", objects };
  }

  return async (receiver) =>
    await Promise.all(
      receiver.spec.resources.map((wanted) => semaphore.run(() => read(wanted, receiver))),
    );
}

function failed(why: string): ReadResource {
  return { kind: "failed", why };
}
