/** The paths of the Kubernetes API. */
import { AppError } from "../../runtime/errors/index.ts";
import { type KubeObject, keyOf, type ObjectRef, type Resource } from "../objects/index.ts";
import { kubeErrors } from "./errors.ts";

type QueryValue = string | number | boolean | undefined;

/** The collection of a kind; in all namespaces when a namespaced kind gets no namespace. */
export function collectionPath(
  resource: Resource<KubeObject>,
  namespace: string | undefined,
): string {
  const root =
    resource.group === ""
      ? `/api/${resource.version}`
      : `/apis/${resource.group}/${resource.version}`;
  return resource.namespaced && namespace !== undefined
    ? `${root}/namespaces/${encodeURIComponent(namespace)}/${resource.plural}`
    : `${root}/${resource.plural}`;
}

/** The collection to which a create of this object is sent. */
export function creationPath(resource: Resource<KubeObject>, ref: ObjectRef): string {
  checkRef(resource, ref);
  return collectionPath(resource, ref.namespace);
}

export function objectPath(
  resource: Resource<KubeObject>,
  ref: ObjectRef,
  subresource?: string,
): string {
  checkRef(resource, ref);
  const path = `${collectionPath(resource, ref.namespace)}/${encodeURIComponent(ref.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** A path with what is set of `query`. */
export function withQuery(path: string, query: Readonly<Record<string, QueryValue>>): string {
  let separator = "?";
  let full = path;
  for (const name of Object.keys(query)) {
    const value = query[name];
    if (value === undefined || value === "") continue;
    full += `${separator}${name}=${encodeURIComponent(value)}`;
    separator = "&";
  }
  return full;
}

/** `configmaps default/settings`: what messages call an object. */
export function describeObject(resource: Resource<KubeObject>, ref: ObjectRef): string {
  return `${describeKind(resource)} ${keyOf(ref)}`;
}

/** `configmaps` or `helmops.fleet.cattle.io`. */
export function describeKind(resource: Resource<KubeObject>): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

function checkRef(resource: Resource<KubeObject>, ref: ObjectRef): void {
  // Without this check an empty name would address the whole collection, which can be deleted too.
  if (ref.name === "" || (resource.namespaced && (ref.namespace ?? "") === "")) {
    const missing = ref.name === "" ? "name" : "namespace";
    throw new AppError(
      kubeErrors.KUBE_REQUEST,
      `address ${describeObject(resource, ref)}: it has no ${missing}`,
    );
  }
}
