/** Parameters of paths. All throw VIEW_INVALID. */
import { appKinds } from "@flotilla/shared/api/apps";
import {
  type AppRef,
  type ClusterRef,
  type SourceKind,
  sourceKinds,
} from "@flotilla/shared/dashboard";
import type { ApiContext } from "./context.ts";
import { invalid } from "./errors.ts";

export function parameter(context: ApiContext, name: string): string {
  return context.req.param(name) ?? "";
}

export function appOf(context: ApiContext): AppRef {
  return appIn(context, ["kind", "namespace", "name"]);
}

export interface ReleaseRef {
  readonly cluster: ClusterRef;
  readonly app: AppRef;
}

export function releaseOf(context: ApiContext): ReleaseRef {
  const app = appIn(context, ["appKind", "appNamespace", "appName"]);
  return { cluster: clusterOf(context), app };
}

export function clusterOf(context: ApiContext): ClusterRef {
  return { namespace: parameter(context, "namespace"), name: parameter(context, "name") };
}

export function sourceOf(context: ApiContext): ClusterRef & { readonly kind: SourceKind } {
  const kind = oneOf(sourceKinds, parameter(context, "kind"));
  return { kind, namespace: parameter(context, "namespace"), name: parameter(context, "name") };
}

function appIn(
  context: ApiContext,
  [kind, namespace, name]: readonly [string, string, string],
): AppRef {
  return {
    kind: oneOf(appKinds, parameter(context, kind)),
    namespace: parameter(context, namespace),
    name: parameter(context, name),
  };
}

function oneOf<K extends string>(kinds: readonly K[], text: string): K {
  const kind = kinds.find((each) => each === text);
  if (kind === undefined) throw invalid(`${text} is none of ${kinds.join(", ")}`);
  return kind;
}
