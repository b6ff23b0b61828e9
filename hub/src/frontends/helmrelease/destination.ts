/** Where a HelmRelease goes: the hub's own cluster, Clusters of its namespace, or one that its kubeConfig names. Pure. */
import { type BundleTarget, targetsSchema } from "@flotilla/shared/api";
import { localNamespace } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import type { HelmRelease } from "@flotilla/shared/flux";
import { hubErrors } from "../../base/index.ts";
import { targetCountProblem } from "../../rules/index.ts";

/** On a HelmRelease where Flux's own CRD has no `spec.targets`: the same as JSON. */
export const targetsAnnotation = "fleet.cattle.io/targets";

/** The name that an enrolment gives the hub's own cluster. */
export const localCluster = "local";

/** The suffix of the Secret with the kubeconfig of a Cluster, as Cluster API names it. */
const kubeconfigSuffix = "-kubeconfig";

/** The Clusters that it names. */
export interface Destination {
  /** The namespace of the Clusters; undefined: the HelmRelease's. */
  readonly clusterNamespace?: string;
  readonly targets: readonly BundleTarget[];
}

/** The error says what to write instead. */
export function destinationOf(release: HelmRelease): Destination | AppError {
  const { metadata, spec } = release;
  const targets = targetsOf(release);
  if (targets instanceof AppError) return targets;
  const kubeConfig = spec?.kubeConfig;
  if (kubeConfig !== undefined) {
    if (targets.length > 0)
      return invalid("spec.kubeConfig and targets both say where it goes: remove kubeConfig");
    const name = kubeConfig.secretRef?.name ?? "";
    if (!name.endsWith(kubeconfigSuffix) || name === kubeconfigSuffix)
      return invalid(
        `spec.kubeConfig ${name === "" ? "names no Secret" : `names the Secret ${name}`}: the agent of each cluster installs, with no kubeconfig; name the Secret CLUSTER-kubeconfig of a Cluster in namespace ${metadata.namespace}, or set spec.targets`,
      );
    const clusterName = name.slice(0, -kubeconfigSuffix.length);
    return { targets: [{ name: clusterName, clusterName }] };
  }
  if (targets.length > 0) return { targets };
  return {
    clusterNamespace: localNamespace,
    targets: [{ name: localCluster, clusterName: localCluster }],
  };
}

/** The namespaces whose Policies it obeys: its own, and its Clusters'. */
export function policyNamespacesOf(release: HelmRelease): readonly string[] {
  const { namespace = "" } = release.metadata;
  const destination = destinationOf(release);
  const { clusterNamespace = namespace } = destination instanceof AppError ? {} : destination;
  return [...new Set([namespace, clusterNamespace])];
}

/** Whether it goes to the hub's own cluster, which has the hub's keys. */
export function isLocal({ metadata }: HelmRelease, destination: Destination): boolean {
  return (destination.clusterNamespace ?? metadata.namespace) === localNamespace;
}

function targetsOf({ metadata, spec }: HelmRelease): readonly BundleTarget[] | AppError {
  const own = spec?.targets ?? [];
  const text = metadata.annotations?.[targetsAnnotation];
  const targets = own.length > 0 || text === undefined ? own : parsed(text);
  if (targets instanceof AppError) return targets;
  const field = own.length > 0 ? "spec.targets" : `annotation ${targetsAnnotation}`;
  const tooMany = targetCountProblem(field, targets);
  if (tooMany !== undefined) return invalid(tooMany);
  const index = targets.findIndex(({ helm }) => helm?.chart || helm?.repo || helm?.version);
  return index < 0
    ? targets
    : invalid(
        `targets[${index}].helm names a chart: all clusters of a HelmRelease have the same chart, so remove chart, repo and version there`,
      );
}

function parsed(text: string): readonly BundleTarget[] | AppError {
  try {
    const result = targetsSchema.safeParse(JSON.parse(text));
    if (result.success) return result.data ?? [];
    const [issue] = result.error.issues;
    return invalid(
      `annotation ${targetsAnnotation} is not a list of targets: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`,
    );
  } catch {
    return invalid(
      `annotation ${targetsAnnotation} is not JSON: write the list of targets as JSON`,
    );
  }
}

function invalid(message: string): AppError {
  return new AppError(hubErrors.HELMRELEASE_INVALID, message);
}
