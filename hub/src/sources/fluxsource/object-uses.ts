/** Which objects of the hub depend on which Secrets and ConfigMaps, so that a change of one reconciles the others. */
import { formatObjectRef, type ObjectRef } from "@flotilla/shared/api";
import type { Watch } from "@flotilla/shared/kube/controller";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import type { ReferencedObjectData } from "@flotilla/shared/referenced";
import type { WorkspaceObjects } from "../../rules/index.ts";

export interface UsedObject {
  readonly namespace: string;
  readonly ref: ObjectRef;
}

/** The observed state of a used object; `data` undefined: it does not exist. */
export interface ReadObject {
  readonly data: ReferencedObjectData | undefined;
  readonly resourceVersion: string;
}

export interface ObjectUses {
  /** Replaces what an object depends on, and reads it. Throws when something cannot be read. */
  use(key: ObjectKey, used: readonly UsedObject[]): Promise<readonly ReadObject[]>;
  forget(key: ObjectKey): void;
  /** Reconciles the objects that depend on what has changed. */
  readonly watch: Watch;
}

export function createObjectUses(
  objects: Pick<WorkspaceObjects, "watch" | "unwatch" | "refresh" | "onChange">,
): ObjectUses {
  const used = new Map<ObjectKey, readonly UsedObject[]>();
  const users = new Map<string, Set<ObjectKey>>();

  function replace(key: ObjectKey, next: readonly UsedObject[]): void {
    const before = used.get(key) ?? [];
    const names = new Set(next.map(nameOf));
    const known = new Set(before.map(nameOf));
    for (const each of next) {
      if (known.has(nameOf(each))) continue;
      objects.watch(each.namespace, each.ref);
      users.set(nameOf(each), (users.get(nameOf(each)) ?? new Set()).add(key));
    }
    for (const each of before) {
      if (names.has(nameOf(each))) continue;
      objects.unwatch(each.namespace, each.ref);
      const others = users.get(nameOf(each));
      others?.delete(key);
      if (others?.size === 0) users.delete(nameOf(each));
    }
    if (next.length === 0) used.delete(key);
    else used.set(key, next);
  }

  return {
    async use(key, next) {
      const distinct = [...new Map(next.map((each) => [nameOf(each), each])).values()];
      replace(key, distinct);
      return await Promise.all(
        next.map(async ({ namespace, ref }) => {
          // What is known of a namespace that is not watched may be old.
          const found = await objects.refresh(namespace, ref);
          return found.kind === "present"
            ? { data: found.object, resourceVersion: found.resourceVersion }
            : { data: undefined, resourceVersion: "" };
        }),
      );
    },
    forget: (key) => replace(key, []),
    watch: {
      start: (enqueue) =>
        objects.onChange((namespace, ref) => {
          for (const key of users.get(nameOf({ namespace, ref })) ?? []) enqueue(key);
        }),
    },
  };
}

function nameOf({ namespace, ref }: UsedObject): string {
  return `${namespace}/${formatObjectRef(ref)}`;
}
