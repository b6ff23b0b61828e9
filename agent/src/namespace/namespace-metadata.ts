/** What a namespace's labels and annotations are to become. Pure; the rules are Fleet's. */

type Texts = Readonly<Record<string, string>>;

export interface NamespaceMetadata {
  readonly labels?: Texts | undefined;
  readonly annotations?: Texts | undefined;
}

/** A merge patch: null takes something away. */
export interface MetadataPatch {
  readonly labels?: Readonly<Record<string, string | null>>;
  readonly annotations?: Readonly<Record<string, string | null>>;
}

/**
 * What is wanted replaces what is there, but for what is Kubernetes' own; what is not wanted at all is left alone. Undefined
 * when nothing is to be changed.
 */
export function metadataPatch(
  current: NamespaceMetadata,
  wanted: NamespaceMetadata,
): MetadataPatch | undefined {
  const labels = changes(current.labels, without(isClustersLabel, wanted.labels), isClustersLabel);
  const annotations = changes(current.annotations, wanted.annotations, isKubernetesAnnotation);
  if (labels === undefined && annotations === undefined) return undefined;
  return { ...(labels && { labels }), ...(annotations && { annotations }) };
}

/**
 * How much its pods may do is decided by whoever runs the cluster, and not by what is installed there, as in Fleet: a
 * HelmOp could give itself more with it.
 */
function isClustersLabel(name: string): boolean {
  return name === "kubernetes.io/metadata.name" || name.startsWith("pod-security.kubernetes.io/");
}

/** Such as what `kubectl apply` notes down. */
function isKubernetesAnnotation(name: string): boolean {
  return /^([^/]*\.)?(kubernetes|k8s)\.io\//.test(name);
}

function without(
  isRefused: (name: string) => boolean,
  texts: Texts | undefined,
): Texts | undefined {
  return texts && Object.fromEntries(Object.entries(texts).filter(([name]) => !isRefused(name)));
}

function changes(
  current: Texts = {},
  wanted: Texts | undefined,
  isKept: (name: string) => boolean,
): Readonly<Record<string, string | null>> | undefined {
  if (wanted === undefined) return undefined;
  const removed = Object.keys(current).filter(
    (name) => !Object.hasOwn(wanted, name) && !isKept(name),
  );
  const set = Object.entries(wanted).filter(([name, text]) => current[name] !== text);
  const changed = [...removed.map((name) => [name, null] as const), ...set];
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}
