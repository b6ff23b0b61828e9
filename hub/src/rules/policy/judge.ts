/** What the Policies of the hub say about a release: the one place where they are applied. */
import type { Policy } from "@flotilla/shared/api";
import type { AppError } from "@flotilla/shared/errors";
import type { Store } from "@flotilla/shared/kube/cache";
import type { Patterns } from "@flotilla/shared/regex";
import type { PlannedRelease } from "../frontend/planned-release.ts";
import { allowedNamespacesViolation } from "./allowed-namespaces.ts";
import { withDefaults } from "./defaults.ts";
import { type HubRules, lendersOf, type MergedPolicy, policiesIn } from "./merge-policies.ts";
import { usedBy } from "./used.ts";
import { violationOf } from "./violation.ts";

export interface PolicyDeps extends HubRules {
  readonly policies: Pick<Store<Policy>, "byIndex">;
  readonly patterns: Patterns;
}

/** The Policies that a release obeys: its own namespace's, and its Clusters' namespace's. */
export function policiesFor(deps: PolicyDeps, release: PlannedRelease): readonly MergedPolicy[] {
  return policiesIn(deps.policies, judgedNamespaces(release), deps);
}

/** The release with the defaults of its Policies, which HelmOps have. */
export function withDefaultsOf(
  policies: readonly MergedPolicy[],
  release: PlannedRelease,
): PlannedRelease {
  return policies.reduce((each, policy) => withDefaults(policy, each), release);
}

/** What they have against it, and what Policies of the namespaces whose Secrets it uses have; `policies`: as `policiesFor` says. */
export function judge(
  deps: PolicyDeps,
  policies: readonly MergedPolicy[],
  release: PlannedRelease,
): AppError | undefined {
  const used = usedBy(release);
  const judging = judgedNamespaces(release);
  const lenders = lendersOf(deps.policies, judging, used);
  for (const namespace of judging) {
    const kept = allowedNamespacesViolation(deps.policies, namespace, used.namespace);
    if (kept !== undefined) return kept;
  }
  return violationOf([...policies, ...lenders], used, deps.patterns);
}

function judgedNamespaces({ metadata, origin }: PlannedRelease): readonly string[] {
  const { namespace = "" } = metadata;
  return [...new Set([namespace, origin?.clusterNamespace ?? namespace])];
}
