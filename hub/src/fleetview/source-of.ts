/** A source of Flux in short, as the dashboard shows it. Pure. */
import type { Condition, ResolutionStatus } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import type { FleetSource, SourceKind, SourceState } from "@flotilla/shared/dashboard";
import type { KubeObject } from "@flotilla/shared/kube/objects";
import { explained } from "./app-of.ts";

/** What the sources of all kinds have in common. */
export interface AnySource extends KubeObject {
  readonly spec?:
    | {
        readonly suspend?: boolean | null | undefined;
        readonly url?: string | undefined;
        readonly endpoint?: string | undefined;
        readonly bucketName?: string | undefined;
        readonly chart?: string | undefined;
        readonly interval?: string | undefined;
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

export function sourceOf(kind: SourceKind, { metadata, spec, status }: AnySource): FleetSource {
  const ready = findCondition(status?.conditions, "Ready");
  const revision = status?.artifact?.revision;
  return {
    ...{ kind, namespace: metadata.namespace ?? "", name: metadata.name },
    state: stateOf(ready, metadata.generation),
    ...explained(ready),
    suspended: spec?.suspend === true,
    labels: { ...metadata.labels },
    url: addressOf(spec),
    ...(revision !== undefined && { revision }),
  };
}

function addressOf({ url, endpoint, bucketName, chart }: AnySource["spec"] = {}): string {
  if (endpoint !== undefined) return `${endpoint}/${bucketName ?? ""}`;
  return withoutUser(url) ?? chart ?? "";
}

/** An address may have a password. */
function withoutUser(url: string | undefined): string | undefined {
  return url?.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, "$1");
}

function stateOf(ready: Condition | undefined, generation: number | undefined): SourceState {
  if (ready === undefined || ready.observedGeneration !== generation) return "Progressing";
  switch (ready.status) {
    case "True":
      return "Ready";
    case "False":
      return "Failed";
    case "Unknown":
      return "Progressing";
  }
}
