/** Addresses of pages. Pure. */
import { isAppKind } from "@flotilla/shared/api/apps";
import type { AppRef } from "@flotilla/shared/dashboard";

interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** The page of an app, a cluster or a source. */
export function pageOf({ kind, namespace, name }: Named & { readonly kind: string }): string {
  if (kind === "Cluster") return `/clusters/${namespace}/${name}`;
  return `/${isAppKind(kind) ? "apps" : "sources"}/${kind}/${namespace}/${name}`;
}

/** `cluster`: as `NAMESPACE/NAME`. */
export function releasePage(cluster: string, { kind, namespace, name }: AppRef): string {
  return `/clusters/${cluster}/releases/${kind}/${namespace}/${name}`;
}
