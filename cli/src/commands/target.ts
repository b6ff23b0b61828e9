/** The object that a command is for, in each form that kubectl takes and prints. */
import { clusters, schedules } from "@flotilla/shared/api";
import { type AppDefinition, appDefinition, appKinds, isAppKind } from "@flotilla/shared/api/apps";
import { gates } from "@flotilla/shared/api/rollout";
import { AppError } from "@flotilla/shared/errors";
import {
  buckets,
  gitRepositories,
  helmCharts,
  helmRepositories,
  ociRepositories,
} from "@flotilla/shared/flux";
import {
  type KubeObject,
  keyOf,
  type ObjectKey,
  type Resource,
} from "@flotilla/shared/kube/objects";
import { listNames } from "@flotilla/shared/text";
import { cliErrors } from "../errors.ts";
import type { AppRef } from "../rollout/index.ts";

/** A kind that commands are for. */
export type TargetKind = Pick<AppDefinition, "resource" | "shortNames">;

export interface Target {
  readonly resource: Resource<KubeObject>;
  readonly name: string;
}

const none: readonly string[] = [];

/** Kinds that make releases: they have logs, a history and so on. The first one is meant where a name stands alone. */
export const appTargets: readonly TargetKind[] = appKinds.map(appDefinition);

/** Kinds that are reconciled on request. */
export const reconciledKinds: readonly TargetKind[] = [
  ...appTargets,
  { resource: helmRepositories, shortNames: ["helmrepo"] },
  { resource: ociRepositories, shortNames: ["ocirepo"] },
  { resource: gitRepositories, shortNames: ["gitrepo"] },
  { resource: buckets, shortNames: none },
  { resource: helmCharts, shortNames: ["hc"] },
];

export const clusterKinds: readonly TargetKind[] = [{ resource: clusters, shortNames: none }];

export const scheduleKinds: readonly TargetKind[] = [{ resource: schedules, shortNames: none }];

export const gateKinds: readonly TargetKind[] = [{ resource: gates, shortNames: none }];

/** The app that a command is for; a name alone is a name of the first kind. Throws TARGET_INVALID. Pure. */
export function parseApp(args: readonly string[], namespace: string): AppRef {
  const { resource, name } = parseTarget(args, appTargets);
  const { kind } = resource;
  if (!isAppKind(kind)) throw invalid(args, appTargets);
  return { kind, namespace, name };
}

/**
 * `KIND NAME`, `KIND/NAME`, what `kubectl get --output name` prints (`KIND.GROUP/NAME`), and `NAME` for the first of the kinds; a
 * kind by its name in singular or plural or by a short name, in any case of letters. Throws TARGET_INVALID. Pure.
 */
export function parseTarget(args: readonly string[], kinds: readonly TargetKind[]): Target {
  const [first = "", second, ...others] = args.flatMap((arg) => arg.split("/"));
  const [fallback] = kinds;
  if (others.length > 0 || fallback === undefined) throw invalid(args, kinds);
  const kind = findKind(first, kinds);
  if (second === undefined && kind !== undefined) throw invalid(args, kinds);
  const resource = second === undefined ? fallback.resource : kind?.resource;
  const name = second ?? first;
  if (resource === undefined || !/^[a-z0-9][-.a-z0-9]*$/.test(name)) throw invalid(args, kinds);
  return { resource, name };
}

function findKind(text: string, kinds: readonly TargetKind[]): TargetKind | undefined {
  const [word = "", ...group] = text.toLowerCase().split(".");
  return kinds.find(
    ({ resource, shortNames }) =>
      [resource.kind.toLowerCase(), resource.plural, ...shortNames].includes(word) &&
      (group.length === 0 || group.join(".") === resource.group),
  );
}

/** The kinds as the arguments of a command have them: `helmop, helmrelease or bundle`. */
export function kindWords(kinds: readonly TargetKind[]): string {
  return orList.format(kinds.map(kindWord));
}

const orList = new Intl.ListFormat("en-GB", { type: "disjunction" });

function kindWord({ resource }: TargetKind): string {
  return resource.kind.toLowerCase();
}

function invalid(args: readonly string[], kinds: readonly TargetKind[]): AppError {
  const words = listNames(kinds.map(kindWord));
  return new AppError(
    cliErrors.TARGET_INVALID,
    `"${args.join(" ")}" is not KIND NAME or KIND/NAME with one of these kinds: ${words}`,
  );
}

/**
 * The key of a Cluster that is named as NAME or KIND/NAME, in the given namespace, or as NAMESPACE/NAME. No name of a namespace has a
 * dot, so `cluster.fleet.cattle.io/paris` is a kind. Throws TARGET_INVALID.
 */
export function parseCluster(word: string, namespace: string): ObjectKey {
  const [first = "", second, ...others] = word.split("/");
  const isKind = clusterKinds.some(
    ({ resource: { kind, plural } }) => first === kind.toLowerCase() || first === plural,
  );
  if (second === undefined || others.length > 0 || isKind || first.includes("."))
    return keyOf({ namespace, name: parseTarget([word], clusterKinds).name });
  return keyOf({ namespace: first, name: second });
}
