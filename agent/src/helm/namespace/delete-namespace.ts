/** Deletes a namespace that the agent created for a release, once nothing else is in it. */
import {
  isConflict,
  isForbidden,
  isNotFound,
  type KubeRest,
  KubeStatusError,
} from "@flotilla/shared/kube/client";
import {
  type KubeObject,
  namespaces,
  type ObjectMeta,
  type Resource,
} from "@flotilla/shared/kube/objects";
import * as z from "zod";
import type { ImpersonatedClient } from "../../base/index.ts";

/** A namespace, as the agent created it. */
export interface CreatedNamespace {
  readonly name: string;
  readonly uid: string;
  /** It has Helm's marks of the release. */
  readonly isMarked?: boolean | undefined;
}

/**
 * Reads as the agent, unless impersonation is required, and deletes as the deployment's account. Returns why the namespace stays;
 * undefined: it is being deleted, or gone.
 */
export async function deleteCreatedNamespace(
  { rest, watch, subject }: Pick<ImpersonatedClient, "rest" | "watch" | "subject">,
  { name, uid }: CreatedNamespace,
  signal: AbortSignal,
): Promise<string | undefined> {
  const found = await firstObject(watch.rest, name, signal).catch(unseen);
  if (found !== undefined) return found;
  try {
    await rest.delete(namespaces, { name }, { uid, signal });
    return undefined;
  } catch (thrown) {
    if (isNotFound(thrown) || isConflict(thrown)) return undefined;
    if (isForbidden(thrown)) return `${subject} may not delete it`;
    throw thrown;
  }
}

/** An API that is down, such as an aggregated one, must not keep the deployment. */
function unseen(thrown: unknown): string {
  if (thrown instanceof KubeStatusError)
    return `it cannot be seen what is in it: ${thrown.message}`;
  throw thrown;
}

/** The page size of one kind. More than these that do not count are taken as one that does. */
const pageSize = 200;

async function firstObject(
  rest: KubeRest,
  namespace: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const resource of await namespacedResources(rest, signal)) {
    try {
      const { items, next } = await rest.list(resource, { namespace, limit: pageSize, signal });
      const other = items.find(({ metadata }) => counts(resource.kind, metadata));
      if (other !== undefined) return `${resource.kind} ${other.metadata.name} is in it`;
      if (next !== undefined)
        return `more than ${pageSize} objects of kind ${resource.kind} are in it`;
    } catch (thrown) {
      if (isNotFound(thrown)) continue;
      if (isForbidden(thrown)) return `it cannot be seen whether a ${resource.kind} is in it`;
      throw thrown;
    }
  }
  return undefined;
}

/**
 * Whether an object keeps its namespace. Not those that Kubernetes itself creates, those that are being deleted, and those whose
 * owner counts, or is gone so that they follow it.
 */
export function counts(kind: string, metadata: ObjectMeta): boolean {
  const isOwned = metadata.ownerReferences?.some(({ controller }) => controller === true) === true;
  return (
    !isOwned && metadata.deletionTimestamp === undefined && ofKubernetes[kind] !== metadata.name
  );
}

/** In every namespace, by kind. */
const ofKubernetes: Readonly<Record<string, string>> = {
  ServiceAccount: "default",
  ConfigMap: "kube-root-ca.crt",
};

/** Nobody keeps a namespace for them: what happened, and what follows from Services and pods. */
const derivedKinds = new Set(["Event", "Endpoints", "PodMetrics"]);

const groupsSchema = z.object({
  groups: z.array(z.object({ preferredVersion: z.object({ groupVersion: z.string() }) })),
});
const resourcesSchema = z.object({
  resources: z.array(
    z.object({
      name: z.string(),
      kind: z.string(),
      namespaced: z.boolean(),
      verbs: z.array(z.string()),
    }),
  ),
});

async function namespacedResources(
  rest: KubeRest,
  signal: AbortSignal,
): Promise<readonly Resource<KubeObject>[]> {
  const { groups } = groupsSchema.parse(JSON.parse(await rest.raw("/apis", { signal })));
  const versions = ["v1", ...groups.map(({ preferredVersion }) => preferredVersion.groupVersion)];
  const found = await Promise.all(
    versions.map(async (groupVersion) => {
      const path = groupVersion === "v1" ? "/api/v1" : `/apis/${groupVersion}`;
      const { resources } = resourcesSchema.parse(JSON.parse(await rest.raw(path, { signal })));
      const [group = "", version = ""] = groupVersion.includes("/")
        ? groupVersion.split("/")
        : ["", groupVersion];
      return resources
        .filter(
          ({ name, kind, namespaced, verbs }) =>
            namespaced && verbs.includes("list") && !name.includes("/") && !derivedKinds.has(kind),
        )
        .map(({ name: plural, kind, namespaced }) => ({
          group,
          version,
          kind,
          plural,
          namespaced,
        }));
    }),
  );
  return found.flat();
}
