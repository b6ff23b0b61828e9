/** What a user may see of the fleet: for each kind the namespaces in which the API server lets them list it. */
import { createFreshCache, createLruCache } from "@flotilla/shared/cache";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import type { Clock } from "@flotilla/shared/time";
import { type Access, keyOfUser } from "./cached-access.ts";
import type { Attributes, User } from "./reviews.ts";

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
  access: Pick<Access, "may" | "mayIfAsked">,
  kinds: readonly ViewedKind[],
  clock: Clock,
): ScopeOf {
  const scopes = createFreshCache<Scope>({ maxEntries: maxScopes, freshMs: scopeFreshMs, clock });
  /** What users saw last. */
  const last = createLruCache<Scope>(maxScopes);

  async function read(user: User, key: string): Promise<Scope> {
    const scope = newScope(await visibleTo(user, last.get(key)));
    last.set(key, scope);
    return scope;
  }

  /**
   * One review for each kind that the user may list everywhere, otherwise one for each namespace. What they saw last is asked
   * first: where there are too many reviews, it is what is new to them that is seen later.
   */
  async function visibleTo(user: User, before: Scope | undefined) {
    const everywhere = new Set<string>();
    const questions: Question[] = [];
    await Promise.all(
      kinds.map(async ({ resource, namespaces }) => {
        const { kind } = resource;
        if (await access.may(user, listOf(resource))) everywhere.add(kind);
        else for (const namespace of new Set(namespaces())) questions.push({ resource, namespace });
      }),
    );
    const wasSeen = ({ resource, namespace }: Question) =>
      before?.sees(resource.kind, namespace) === true;
    const inOrder = [...questions.filter(wasSeen), ...questions.filter((each) => !wasSeen(each))];
    const allowed = await Promise.all(
      inOrder.map(({ resource, namespace }) =>
        access.mayIfAsked(user, { ...listOf(resource), namespace }),
      ),
    );
    const found = new Map<string, Set<string>>();
    for (const [index, { resource, namespace }] of inOrder.entries())
      if (allowed[index] === true)
        found.set(resource.kind, (found.get(resource.kind) ?? new Set()).add(namespace));
    // In the order of the kinds, which the key of a scope has.
    return new Map(
      kinds.map(({ resource: { kind } }) => [
        kind,
        everywhere.has(kind) ? ("all" as const) : (found.get(kind) ?? new Set<string>()),
      ]),
    );
  }

  return (user) => {
    const key = keyOfUser(user);
    return scopes.get(key, () => read(user, key));
  };
}

interface Question {
  readonly resource: Resource<KubeObject>;
  readonly namespace: string;
}

function listOf({ group, version, plural }: Resource<KubeObject>): Attributes {
  return { group, version, resource: plural, verb: "list" };
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
