/** Computes changes of a namespace's labels and annotations. Pure; the rules are Fleet's. */

type Texts = Readonly<Record<string, string>>;

export interface NamespaceMetadata {
  readonly labels?: Texts | undefined;
  readonly annotations?: Texts | undefined;
}

/** A merge patch: null removes a key. */
export interface MetadataPatch {
  readonly labels?: Readonly<Record<string, string | null>>;
  readonly annotations?: Readonly<Record<string, string | null>>;
}

/**
 * Desired labels and annotations replace the current ones, except Kubernetes' own; without desired ones nothing
 * changes. Undefined if there are no changes.
 */
export function metadataPatch(
  current: NamespaceMetadata,
  desired: NamespaceMetadata,
): MetadataPatch | undefined {
  const labels = changes(current.labels, without(isClustersLabel, desired.labels), isClustersLabel);
  const annotations = changes(current.annotations, desired.annotations, isKubernetesAnnotation);
  if (labels === undefined && annotations === undefined) return undefined;
  return { ...(labels && { labels }), ...(annotations && { annotations }) };
}

/**
 * The cluster's administrator sets pod security, not a release, as in Fleet: a HelmOp could otherwise give itself
 * more rights with these labels.
 */
function isClustersLabel(name: string): boolean {
  return name === "kubernetes.io/metadata.name" || name.startsWith("pod-security.kubernetes.io/");
}

/** Such as the one of `kubectl apply`. */
function isKubernetesAnnotation(name: string): boolean {
  return /^([^/]*\.)?(kubernetes|k8s)\.io\//.test(name);
}

function without(
  isExcluded: (name: string) => boolean,
  texts: Texts | undefined,
): Texts | undefined {
  return texts && Object.fromEntries(Object.entries(texts).filter(([name]) => !isExcluded(name)));
}

function changes(
  current: Texts = {},
  desired: Texts | undefined,
  isPreserved: (name: string) => boolean,
): Readonly<Record<string, string | null>> | undefined {
  if (desired === undefined) return undefined;
  const removed = Object.keys(current).filter(
    (name) => !Object.hasOwn(desired, name) && !isPreserved(name),
  );
  const set = Object.entries(desired).filter(([name, text]) => current[name] !== text);
  const changed = [...removed.map((name) => [name, null] as const), ...set];
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}
