/** The addresses of plans: `/requests/v1/namespaces/NS/{helmops,bundles,...}/NAME/plan?stage=...`. Pure. */
import type { AppKind } from "@flotilla/shared/api/apps";
import {
  clusterName,
  invalid,
  kindsByPlural,
  matching,
  namePattern,
} from "../requests/parse-request.ts";

/** What is to be planned. */
export interface PlanRequest {
  /** The namespace of the app. */
  readonly workspace: string;
  readonly kind: AppKind;
  readonly name: string;
  /** Only this cluster: `NAME`, in the workspace, or `NAMESPACE/NAME`. */
  readonly cluster?: string;
  /** Only the clusters of this stage. */
  readonly stage?: string;
  /** At most so many of clusters that are expected to be equal. */
  readonly sample?: number;
  /** Instead of a new plan that which the approval of this Gate is about. */
  readonly gate?: string;
}

const path = new RegExp(
  `^/requests/v1/namespaces/(${namePattern})/([a-z]+)/(${namePattern})/plan$`,
);
const stageName = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const parameters = ["cluster", "stage", "sample", "gate"];
const mostSamples = 10_000;

/** Whether an address names a plan. */
export function isPlanPath(url: string): boolean {
  return path.test(new URL(url, "http://hub").pathname);
}

/** `url`: path and query. Throws REQUEST_INVALID. */
export function parsePlanRequest(url: string): PlanRequest {
  const { pathname, searchParams } = new URL(url, "http://hub");
  const [, workspace, plural = "", app] = path.exec(pathname) ?? [];
  const kind = kindsByPlural.get(plural);
  if (workspace === undefined || app === undefined || kind === undefined)
    throw invalid(
      `the address is not /requests/v1/namespaces/NAMESPACE/{${[...kindsByPlural.keys()].join(",")}}/NAME/plan`,
    );
  for (const key of new Set(searchParams.keys()))
    if (!parameters.includes(key)) throw invalid(`a plan has no parameter ${key}`);
  const gate = matching(searchParams, "gate", new RegExp(`^${namePattern}$`));
  if (gate !== undefined && [...searchParams.keys()].length > 1)
    throw invalid(
      "the parameter gate is together with others: what its approval is about is fixed",
    );
  const cluster = matching(searchParams, "cluster", clusterName);
  const stage = matching(searchParams, "stage", stageName);
  const sample = searchParams.get("sample");
  const count = sample === null ? undefined : Number(sample);
  if (count !== undefined && (!Number.isInteger(count) || count < 1 || count > mostSamples))
    throw invalid(`the parameter sample is not a number from 1 to ${mostSamples}`);
  return {
    workspace,
    kind,
    name: app,
    ...(cluster !== undefined && { cluster }),
    ...(stage !== undefined && { stage }),
    ...(count !== undefined && { sample: count }),
    ...(gate !== undefined && { gate }),
  };
}
