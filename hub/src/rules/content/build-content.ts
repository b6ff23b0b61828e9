/** From merged options and a pin to the content that clusters get. Pure. */
import type {
  BundleDeploymentOptions,
  BundleOrigin,
  BundleSpec,
  HelmOptions,
  ObjectRef,
} from "@flotilla/shared/api";
import { appDefinition } from "@flotilla/shared/api/apps";
import {
  bundleNameLabel,
  bundleNamespaceLabel,
  deploymentName,
  helmReleaseName,
} from "@flotilla/shared/api/names";
import {
  contentFormat,
  type Dependency,
  type DeploymentContent,
  type HealthCheck,
  type HubValuesSource,
  type ValuesSource,
} from "@flotilla/shared/content";
import { isTreePin, type Pin } from "@flotilla/shared/source";
import { driftOptions } from "./drift.ts";
import { postRendering } from "./post-renderers.ts";
import { releaseActions } from "./release-actions.ts";

/** The release namespace when neither `namespace` nor `defaultNamespace` is set, as in Fleet. */
const namespaceOfLastResort = "default";

/** Fleet's own default, less than Helm's ten: every release record is a Secret in the cluster's etcd. */
const defaultMaxHistory = 2;

const defaultValuesKey = "values.yaml";

type DependsOn = NonNullable<BundleSpec["dependsOn"]>[number];
type HealthCheckExpr = NonNullable<BundleDeploymentOptions["healthCheckExprs"]>[number];
type ValuesReference = NonNullable<HelmOptions["valuesFrom"]>[number];
type KeyReference = NonNullable<ValuesReference["secretKeyRef"]>;

export interface ContentSource {
  readonly bundleName: string;
  /**
   * The Bundle's namespace, for a content of Clusters of other namespaces: there objects and Bundles that the Bundle names are in
   * its own namespace all the same. Absent: the Clusters are in the Bundle's namespace.
   */
  readonly from?: string | undefined;
  /** By which those that depend on the Bundle may select it. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly dependsOn?: BundleSpec["dependsOn"];
  readonly options: BundleDeploymentOptions;
  readonly pin: Pin;
  /** The HelmOp's own switch, where it has one. */
  readonly insecureSkipVerify?: boolean | undefined;
  /** The Secret with the credentials for the chart's source. */
  readonly accessSecret?: string | null | undefined;
  /** Authorities that are trusted where that names none, as PEM in base64. */
  readonly caBundle?: string | null | undefined;
  /** What only the hub decides about the Bundle. */
  readonly origin?: BundleOrigin | undefined;
  /** What the origin's `valuesFrom` has now, where that belongs to the content; absent: agents get the objects. */
  readonly hubValues?: readonly HubValuesSource[] | undefined;
}

export function buildContent({
  bundleName,
  from,
  labels,
  dependsOn,
  options,
  pin,
  insecureSkipVerify,
  accessSecret,
  caBundle,
  origin,
  hubValues,
}: ContentSource): DeploymentContent {
  const helm = options.helm ?? {};
  const values = helm.values ?? undefined;
  const preProcessed = helm.disablePreProcess !== true;
  const actions = releaseActions(options, origin);
  const drift = driftOptions(options);
  const content: Omit<DeploymentContent, "format"> = {
    pin,
    releaseName: orElse(helm.releaseName, helmReleaseName(bundleName)),
    namespace: releaseNamespace(options),
    createNamespace: options.createNamespace ?? true,
    ...(hasAny(values) && { values }),
    ...(preProcessed && hasAny(helm.templateValues) && { templateValues: helm.templateValues }),
    valuesAreTemplates: preProcessed,
    ...listed("valuesFrom", (helm.valuesFrom ?? []).flatMap(valuesSources)),
    ...listed(
      "copies",
      copiesOf(options).map(({ kind, name }) => ({ kind, name: objectName(name, from) })),
    ),
    ...given("serviceAccount", origin?.serviceAccount ?? options.serviceAccount),
    ...listed("hubValues", hubValues ?? origin?.valuesFrom ?? []),
    ...given("recordsNamespace", origin?.recordsNamespace),
    ...(hasAny(options.namespaceLabels) && { namespaceLabels: options.namespaceLabels }),
    ...(hasAny(options.namespaceAnnotations) && {
      namespaceAnnotations: options.namespaceAnnotations,
    }),
    ...(hasAny(labels) && { labels }),
    ...listed("ignoredConditions", options.ignore?.conditions ?? []),
    ...listed(
      "dependsOn",
      (dependsOn ?? []).map((each) => dependencyFrom(dependencyOf(each), from)),
    ),
    helm: {
      timeoutSeconds: Math.max(0, helm.timeoutSeconds ?? 0),
      atomic: helm.atomic ?? false,
      force: helm.force ?? false,
      takeOwnership: helm.takeOwnership ?? false,
      waitForJobs: helm.waitForJobs ?? false,
      ...(typeof helm.disableDNS === "boolean" && { disableDNS: helm.disableDNS }),
      ...(typeof helm.disableLookup === "boolean" && { disableLookup: helm.disableLookup }),
      skipSchemaValidation: helm.skipSchemaValidation ?? false,
      maxHistory: historyOf(options),
    },
    ...(actions !== undefined && { actions }),
    ...postRendering(options),
    ...listed("originLabels", origin === undefined ? [] : appDefinition(origin.kind).originLabels),
    ...listed("healthCheckExprs", (options.healthCheckExprs ?? []).map(healthCheckOf)),
    ...(drift !== undefined && { drift }),
    access: {
      ...(insecureSkipVerify !== undefined && { insecureSkipVerify }),
      ...given("secret", accessSecret && objectName(accessSecret, from)),
      // Credentials exist only here, and need their host.
      ...(accessSecret && given("repository", helm.repo || helm.chart)),
      ...given("caBundle", caBundle && Buffer.from(caBundle, "base64").toString()),
      ...(origin?.access !== undefined && { source: origin.access }),
      ...listed("included", origin?.included ?? []),
      ...listed("dependencies", origin?.dependencies ?? []),
      ...(origin !== undefined &&
        isTreePin(pin) && { repositories: [...(origin.repositories ?? [])] }),
    },
    keepResources: options.keepResources ?? false,
    ...(options.deleteCRDResources === true && { deleteCRDResources: true }),
    ...(options.deleteNamespace === true && { deleteNamespace: true }),
    ...(options.allowedTargetNamespaceSelector && {
      allowedNamespaces: options.allowedTargetNamespaceSelector,
    }),
    ...(options.forceSyncGeneration && { forceSyncGeneration: options.forceSyncGeneration }),
  };
  return { format: contentFormat(content), ...content };
}

