/** Plans all objects of a release: the objects of the rendering, and what the manifest before has beside them. */
import { createSemaphore } from "@flotilla/shared/concurrency";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import { keepPolicy, policyAnnotation } from "../../helm/index.ts";
import type { DriftObject } from "../../observe/index.ts";
import type { RenderedObject } from "../change/generated.ts";
import { objectText } from "../change/object-text.ts";
import { digestOf, type PlannedObject, shapeOf } from "../change/planned-object.ts";
import {
  groupOf,
  type PlacedObject,
  planObject,
  type ReleasePlan,
  readLive,
} from "./plan-object.ts";

/** The resource of a kind; a text: the cluster does not have it, and why. */
export type FindResource = (
  apiVersion: string,
  kind: string,
  signal: AbortSignal,
) => Promise<Resource<KubeObject> | string>;

export interface ObjectsPlan extends ReleasePlan {
  readonly findResource: FindResource;
  /** CustomResourceDefinitions of the release before are kept, unless a user wants them deleted. */
  readonly keepsCrds: boolean;
}

/** An object of the manifest that is installed, with the namespace of its release. */
export interface InstalledObject {
  readonly document: KubeObject;
  readonly namespace: string;
  /** The release is uninstalled: what the new one has under the same name is created again. */
  readonly isUninstalled: boolean;
}

/** Each costs two requests; admission webhooks get one of them. */
const concurrency = 4;

/** In the order of Helm; those that Helm deletes are the last. Throws what prevents the plan as a whole. */
export async function planObjects(
  plan: ObjectsPlan,
  rendered: readonly RenderedObject[],
  installed: readonly InstalledObject[],
): Promise<readonly PlannedObject[]> {
  const permits = createSemaphore(concurrency);
  const own = plan.release.namespace;
  const before = new Map<string, InstalledObject & { readonly object: DriftObject }>();
  for (const each of installed) {
    const { object } = await placeOf(plan, each.document, each.namespace);
    before.set(keyOf(object), { ...each, object });
  }
  const placed: PlacedObject[] = [];
  const keys = new Set<string>();
  for (const each of rendered) {
    const { object, resource } = await placeOf(plan, each.document, own);
    const key = keyOf(object);
    keys.add(key);
    placed.push({ ...each, object, resource, before: before.get(key)?.document });
  }
  const left = [...before].filter(([key]) => !keys.has(key)).map(([, each]) => each);
  const run = <T>(work: () => Promise<T>): Promise<T> =>
    permits.run(async () => {
      plan.signal.throwIfAborted();
      return await work();
    });
  const generatedKinds = new Set(
    placed.filter(({ hasGeneratedName }) => hasGeneratedName).map(({ object }) => kindKey(object)),
  );
  return await Promise.all([
    ...placed.map((each) =>
      run(async () => {
        const isUninstalled = before.get(keyOf(each.object))?.isUninstalled === true;
        return await planObject({ ...plan, isReinstall: plan.isReinstall || isUninstalled }, each);
      }),
    ),
    ...left.map(({ object }) =>
      run(() => planDeletion(plan, object, generatedKinds.has(kindKey(object)))),
    ),
  ]);
}

/** Helm deletes what the cluster still has, unless the object itself says that it is kept. Its content is not shown. */
async function planDeletion(
  plan: ObjectsPlan,
  object: DriftObject,
  hasGeneratedName: boolean,
): Promise<PlannedObject> {
  const { findResource, masking, withText, ownTexts, signal } = plan;
  const resource = await findResource(object.apiVersion, object.kind, signal);
  const live = typeof resource === "string" ? undefined : await readLive(plan, resource, object);
  const isKept =
    (object.kind === "CustomResourceDefinition" && plan.keepsCrds) ||
    (typeof live === "object" && live.metadata.annotations?.[policyAnnotation] === keepPolicy);
  const why = typeof live === "string" ? live : undefined;
  const action =
    why !== undefined ? "fails" : live === undefined ? "none" : isKept ? "keep" : "delete";
  const changes = { object, action, changes: [], generated: [], hasGeneratedName, why } as const;
  return {
    object,
    action,
    remarks: [],
    ...(why !== undefined && { why: masking.redact(why) }),
    digest: digestOf(changes, masking),
    shape: shapeOf(changes, ownTexts),
    text: withText ? objectText(changes, masking) : "",
  };
}

async function placeOf(
  { findResource, definedKinds, signal }: ObjectsPlan,
  { apiVersion = "", kind = "", metadata }: KubeObject,
  own: string,
): Promise<{ readonly object: DriftObject; readonly resource: Resource<KubeObject> | string }> {
  const resource = await findResource(apiVersion, kind, signal);
  // Null and "" in a manifest mean the same as absent.
  const given = metadata.namespace || undefined;
  const [group] = groupOf({ apiVersion });
  const isNamespaced =
    typeof resource === "string"
      ? (definedKinds.get(`${group}/${kind}`) ?? given !== undefined)
      : resource.namespaced;
  const { name } = metadata;
  const namespace = isNamespaced ? (given ?? own) : undefined;
  return {
    resource,
    object: { apiVersion, kind, ...(namespace !== undefined && { namespace }), name },
  };
}

/** Helm takes an object of another version of its kind for the same one. */
function keyOf(object: DriftObject): string {
  return `${kindKey(object)} ${object.namespace ?? ""}/${object.name}`;
}

function kindKey(object: DriftObject): string {
  const [group] = groupOf(object);
  return `${group}/${object.kind}`;
}
