/** A source of Flux in short, as the dashboard shows it. Pure. */
import type { Condition, ResolutionStatus } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import {
  type FleetSource,
  type SourceKind,
  type SourceState,
  sourceKinds,
} from "@flotilla/shared/dashboard";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { explained } from "../../rules/index.ts";

/** What the sources of all kinds have in common. */
export interface AnySource extends KubeObject {
  readonly spec?:
    | {
        readonly suspend?: boolean | null | undefined;
        readonly type?: string | undefined;
        readonly url?: string | undefined;
        readonly endpoint?: string | undefined;
        readonly bucketName?: string | undefined;
        readonly chart?: string | undefined;
        readonly interval?: string | undefined;
        readonly secretRef?: { readonly name: string } | null | undefined;
        readonly sourceRef?: { readonly kind: string; readonly name: string } | undefined;
      }
    | undefined;
  readonly status?:
    | {
        readonly conditions?: readonly Condition[] | undefined;
        readonly artifact?: { readonly revision: string; readonly digest: string } | undefined;
        readonly polling?:
          | (ResolutionStatus & { readonly lastAttemptTime?: string | undefined })
          | undefined;
      }
    | undefined;
}

export function sourceOf(kind: SourceKind, source: AnySource): FleetSource {
  const { metadata, spec, status } = source;
  const ready = findCondition(status?.conditions, "Ready");
  const revision = status?.artifact?.revision;
  return {
    kind,
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    state: isRegistry(kind, source) ? "Ready" : stateOf(source, ready),
    ...explained(ready),
    ...(status?.polling?.code && { code: status.polling.code }),
    ...(spec?.secretRef && { secret: spec.secretRef.name }),
    ...originOf(source),
    suspended: spec?.suspend === true,
    labels: { ...metadata.labels },
    url: addressOf(spec),
    ...(revision !== undefined && { revision }),
  };
}

/** The origin of a HelmChart: the source that it is made from, which is of the same namespace. */
function originOf({ metadata, spec }: AnySource): Pick<FleetSource, "source"> {
  const kind = sourceKinds.find((each) => each === spec?.sourceRef?.kind);
  const { namespace = "" } = metadata;
  return kind === undefined || spec?.sourceRef === undefined
    ? {}
    : { source: { kind, namespace, name: spec.sourceRef.name } };
}

function addressOf({ url, endpoint, bucketName, chart }: AnySource["spec"] = {}): string {
  if (endpoint !== undefined) return `${endpoint}/${bucketName ?? ""}`;
  return withoutUser(url) ?? chart ?? "";
}

/** An address may contain a password. */
function withoutUser(url: string | undefined): string | undefined {
  return url?.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, "$1");
}

/** A HelmRepository of a registry: it has no index to read, so it has no conditions, as in Flux. */
function isRegistry(kind: SourceKind, { spec }: AnySource): boolean {
  return kind === "HelmRepository" && (spec?.type === "oci" || /^oci:/i.test(spec?.url ?? ""));
}

/** While a source is suspended its conditions keep their generation, and what it had stays in use. */
function stateOf({ metadata, spec }: AnySource, ready: Condition | undefined): SourceState {
  const isCurrent = spec?.suspend === true || ready?.observedGeneration === metadata.generation;
  if (ready === undefined || !isCurrent) return "Progressing";
  switch (ready.status) {
    case "True":
      return "Ready";
    case "False":
      return "Failed";
    case "Unknown":
      return "Progressing";
  }
}
