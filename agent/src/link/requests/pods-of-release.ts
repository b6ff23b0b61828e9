/** The pods of a release: what the selectors of its workloads select, the pods of its hooks, or the pods of its tests. */
import type { LogOptions } from "@flotilla/proto";
import { AppError } from "@flotilla/shared/errors";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects";
import * as z from "zod";
import { agentErrors } from "../../base/errors/index.ts";
import type { ReadRecords } from "../../helm/index.ts";
import { hooksOfRelease, isTest, type ReleaseHook } from "./hooks-of-release.ts";
import {
  type FindResource,
  type FoundRelease,
  type RequestedRelease,
  readableObjects,
} from "./requested-release.ts";

export interface Pod extends KubeObject {
  readonly spec?: {
    readonly initContainers?: readonly { readonly name: string }[];
    readonly containers?: readonly { readonly name: string }[];
  };
}

const pods: Resource<Pod> = {
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  namespaced: true,
};
const jobs: Resource<KubeObject> = {
  group: "batch",
  version: "v1",
  kind: "Job",
  plural: "jobs",
  namespaced: true,
};

/** The limit of one workload. */
const maxPods = 100;

export interface PodsDeps {
  readonly records: Pick<ReadRecords, "manifest">;
  readonly findResource: FindResource;
}

/** By name, those that are filtered out left out. Throws REQUEST_FAILED if there is none, and errors of the API server. */
export async function podsOf(
  deps: PodsDeps,
  release: RequestedRelease,
  stored: FoundRelease | undefined,
  options: Pick<LogOptions, "pod" | "tests">,
  signal: AbortSignal,
): Promise<readonly Pod[]> {
  const found = new Map<string, Pod>();
  const hooks = await hooksOfRelease(deps, release, stored);
  const objects =
    stored === undefined || options.tests
      ? []
      : readableObjects(stored, await deps.records.manifest(stored.release, "objects"));
  for (const pod of await podsOfObjects(
    deps,
    release,
    [...objects, ...hooks.filter((hook) => isAsked(hook, options))],
    signal,
  ))
    if (options.pod === undefined || pod.metadata.name === options.pod)
      found.set(`${pod.metadata.namespace ?? ""}/${pod.metadata.name}`, pod);
  if (found.size === 0)
    throw new AppError(agentErrors.REQUEST_FAILED, whyNone(release, hooks, options));
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, pod]) => pod);
}

/** Whether a hook is asked for, which is one pod, whatever has created it. */
function isAsked(hook: ReleaseHook, { pod, tests }: Pick<LogOptions, "pod" | "tests">): boolean {
  return isTest(hook) ? tests || pod !== undefined : !tests;
}

function whyNone(
  { namespace, name }: RequestedRelease,
  hooks: readonly ReleaseHook[],
  options: Pick<LogOptions, "pod" | "tests">,
): string {
  const release = `release ${namespace}/${name}`;
  if (!options.tests)
    return `${release} has no pod${options.pod === undefined ? "" : ` ${options.pod}`}`;
  const tests = hooks.filter(isTest);
  if (tests.length === 0) return `the chart of ${release} has no tests`;
  const names = tests.map(({ name: test }) => test).join(", ");
  return `the pods of the tests of ${release} (${names}) do not exist: they have not run, or their hook-delete-policy has deleted them`;
}

async function podsOfObjects(
  deps: PodsDeps,
  release: RequestedRelease,
  objects: readonly Named[],
  signal: AbortSignal,
): Promise<readonly Pod[]> {
  const found: Pod[] = [];
  for (const object of objects)
    if (podKinds.has(`${object.apiVersion}/${object.kind}`))
      found.push(...(await podsOfObject(deps, release, object, signal)));
  return found;
}

type Named = Pick<ReleaseHook, "apiVersion" | "kind" | "namespace" | "name">;

const podKinds: ReadonlySet<string> = new Set([
  "v1/Pod",
  "apps/v1/Deployment",
  "apps/v1/StatefulSet",
  "apps/v1/DaemonSet",
  "apps/v1/ReplicaSet",
  "batch/v1/Job",
  "batch/v1/CronJob",
]);

async function podsOfObject(
  { findResource }: PodsDeps,
  { rest, namespace: own }: RequestedRelease,
  { apiVersion, kind, name, namespace = own }: Named,
  signal: AbortSignal,
): Promise<readonly Pod[]> {
  if (kind === "Pod") {
    const pod = await rest.get(pods, { namespace, name }, { signal });
    return pod === undefined ? [] : [pod];
  }
  const resource = await findResource(apiVersion, kind, signal);
  if (typeof resource === "string") return [];
  const workload = await rest.get(resource, { namespace, name }, { signal });
  if (workload === undefined) return [];
  const owners = kind === "CronJob" ? await jobsOf(workload) : [workload];
  const found: Pod[] = [];
  for (const owner of owners) {
    const labelSelector = selectorOf(owner);
    if (labelSelector === undefined) continue;
    const page = await rest.list(pods, { namespace, labelSelector, limit: maxPods, signal });
    found.push(...page.items);
  }
  return found;

  async function jobsOf({ metadata }: KubeObject): Promise<readonly KubeObject[]> {
    const { items } = await rest.list(jobs, { namespace, limit: maxPods, signal });
    return items.filter((job) =>
      job.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid),
    );
  }
}

const expressionSchema = z.looseObject({
  key: z.string(),
  operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]),
  values: z.array(z.string()).nullish(),
});
const workloadSchema = z.looseObject({
  spec: z.looseObject({
    selector: z.looseObject({
      matchLabels: z.record(z.string(), z.string()).nullish(),
      matchExpressions: z.array(expressionSchema).nullish(),
    }),
  }),
});

/** The selector of a workload as the API takes it; undefined if it selects nothing, or everything. Pure. */
export function selectorOf(workload: unknown): string | undefined {
  const parsed = workloadSchema.safeParse(workload);
  if (!parsed.success) return undefined;
  const { matchLabels, matchExpressions } = parsed.data.spec.selector;
  const terms = [
    ...Object.entries(matchLabels ?? {}).map(([key, value]) => `${key}=${value}`),
    ...(matchExpressions ?? []).map(expressionTerm),
  ];
  return terms.length === 0 ? undefined : terms.join(",");
}

function expressionTerm({ key, operator, values }: z.infer<typeof expressionSchema>): string {
  const list = `(${(values ?? []).join(",")})`;
  switch (operator) {
    case "In":
      return `${key} in ${list}`;
    case "NotIn":
      return `${key} notin ${list}`;
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
  }
}
