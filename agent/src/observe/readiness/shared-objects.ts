/** Which objects belong to more than one release. The one that was upgraded last owns them for Helm, and the others write them, too. */
import type { KubeObject, ObjectKey, Resource } from "@flotilla/shared/kube/objects";
import type { OwnedObject } from "../../helm/index.ts";

/** An object of a release that others have as well. */
export interface SharedObject {
  readonly kind: string;
  /** `namespace/name`, or a name alone. */
  readonly key: ObjectKey;
  /** The other releases, by the names that they are tracked under. */
  readonly others: readonly string[];
}

export interface TrackedKey {
  readonly owned: OwnedObject;
  readonly resource: Pick<Resource<KubeObject>, "group" | "plural">;
  readonly key: ObjectKey;
}

export function createSharedObjects() {
  const objectsOf = new Map<string, ReadonlyMap<string, TrackedKey>>();
  const owners = new Map<string, Set<string>>();

  function othersOf(id: string, name: string): readonly string[] {
    const all = owners.get(id);
    return all === undefined || all.size < 2 ? [] : [...all].filter((each) => each !== name).sort();
  }

  return {
    /** Replaces the objects of a release; none removes it. Returns the other releases for which something has changed. */
    set(name: string, objects: readonly TrackedKey[]): ReadonlySet<string> {
      const before = objectsOf.get(name) ?? new Map<string, TrackedKey>();
      const after = new Map(objects.map((object) => [idOf(object), object]));
      const changed = new Set<string>();
      for (const id of before.keys()) {
        if (after.has(id)) continue;
        for (const other of othersOf(id, name)) changed.add(other);
        const left = owners.get(id);
        left?.delete(name);
        if (left?.size === 0) owners.delete(id);
      }
      for (const id of after.keys()) {
        const all = owners.get(id) ?? new Set();
        owners.set(id, all.add(name));
        if (!before.has(id)) for (const other of othersOf(id, name)) changed.add(other);
      }
      if (after.size === 0) objectsOf.delete(name);
      else objectsOf.set(name, after);
      return changed;
    },
    of: (name: string): readonly SharedObject[] =>
      [...(objectsOf.get(name) ?? [])].flatMap(([id, { owned, key }]) => {
        const others = othersOf(id, name);
        return others.length === 0 ? [] : [{ kind: owned.kind, key, others }];
      }),
  };
}

/** The same in every version of its group. */
function idOf({ resource, key }: TrackedKey): string {
  return `${resource.group}/${resource.plural} ${key}`;
}