/** The namespace that a release is installed in. */
export function releaseNamespace({ namespace, defaultNamespace }: BundleDeploymentOptions): string {
  return orElse(namespace, orElse(defaultNamespace, namespaceOfLastResort));
}

/** 0: all revisions are kept, which Fleet's own option cannot say. */
function historyOf({ maxHistory, helm }: BundleDeploymentOptions): number {
  if (maxHistory !== undefined) return Math.max(0, maxHistory);
  const own = helm?.maxHistory ?? 0;
  return own > 0 ? own : defaultMaxHistory;
}

/** Other kinds do not occur here: a HelmOp with one is not accepted. */
/** The objects of the hub that `downstreamResources` names, in whatever case their kind is written. */
export function copiesOf({
  downstreamResources,
}: Pick<BundleDeploymentOptions, "downstreamResources">): readonly ObjectRef[] {
  return (downstreamResources ?? []).flatMap(({ kind = "", name = "" }) => {
    const known = (["Secret", "ConfigMap"] as const).find(
      (candidate) => candidate.toLowerCase() === kind.toLowerCase(),
    );
    return known === undefined || name === "" ? [] : [{ kind: known, name }];
  });
}

function dependencyOf({ name, selector, acceptedStates, readyExpr }: DependsOn): Dependency {
  return {
    ...given("name", name),
    ...(selector && { selector }),
    ...listed("acceptedStates", acceptedStates ?? []),
    ...given("readyExpr", readyExpr),
  };
}

/** As `placeOnHub` reads it. */
function objectName(name: string, from: string | undefined): string {
  return from === undefined || name.includes("/") ? name : `${from}/${name}`;
}

/**
 * By name alone it would be a Bundle of the cluster's namespace. The deployment has its Bundle's name in Clusters of the Bundle's
 * namespace, and another one in the others; the namespace is signed with the content, and no tenant can choose it.
 */
function dependencyFrom(dependency: Dependency, from: string | undefined): Dependency {
  const { name, selector = {}, ...others } = dependency;
  if (from === undefined || name === undefined) return dependency;
  const names = [name, deploymentName({ namespace: from, name }, "")];
  return {
    ...others,
    selector: {
      ...selector,
      matchExpressions: [
        ...(selector.matchExpressions ?? []),
        { key: bundleNameLabel, operator: "In", values: names },
        { key: bundleNamespaceLabel, operator: "In", values: [from] },
      ],
    },
  };
}

function healthCheckOf({
  apiVersion,
  kind,
  inProgress,
  failed,
  current,
}: HealthCheckExpr): HealthCheck {
  return {
    group: apiVersion.includes("/") ? apiVersion.replace(/\/.*/, "") : "",
    ...given("kind", kind),
    ...given("inProgress", inProgress),
    ...given("failed", failed),
    current,
  };
}

/** An entry may name both; the Secret wins over the ConfigMap, as in Fleet. */
export function valuesSources({
  configMapKeyRef,
  secretKeyRef,
}: ValuesReference): readonly ValuesSource[] {
  return [
    ...(configMapKeyRef ? [valuesSource("ConfigMap", configMapKeyRef)] : []),
    ...(secretKeyRef ? [valuesSource("Secret", secretKeyRef)] : []),
  ];
}

function valuesSource(
  kind: ValuesSource["kind"],
  { name, namespace, key }: KeyReference,
): ValuesSource {
  return {
    kind,
    name: name ?? "",
    ...given("namespace", namespace),
    key: orElse(key, defaultValuesKey),
  };
}

function hasAny<T extends object>(map: T | null | undefined): map is T {
  return map !== undefined && map !== null && Object.keys(map).length > 0;
}

function given<K extends string>(
  field: K,
  text: string | null | undefined,
): { readonly [F in K]?: string } {
  return text === undefined || text === null || text === ""
    ? {}
    : ({ [field]: text } as { readonly [F in K]: string });
}

function listed<K extends string, T>(field: K, entries: readonly T[]): { readonly [F in K]?: T[] } {
  return entries.length === 0 ? {} : ({ [field]: [...entries] } as { readonly [F in K]: T[] });
}

function orElse(text: string | null | undefined, fallback: string): string {
  return text === undefined || text === null || text === "" ? fallback : text;
}
