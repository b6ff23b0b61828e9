/**
 * The values in objects of the hub (`valuesFrom` of a HelmRelease) of Bundles with stages. They belong to the revision there: the content
 * has them, so that a change of an object is another revision, and goes through the stages like any other. Without stages agents get the
 * objects themselves, in their newest version.
 */
import { type Bundle, type ObjectRef, placeOnHub } from "@flotilla/shared/api";
import type { HubValuesSource } from "@flotilla/shared/content";
import { AppError, messageOf } from "@flotilla/shared/errors";
import type { Watch } from "@flotilla/shared/kube/controller";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { hubErrors } from "../../base/index.ts";
import { type DataSigner, isStaged, type WorkspaceObjects } from "../../rules/index.ts";

/** Values as they are now. */
export interface ReadValues {
  readonly sources: readonly HubValuesSource[];
  /** Another one for other values. */
  readonly version: string;
}

export interface HubValues {
  /**
   * The values of a Bundle whose strategy, its own or its RolloutPolicy's, has stages; undefined: it has no such values, or no stages. From
   * then on the objects are watched for it, until `forget`. Throws VALUES_UNREADABLE.
   */
  of(bundle: Bundle): Promise<ReadValues | undefined>;
  /** The keys of the Bundles that have values of an object. */
  keysUsing(namespace: string, ref: ObjectRef): readonly ObjectKey[];
  forget(key: ObjectKey): void;
}

export interface HubValuesDeps {
  readonly objects: Pick<WorkspaceObjects, "watch" | "unwatch" | "known">;
  readonly signer: Pick<DataSigner, "sign">;
}

type Source = Omit<HubValuesSource, "object" | "salt">;

/** An object that a Bundle has values of. */
interface Place {
  readonly namespace: string;
  readonly ref: ObjectRef;
}

export function createHubValues({ objects, signer }: HubValuesDeps): HubValues {
  /** By key of the Bundle, and in it by object. */
  const watched = new Map<ObjectKey, ReadonlyMap<string, Place>>();
  /** By object. */
  const users = new Map<string, Set<ObjectKey>>();

  function watchInstead(key: ObjectKey, places: readonly Place[]): void {
    const before = watched.get(key) ?? new Map<string, Place>();
    const after = new Map(places.map((place) => [idOf(place), place] as const));
    for (const [id, { namespace, ref }] of after)
      if (!before.has(id)) {
        objects.watch(namespace, ref);
        users.set(id, (users.get(id) ?? new Set<ObjectKey>()).add(key));
      }
    for (const [id, { namespace, ref }] of before)
      if (!after.has(id)) {
        objects.unwatch(namespace, ref);
        users.get(id)?.delete(key);
        if (users.get(id)?.size === 0) users.delete(id);
      }
    if (after.size === 0) watched.delete(key);
    else watched.set(key, after);
  }

  /** Undefined: it is optional, and there is no such object. */
  async function read(source: Source, { namespace, ref }: Place) {
    const name = `${ref.kind} ${namespace}/${ref.name}`;
    const found = await objects.known(namespace, ref).catch((thrown: unknown) => {
      throw unreadable(
        `${name}, which valuesFrom references, cannot be read: ${messageOf(thrown)}`,
      );
    });
    if (found.kind === "present") {
      const digest = found.sent.digest([source.key]);
      const { data, binaryData } = found.sent.part([source.key]);
      const object = { ...(data && { data }), ...(binaryData && { binaryData }) };
      // Agents say what is wrong with a key that is not there, as of any other object.
      return {
        ...source,
        object,
        salt: signer.sign(["HubValues", source.kind, source.name, digest]),
      };
    }
    if (found.kind === "absent" && source.optional === true) return undefined;
    throw unreadable(
      found.kind === "absent"
        ? `there is no ${name}, which valuesFrom references`
        : `${name}, which valuesFrom references, was not read yet`,
    );
  }

  return {
    async of(bundle) {
      const { spec, metadata } = bundle;
      const valuesFrom = spec.helmOpOptions?.origin?.valuesFrom ?? [];
      const sources = isStaged(spec.rolloutStrategy) ? valuesFrom : [];
      const placed = sources.map((source) => {
        const { kind, name } = source;
        const { namespace, name: own } = placeOnHub({ name }, metadata.namespace ?? "");
        return { source, place: { namespace, ref: { kind, name: own } } };
      });
      watchInstead(
        keyOf(bundle),
        placed.map(({ place }) => place),
      );
      if (placed.length === 0) return undefined;
      const all = await Promise.all(placed.map(({ source, place }) => read(source, place)));
      const found = all.filter((each) => each !== undefined);
      return {
        sources: found,
        version: JSON.stringify(found.map(({ kind, name, key, salt }) => [kind, name, key, salt])),
      };
    },
    keysUsing: (namespace, ref) => [...(users.get(idOf({ namespace, ref })) ?? [])],
    forget: (key) => watchInstead(key, []),
  };
}

/** Enqueues the Bundles whose values are in an object that has changed. */
export function watchValues(
  objects: Pick<WorkspaceObjects, "onChange">,
  values: Pick<HubValues, "keysUsing">,
): Watch {
  return {
    start: (enqueue) =>
      objects.onChange((namespace, ref) => {
        for (const key of values.keysUsing(namespace, ref)) enqueue(key);
      }),
  };
}

function idOf({ namespace, ref: { kind, name } }: Place): string {
  return `${kind}/${namespace}/${name}`;
}

function unreadable(problem: string): AppError {
  return new AppError(
    hubErrors.VALUES_UNREADABLE,
    `${problem}: its values belong to what is rolled out in stages, so nothing is promoted until it can be read`,
  );
}
