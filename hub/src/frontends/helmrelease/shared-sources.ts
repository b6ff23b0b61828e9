/**
 * Sources of other namespaces. In Flux the credentials of a source stay with source-controller; here they are sent to the clusters of
 * the HelmRelease, where its tenant may read them. So a source with Secrets has to say which namespaces may have them, as
 * `spec.accessFrom` of Flux's API is meant. Sources without Secrets are free. Pure.
 */
import { AppError } from "@flotilla/shared/errors";
import { type AccessFrom, accessFromSchema } from "@flotilla/shared/flux";
import { keyOf, type ObjectMeta } from "@flotilla/shared/kube/objects";
import { hubErrors } from "../../base/index.ts";

/** On a source whose kind has no `spec.accessFrom` in Flux's CRDs: the same as JSON. */
export const accessFromAnnotation = "flotilla.dev/access-from";

/** A source with Secrets. */
export interface SecretSource {
  readonly kind: string;
  readonly metadata: Pick<ObjectMeta, "namespace" | "name" | "annotations">;
  readonly accessFrom?: AccessFrom | undefined;
}

/** The labels of the namespace of a HelmRelease. The API server sets `kubernetes.io/metadata.name`. */
export type NamespaceLabels = Readonly<Record<string, string>>;

/** The first source that does not share its Secrets with the namespace; undefined: all do, or are of the namespace. */
export function sharingProblem(
  namespace: string,
  labels: NamespaceLabels,
  sources: readonly SecretSource[],
): AppError | undefined {
  for (const source of sources) {
    const problem = source.metadata.namespace === namespace ? undefined : problemOf(source, labels);
    if (problem === undefined) continue;
    const what = `${source.kind} ${keyOf(source.metadata)}`;
    return new AppError(
      hubErrors.ACCESS_DENIED,
      `${what} has Secrets, which would be sent to the clusters of namespace ${namespace}, and ${problem}; allow the namespace there, with the labels of a namespace in spec.accessFrom.namespaceSelectors or in the annotation ${accessFromAnnotation}; what is deployed stays as it is until then`,
    );
  }
  return undefined;
}

/** Whether any of them is of another namespace. */
export function isShared(namespace: string, sources: readonly SecretSource[]): boolean {
  return sources.some(({ metadata }) => metadata.namespace !== namespace);
}

function problemOf(
  { metadata, accessFrom }: SecretSource,
  labels: NamespaceLabels,
): string | undefined {
  const text = metadata.annotations?.[accessFromAnnotation];
  const allowed = text === undefined ? accessFrom : parsed(text);
  if (allowed === "invalid")
    return `its annotation ${accessFromAnnotation} is not JSON like {"namespaceSelectors":[{"matchLabels":{"kubernetes.io/metadata.name":"apps"}}]}`;
  if (allowed === undefined) return "it does not say which namespaces may use it";
  const isAllowed = allowed.namespaceSelectors.some(({ matchLabels = {} }) =>
    Object.entries(matchLabels).every(([name, value]) => labels[name] === value),
  );
  return isAllowed ? undefined : "its accessFrom does not select that namespace";
}

function parsed(text: string): AccessFrom | "invalid" {
  try {
    const result = accessFromSchema.safeParse(JSON.parse(text));
    return result.success ? result.data : "invalid";
  } catch {
    return "invalid";
  }
}
