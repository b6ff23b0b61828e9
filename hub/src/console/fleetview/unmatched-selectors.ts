/**
 * Which selectors of `dependsOn` no Bundle matches, kept up to date with each change of a Bundle. A deployment waits for such a selector in
 * each of its clusters. Many Bundles have few different selectors, so each is compared once with a Bundle that changes; tenants can
 * write as many as they like, so what exceeds the limits counts as matched.
 */
import { type Bundle, type LabelSelector, selects } from "@flotilla/shared/api";
import type { Store } from "@flotilla/shared/kube/cache";
import { keyOf, type ObjectKey } from "@flotilla/shared/kube/objects";
import { targetedNamespace } from "../../base/index.ts";
import { bundleLabels, selectorText } from "../../rules/index.ts";

/** Different ones that are followed: each change of a Bundle is compared with all, within a millisecond. */
const maxSelectors = 500;

/** Characters of JSON. */
const longestSelector = 1_000;

/** The limit of a selector: whether it has a match needs no more, and a tenant's five hundred may each match ten thousand Bundles. */
const maxMatches = 16;

interface Tracked {
  readonly selector: LabelSelector;
  /** The namespace of the clusters. */
  readonly namespace: string;
  /** The first ones. */
  readonly matches: Set<ObjectKey>;
  /** There are others. */
  hasMore: boolean;
  /** The Bundles that depend on what it selects. */
  readonly users: Set<ObjectKey>;
}

export type UnmatchedSelectors = ReturnType<typeof createUnmatchedSelectors>;

export function createUnmatchedSelectors(bundles: Pick<Store<Bundle>, "list">) {
  const all = new Map<string, Tracked>();
  const usedBy = new Map<ObjectKey, readonly string[]>();

  function compare(key: ObjectKey, bundle: Bundle | undefined): readonly ObjectKey[] {
    const affected = new Set<ObjectKey>();
    const labels = bundle && bundleLabels(bundle);
    for (const tracked of all.values()) {
      const { selector, namespace, matches, users } = tracked;
      const isMatch =
        bundle !== undefined &&
        labels !== undefined &&
        targetedNamespace(bundle) === namespace &&
        selects(selector, labels);
      if (isMatch === matches.has(key)) continue;
      const before = matches.size;
      if (isMatch && before >= maxMatches) {
        tracked.hasMore = true;
        continue;
      }
      if (isMatch) matches.add(key);
      else matches.delete(key);
      if (matches.size <= 1 && tracked.hasMore) fill(tracked, key);
      // A Bundle itself does not count, so one match may be as good as none.
      if (Math.min(before, matches.size) <= 1) for (const user of users) affected.add(user);
    }
    affected.delete(key);
    return [...affected];
  }

  function use(key: ObjectKey, bundle: Bundle | undefined): void {
    const used = bundle === undefined ? [] : selectorsOf(bundle);
    for (const id of usedBy.get(key) ?? []) {
      const tracked = all.get(id);
      tracked?.users.delete(key);
      if (tracked?.users.size === 0 && !used.some((each) => each.id === id)) all.delete(id);
    }
    for (const { id, selector, namespace } of used) {
      const known = all.get(id);
      if (known === undefined && all.size >= maxSelectors) continue;
      const tracked = known ?? track(selector, namespace);
      tracked.users.add(key);
      all.set(id, tracked);
    }
    if (used.length === 0) usedBy.delete(key);
    else
      usedBy.set(
        key,
        used.map(({ id }) => id),
      );
  }

  function track(selector: LabelSelector, namespace: string): Tracked {
    const tracked: Tracked = {
      selector,
      namespace,
      matches: new Set(),
      hasMore: false,
      users: new Set(),
    };
    fill(tracked);
    return tracked;
  }

  /** `gone`: a Bundle that matches no more, whatever the store has of it. */
  function fill(tracked: Tracked, gone?: ObjectKey): void {
    const { selector, namespace, matches } = tracked;
    tracked.hasMore = false;
    for (const each of bundles.list()) {
      const key = keyOf(each);
      if (key === gone || targetedNamespace(each) !== namespace) continue;
      if (!selects(selector, bundleLabels(each))) continue;
      if (matches.size >= maxMatches && !matches.has(key)) {
        tracked.hasMore = true;
        return;
      }
      matches.add(key);
    }
  }

  return {
    /** The selectors of a Bundle, as `kubectl get -l` has them. */
    of(bundle: Bundle): readonly string[] {
      const own = keyOf(bundle);
      return selectorsOf(bundle).flatMap(({ id, selector }) => {
        const matches = all.get(id)?.matches;
        if (matches === undefined) return [];
        const others = matches.size - (matches.has(own) ? 1 : 0);
        return others > 0 ? [] : [selectorText(selector) || "{}"];
      });
    },
    /** A Bundle was created, changed or, if undefined, deleted. Returns the other Bundles of which `of` may return something else now. */
    changed(key: ObjectKey, bundle: Bundle | undefined): readonly ObjectKey[] {
      const affected = compare(key, bundle);
      use(key, bundle);
      return affected;
    },
  };
}

/** Where a name is given, too, what is absent has that name. */
function selectorsOf(bundle: Bundle) {
  const namespace = targetedNamespace(bundle);
  return (bundle.spec.dependsOn ?? []).flatMap(({ name, selector }) => {
    if (name || !selector) return [];
    const id = JSON.stringify([namespace, selector]);
    return id.length > longestSelector ? [] : [{ id, selector, namespace }];
  });
}
