/** Reads the pods of a workload, in a limited number of requests. */
import type { KubeRest } from "@flotilla/shared/kube/client";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import type { Workload } from "./workload.ts";

const pods: Resource<KubeObject> = {
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  namespaced: true,
};

const pageSize = 100;
const maxPages = 5;

export interface ReadPodsOptions {
  readonly signal: AbortSignal;
  /** Resolves when a request may be made. */
  readonly beforeRequest: () => Promise<void>;
}

/** The first 500. Throws the API error. */
export async function readPods(
  rest: Pick<KubeRest, "list">,
  { namespace, selector }: Workload,
  { signal, beforeRequest }: ReadPodsOptions,
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = [];
  let next: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    await beforeRequest();
    const read = await rest.list(pods, {
      namespace,
      signal,
      labelSelector: selector,
      limit: pageSize,
      ...(next !== undefined && { next }),
    });
    found.push(...read.items);
    next = read.next;
    if (next === undefined) break;
  }
  return found;
}
