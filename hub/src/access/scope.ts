/** What a user may see of the fleet: for each kind the namespaces in which the API server lets them list it. */
import { createFreshCache } from "@flotilla/shared/cache";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import type { Clock } from "@flotilla/shared/time";
import { type Access, digestOf } from "./cached-access.ts";
import type { User } from "./reviews.ts";

/** A kind, and the namespaces that have objects of it. */
export interface ViewedKind {
  readonly resource: Resource<KubeObject>;
  readonly namespaces: () => Iterable<string>;
}

export interface Scope {
  /** Equal for users who may see the same. */
  readonly key: string;
  /** `kind`: such as HelmOp. */
  sees(kind: string, namespace: string): boolean;
}

export type ScopeOf = (user: User) => Promise<Scope>;

/** In every namespace, or in these. */
type Namespaces = "all" | ReadonlySet<string>;

/** A new namespace is seen within this time. */
const scopeFreshMs = 3_000;
const maxScopes = 1_000;

/** Throws REVIEW_FAILED. */
export function createScopes(
  access: Pick<Access, "may">,
  kinds: readonly ViewedKind[],
  clock: Clock,
): ScopeOf {
  const scopes = createFreshCache<Scope>({ maxEntries: maxScopes, freshMs: scopeFreshMs, clock });

  async function read(user: User): Promise<Scope> {
    const entries = await Promise.all(
      kinds.map(
        async ({ resource, namespaces }) =>
          [resource.kind, await visibleIn(access, user, resource, namespaces())] as const,
      ),
    );
    return newScope(new Map(entries));
  }

  return (user) => scopes.get(digestOf(JSON.stringify(user)), () => read(user));
}

/** One review where the user may list the kind everywhere, otherwise one for each namespace. */
async function visibleIn(
  { may }: Pick<Access, "may">,
  user: User,
  { group, version, plural }: Resource<KubeObject>,
  namespaces: Iterable<string>,
): Promise<Namespaces> {
  const attributes = { group, version, resource: plural, verb: "list" };
  if (await may(user, attributes)) return "all";
  const names = [...new Set(namespaces)];
  const allowed = await Promise.all(
    names.map((namespace) => may(user, { ...attributes, namespace })),
  );
  return new Set(names.filter((_, index) => allowed[index]));
}

/** Pure. */
export function newScope(visible: ReadonlyMap<string, Namespaces>): Scope {
  const key = JSON.stringify(
    [...visible].map(([kind, namespaces]) => [
      kind,
      namespaces === "all" ? namespaces : [...namespaces].sort(),
    ]),
  );
  return {
    key,
    sees(kind, namespace) {
      const namespaces = visible.get(kind);
      return namespaces === "all" || namespaces?.has(namespace) === true;
    },
  };
}
