/**
 * The kinds of app: what users write to have a chart deployed. Each is one entry of `appDefinitions`, and code that treats several kinds
 * reads it there. Pure, and without Node's modules, because the dashboard reads it, too.
 */
import type { AppDefinition, AppRequest } from "./app-definition.ts";
import {
  bundleFinalizer,
  fluxFinalizer,
  fluxOwnerLabels,
  helmOpFinalizer,
  helmOpLabel,
  helmReleaseLabel,
} from "./labels.ts";

const fleet = { group: "fleet.cattle.io", version: "v1alpha1", namespaced: true } as const;
const releaseRequests = ["reconcile", "correct-drift", "retry", "force"] as const;

/** By kind, in the order in which they are shown. The first one is meant where a command names no kind. */
export const appDefinitions = {
  HelmOp: {
    resource: { ...fleet, kind: "HelmOp", plural: "helmops" },
    shortNames: [],
    finalizer: helmOpFinalizer,
    yieldsToFlux: false,
    label: helmOpLabel,
    bundleName: "same",
    hasOrigin: false,
    originLabels: [],
    valuesFrom: "cluster",
    requests: ["poll", ...releaseRequests],
    receiversNeedApiVersion: false,
    blockedBy: "Accepted",
    setsCommitStatus: false,
  },
  HelmRelease: {
    resource: {
      group: "helm.toolkit.fluxcd.io",
      version: "v2",
      kind: "HelmRelease",
      plural: "helmreleases",
      namespaced: true,
    },
    shortNames: ["hr"],
    finalizer: fluxFinalizer,
    yieldsToFlux: true,
    label: helmReleaseLabel,
    bundleName: "prefixed",
    hasOrigin: true,
    originLabels: Object.values(fluxOwnerLabels),
    valuesFrom: "hub",
    chartName: ({ namespace, name }) => `${namespace}-${name}`,
    requests: releaseRequests,
    receiversNeedApiVersion: true,
    blockedBy: "Ready",
    setsCommitStatus: true,
  },
  Bundle: {
    resource: { ...fleet, kind: "Bundle", plural: "bundles" },
    shortNames: [],
    finalizer: bundleFinalizer,
    yieldsToFlux: false,
    bundleName: "same",
    hasOrigin: false,
    originLabels: [],
    valuesFrom: "cluster",
    requests: releaseRequests,
    receiversNeedApiVersion: false,
    blockedBy: "Accepted",
    setsCommitStatus: false,
  },
} as const satisfies Readonly<Record<string, AppDefinition>>;

type Definitions = typeof appDefinitions;

/** The kinds of app. */
export type AppKind = keyof Definitions;

type KindsWith<Part> = {
  readonly [K in AppKind]: Definitions[K] extends Part ? K : never;
}[AppKind];

/** The kinds of app for whose objects the hub makes Bundles. */
export type FrontEndKind = KindsWith<{ readonly label: string }>;

/** The kinds of app that are named in the signed origin of their Bundles. */
export type OriginKind = KindsWith<{ readonly hasOrigin: true }>;

/** All kinds of app. */
export const appKinds: readonly AppKind[] = Object.keys(appDefinitions).filter(isAppKind);

/** The kinds of app for whose objects the hub makes Bundles. */
export const frontEndKinds: readonly FrontEndKind[] = appKinds.filter(isFrontEndKind);

/** Whether an object of this kind is an app. */
export function isAppKind(kind: string): kind is AppKind {
  return Object.hasOwn(appDefinitions, kind);
}

function isFrontEndKind(kind: AppKind): kind is FrontEndKind {
  return appDefinition(kind).label !== undefined;
}

/** Whether the origin of a Bundle names apps of this kind. */
export function isOriginKind(kind: AppKind): kind is OriginKind {
  return appDefinition(kind).hasOrigin;
}

/** What a kind of app is. */
export function appDefinition(kind: AppKind): AppDefinition {
  return appDefinitions[kind];
}

/** Whether a request of this type has an effect on apps of this kind. */
export function takesRequest(kind: AppKind, request: AppRequest): boolean {
  return appDefinition(kind).requests.includes(request);
}

const orList = new Intl.ListFormat("en-GB", { type: "disjunction" });

/** The kinds as a sentence names them: `HelmOp, HelmRelease or Bundle`. */
export function nameKinds(kinds: readonly AppKind[]): string {
  return orList.format(kinds);
}
