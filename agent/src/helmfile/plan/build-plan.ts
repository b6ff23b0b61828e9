/** The plan of what helmfile has listed, built and done. Pure. */
import type { ReleaseOptions } from "../command/upgrade-command.ts";
import type { BuiltRelease, ListedRelease } from "./helmfile-output.ts";
import {
  type HelmfilePlan,
  type PlannedChart,
  type PlannedRelease,
  type ReleaseRef,
  releaseId,
} from "./helmfile-plan.ts";

/** An upgrade of a run, with what it comes to. */
export interface PlannedUpgrade {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly kubeContext?: string | undefined;
  readonly chart: PlannedChart;
  /** The digest of the final values. */
  readonly values: string;
  readonly options: ReleaseOptions;
}

export interface PlanFacts {
  /** All releases, with those that are not installed. */
  readonly listed: readonly ListedRelease[];
  readonly built: readonly BuiltRelease[];
  readonly upgrades: readonly PlannedUpgrade[];
  /** The version of helmfile. */
  readonly helmfile: string;
  /** For releases without one in the helmfile. */
  readonly defaultNamespace: string;
}

export type PlanResult =
  | { readonly kind: "planned"; readonly plan: HelmfilePlan }
  /** A sentence for people, which names the release. */
  | { readonly kind: "invalid"; readonly why: string };

export function buildPlan(facts: PlanFacts): PlanResult {
  const { listed, upgrades, helmfile, defaultNamespace } = facts;
  const located = <T extends MaybeRef>(one: T): T & ReleaseRef => ({
    ...one,
    namespace: namespaceOf(one, defaultNamespace),
  });
  const wanted = listed.filter(({ enabled, installed }) => enabled && installed).map(located);
  const removed = listed.filter(({ enabled, installed }) => enabled && !installed).map(located);
  const done = upgrades.map(located);
  const problem =
    emptyProblem(listed, wanted) ??
    duplicateProblem([...wanted, ...removed]) ??
    contextProblem(done) ??
    differenceProblem(wanted, done);
  if (problem !== undefined) return { kind: "invalid", why: problem };
  const needs = needsOf(facts.built, defaultNamespace);
  return {
    kind: "planned",
    plan: {
      format: 1,
      helmfile,
      releases: done
        .map(({ namespace, name, chart, values, options }): PlannedRelease => {
          const id = releaseId({ namespace, name });
          return { namespace, name, chart, values, options, needs: needs.get(id) ?? [] };
        })
        .sort(byId),
      removed: removed.map(({ namespace, name }) => ({ namespace, name })).sort(byId),
    },
  };
}

interface MaybeRef {
  readonly name: string;
  readonly namespace?: string | undefined;
}

function namespaceOf({ namespace }: MaybeRef, defaultNamespace: string): string {
  return namespace === undefined || namespace === "" ? defaultNamespace : namespace;
}

/** What is deployed stays then: an empty plan uninstalls nothing. */
function emptyProblem(
  listed: readonly ListedRelease[],
  wanted: readonly ReleaseRef[],
): string | undefined {
  if (listed.length === 0)
    return "the helmfile has no release for this environment and these selectors";
  return wanted.length === 0
    ? "no release of the helmfile is to be installed (condition or installed of all of them is false)"
    : undefined;
}

function duplicateProblem(releases: readonly ReleaseRef[]): string | undefined {
  const twice = firstTwice(releases.map(releaseId));
  return twice === undefined ? undefined : `the helmfile has release ${twice} twice`;
}

function firstTwice(ids: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return ids.find((id) => seen.size === seen.add(id).size);
}

/** Releases of several clusters in one helmfile. */
function contextProblem(upgrades: readonly PlannedUpgrade[]): string | undefined {
  const contexts = [...new Set(upgrades.map(({ kubeContext }) => kubeContext))].filter(
    (each) => each !== undefined,
  );
  return contexts.length > 1
    ? `its releases have ${contexts.length} kubeContexts: say in spec.kubeContext which of them this cluster is`
    : undefined;
}

/** helmfile has to have done what it has listed: the author of the file can run its Helm, too. */
function differenceProblem(
  wanted: readonly ReleaseRef[],
  done: readonly ReleaseRef[],
): string | undefined {
  const ids = new Set(done.map(releaseId));
  const wantedIds = new Set(wanted.map(releaseId));
  const unlisted = [...ids].find((id) => !wantedIds.has(id));
  if (unlisted !== undefined)
    return `helm was to upgrade release ${unlisted}, which helmfile does not list`;
  const twice = firstTwice(done.map(releaseId));
  if (twice !== undefined) return `helm was to upgrade release ${twice} twice`;
  const missing = [...wantedIds].find((id) => !ids.has(id));
  return missing === undefined
    ? undefined
    : `helmfile lists release ${missing} and did not upgrade it`;
}

/** By the id of the release. */
function needsOf(
  built: readonly BuiltRelease[],
  defaultNamespace: string,
): ReadonlyMap<string, readonly string[]> {
  return new Map(
    built.map((release) => {
      const namespace = namespaceOf(release, defaultNamespace);
      const ids = release.needs.map((need) => neededId(need, defaultNamespace));
      return [releaseId({ namespace, name: release.name }), [...new Set(ids)].sort()];
    }),
  );
}

/** `need`: `NAME`, `NAMESPACE/NAME` or `CONTEXT/NAMESPACE/NAME`. */
function neededId(need: string, defaultNamespace: string): string {
  const [name = "", namespace] = need.split("/").reverse();
  return releaseId({ name, namespace: namespaceOf({ name, namespace }, defaultNamespace) });
}

function byId(a: ReleaseRef, b: ReleaseRef): number {
  return releaseId(a) < releaseId(b) ? -1 : 1;
}
