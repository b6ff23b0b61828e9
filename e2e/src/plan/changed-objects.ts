/** What a plan says and what the upgrade that follows does: the objects of a cluster before and after, to be compared. */
import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import type { ReadAll } from "./all-objects.ts";

/** An object as Helm has made it. */
interface HelmObject {
  readonly uid: string | undefined;
  readonly text: string;
}

/** By name. */
export type HelmObjects = ReadonlyMap<string, HelmObject>;

/** The resource version of each object, by its name. */
type ResourceVersions = Readonly<Record<string, string>>;

export function resourceVersionsOf(objects: readonly KubeObject[]): ResourceVersions {
  return Object.fromEntries(
    objects.map((object) => [nameOf(object), object.metadata.resourceVersion ?? ""]),
  );
}

/**
 * The resource versions once two readings are equal: controllers write once more after an installation. `isBusy`: an object that is
 * waited for.
 */
export async function settledVersions(
  read: ReadAll,
  isBusy: (object: KubeObject) => boolean = () => false,
): Promise<ResourceVersions> {
  for (let last = resourceVersionsOf(await read()); ; ) {
    const objects = await read();
    const next = resourceVersionsOf(objects);
    if (!objects.some(isBusy) && isDeepStrictEqual(next, last)) return next;
    last = next;
  }
}

/** The objects of a release, without what changes with every write. */
export function helmObjects(objects: readonly KubeObject[], release: string): HelmObjects {
  return new Map(
    objects
      // Controllers copy the labels of a Service, or the annotations of a Deployment, to what they make.
      .filter(({ metadata }) => metadata.labels?.["app.kubernetes.io/managed-by"] === "Helm")
      .filter(({ metadata }) => metadata.annotations?.["meta.helm.sh/release-name"] === release)
      .map((object) => {
        const { managedFields, resourceVersion, generation, uid, ...metadata } = object.metadata;
        const text = JSON.stringify({ ...object, metadata, status: undefined });
        return [nameOf(object), { uid, text }];
      }),
  );
}

/** What an upgrade has done, in the words of a plan. */
export function changesBetween(before: HelmObjects, after: HelmObjects): readonly string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names]
    .flatMap((name) => {
      const change = changeOf(before.get(name), after.get(name));
      return change === undefined ? [] : [`${name}: ${change}`];
    })
    .toSorted();
}

function changeOf(one: HelmObject | undefined, other: HelmObject | undefined): string | undefined {
  if (one === undefined) return "create";
  if (other === undefined) return "delete";
  if (one.uid !== other.uid) return "replace: deleted and created again";
  return one.text === other.text ? undefined : "update";
}

/** What the headers of the text say of objects. */
export function plannedIn(text: string): readonly string[] {
  return [...text.matchAll(/^# (.+: (?:create|update|delete|replace).*)$/gm)]
    .map(([, header = ""]) => header)
    .toSorted();
}

function nameOf({ kind, metadata: { namespace, name } }: KubeObject): string {
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}
