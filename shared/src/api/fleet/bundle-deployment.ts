/**
 * A BundleDeployment: one Bundle in one cluster.
 *
 * It names the content that the cluster is to run by its digest, and has neither options nor values, so that one more cluster
 * costs a few hundred bytes whatever the size of the values. The leader writes `spec` and `status.display`; the replica that the
 * agent is connected to writes the rest of the status.
 */
import * as z from "zod";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import { conditionsSchema } from "./condition.ts";
import { described, fields, flag, list, plainFlag, plainText, type Typed } from "./field.ts";
import { promotionSchema } from "./rollout-status.ts";
import {
  driftEventSchema,
  maxListed,
  modifiedStatusSchema,
  nonReadyStatusSchema,
  resourceCountsSchema,
} from "./summary.ts";

const maxIdLength = 256;

/** Atomic: managedFields for each field would be larger than the status itself, and one writer writes all of it. */
const atomicMap = { "x-kubernetes-map-type": "atomic" } as const;

const bundleDeploymentSpecSchema = fields({
  deploymentID: described(
    z.string().max(maxIdLength),
    "The desired content: `sha256:` and its digest. Empty until the rollout promotes the first one.",
  ),
  stagedDeploymentID: described(
    z.string().max(maxIdLength),
    "The content that waits for the rollout; equal to `deploymentID` once it is promoted.",
  ),
  promotion: described(
    promotionSchema.optional(),
    "By which staged rollout `deploymentID` was promoted; absent: by none.",
  ),
  paused: flag("Nothing is promoted, and the agent does not watch for drift."),
  suspend: flag(
    "Nothing is promoted, and nothing is changed in the cluster. The release stays installed when this object is deleted.",
  ),
  offSchedule: flag(
    "No Schedule of the cluster is active, or no window of its stage is open, and the deployment was not applied when the last one ended: the agent does not try again until one is.",
  ),
  requestedAt: described(
    z.string().max(maxIdLength).optional(),
    "The last request of a user to reconcile the release at once, from the annotation `reconcile.fluxcd.io/requestedAt`.",
  ),
  forceAt: described(
    z.string().max(maxIdLength).optional(),
    "Equal to `requestedAt`: Helm upgrades the release, whatever its state.",
  ),
  resetAt: described(
    z.string().max(maxIdLength).optional(),
    "Equal to `requestedAt`: failed attempts before the request do not count.",
  ),
  correctDriftAt: described(
    z.string().max(maxIdLength).optional(),
    "Equal to `requestedAt`: what others have changed in the objects of the release is changed back once, also where drift is only reported.",
  ),
  referencedObjects: list(
    "The Secrets and ConfigMaps of the Bundle's namespace that the deployment refers to, as `Secret/NAME` and `ConfigMap/NAME`, or as `Secret/NAME#KEY,KEY` when it uses these keys alone; the hub sends them to the agent if it wrote them itself: the annotation `flotilla.dev/signature` is its signature.",
  ),
}).meta(atomicMap);

const deployedResourceSchema = fields({
  apiVersion: plainText("The object's apiVersion."),
  kind: plainText("The object's kind."),
  namespace: plainText("The object's namespace."),
  name: plainText("The object's name."),
  state: plainText(
    "Its state when it is not ready: `in-progress`, `failed`, `terminating`, `missing` or `unknown`.",
  ),
});

const releaseRevisionSchema = fields({
  version: described(z.int(), "The revision."),
  status: plainText("Helm's status: `deployed`, `failed`, `superseded` and so on."),
  action: plainText("What created it: `install`, `upgrade` or `rollback`."),
  chartName: plainText("The name of the chart."),
  chartVersion: plainText("The version of the chart."),
  appVersion: plainText("The version of the app, when it is not the chart's."),
  lastDeployed: plainText("When Helm had created it, RFC 3339."),
  digest: plainText(
    "The first characters of the digest of its chart, its values and what else reaches Helm; absent: somebody has changed it since.",
  ),
  testHooks: described(
    z
      .record(z.string(), fields({ phase: plainText("`Succeeded`, `Failed` or `Unknown`.") }))
      .optional(),
    "The results of its tests, by name.",
  ),
  remarks: described(
    z.array(z.string()).optional(),
    "How it was applied, if not as usual, and which objects were deleted and created again.",
  ),
});

/** A revision of a release, with the names of Flux's history. */
export type ReleaseRevision = Typed<typeof releaseRevisionSchema>;

/** Results of requests. Others are of a newer agent. */
export const requestResults = [
  "InSync",
  "DriftLeft",
  "DriftCorrected",
  "CorrectionFailed",
  "NotCompared",
  "Installed",
  "Upgraded",
  "Blocked",
  "Failed",
] as const;

const requestResultSchema = fields({
  token: described(z.string(), "The value of the annotation `reconcile.fluxcd.io/requestedAt`."),
  result: described(
    z.string(),
    "`InSync`: nothing was to be done. `DriftLeft`: the drift of `objects` is only reported, or was corrected too often. `DriftCorrected`: the drift of `objects` was changed back. `CorrectionFailed`: the drift of `objects` could not be changed back. `NotCompared`: drift is not detected. `Installed` and `Upgraded`: to `revision`. `Blocked`: it waits for others. `Failed`: with `code`.",
  ),
  objects: described(z.int().optional(), "The objects that the result is about."),
  revision: described(z.int().optional(), "The revision of the release."),
  code: plainText("The error code of the failure."),
  message: plainText("For people: why it has failed, or waits."),
});

/** What a request of a user has come to. */
export type RequestStatus = Typed<typeof requestResultSchema>;

const sourceDigestSchema = fields({
  pin: described(z.string(), "The digest of the pin."),
  digest: described(z.string(), "The digest of the bytes that the source sent."),
  since: described(z.string(), "When the hub first saw this report."),
});

const bundleDeploymentStatusFields = fields({
  conditions: conditionsSchema,
  appliedDeploymentID: plainText("The content that the agent applied last."),
  attemptedDeploymentID: plainText(
    "The content that the agent has not applied and that the conditions are about; absent when they are about the applied one.",
  ),
  cause: plainText(
    "Why the last attempt failed, where the conditions also say what happens next; absent: it did not, or they say no more.",
  ),
  release: plainText("The Helm release, `namespace/name:revision`."),
  version: plainText("The version of the installed chart."),
  chartDigest: plainText("The digest of the installed chart archive."),
  source: described(
    sourceDigestSchema.nullish(),
    "What the cluster received for a chart whose pin does not say which bytes it means: a chart from a bucket. The earliest report for a pin binds all clusters of the Bundle.",
  ),
  ready: plainFlag("Whether the installed objects are ready."),
  nonModified: plainFlag(
    "Whether the installed objects have no drift. With `driftDetection.mode: warn` drift is in the condition Drifted and in modifiedStatus only.",
  ),
  nonReadyStatus: described(
    z.array(nonReadyStatusSchema).max(maxListed).nullish(),
    "The first objects that are not ready, at most ten, in a stable order.",
  ),
  modifiedStatus: described(
    z.array(modifiedStatusSchema).max(maxListed).nullish(),
    "The first objects with drift, at most ten, in a stable order.",
  ),
  resources: described(
    z.array(deployedResourceSchema).nullish(),
    "The first installed objects, up to a thousand characters: workloads first, then by kind, namespace and name.",
  ),
  incompleteState: plainFlag("Whether the lists are cut."),
  resourceCounts: described(resourceCountsSchema.optional(), "The installed objects by state."),
  history: described(
    z.array(releaseRevisionSchema).max(5).optional(),
    "The newest revisions of the release that the agent created, newest first, as many as fit. `flotilla history` shows all that Helm has.",
  ),
  failures: described(
    z.int().optional(),
    "Attempts at the desired content that have failed in a row, and that changed the release.",
  ),
  installFailures: described(z.int().optional(), "How many of these attempts were installations."),
  upgradeFailures: described(z.int().optional(), "How many of these attempts were upgrades."),
  refusedAt: plainText(
    "`spec.promotion.at` of the promotion that the agent has refused, because something else would have changed than was approved: nothing was. Absent: it has refused none.",
  ),
  waitsFor: described(
    z.array(z.string().max(253)).max(3).optional(),
    "The first deployments of the cluster that it waits for, by `dependsOn`; absent: none, or the agent is older than 0.4.0.",
  ),
  dependenciesMetAt: plainText(
    "When `dependsOn` was met last, after the deployment had waited for it; absent: it never has.",
  ),
  lastRequest: described(
    requestResultSchema.optional(),
    "The result of the last request of a user; absent: it is not finished, or the agent is older than 0.4.0.",
  ),
  driftHistory: described(
    z.array(driftEventSchema).max(5).optional(),
    "What others have changed in the installed objects, newest first.",
  ),
  display: described(
    fields({
      deployed: plainText("The Deployed condition: its status, or `Error:` and its message."),
      monitored: plainText("The Monitored condition: its status, or `Error:` and its message."),
      state: plainText("The deployment's state, such as `WaitApplied` or `Ready`."),
    }).optional(),
    "For `kubectl get` and the dashboard.",
  ),
  agent: described(
    fields({
      epoch: described(
        z.int(),
        "The connection of the agent that the report came through; later connections have higher numbers.",
      ),
      sequence: described(z.int(), "The number of the report within that connection."),
    }).optional(),
    "The report that the status is from. An older report never replaces it.",
  ),
});

const bundleDeploymentStatusSchema = described(
  bundleDeploymentStatusFields,
  "The state that the agent reported, and what the hub derives from it.",
  atomicMap,
);

export type BundleDeploymentSpec = Typed<typeof bundleDeploymentSpecSchema>;
export type BundleDeploymentStatus = Typed<typeof bundleDeploymentStatusSchema>;

export interface BundleDeployment extends KubeObject {
  readonly spec: BundleDeploymentSpec;
  readonly status?: BundleDeploymentStatus;
}

export const bundleDeploymentSchemas = {
  spec: bundleDeploymentSpecSchema,
  status: bundleDeploymentStatusSchema,
} as const;

export const objectRefSchema = z.object({
  kind: z.enum(["Secret", "ConfigMap"]),
  name: z.string(),
});

/** A Secret or ConfigMap by its name in the workspace, or as `NAMESPACE/NAME` in another namespace of the hub. */
export type ObjectRef = Readonly<z.infer<typeof objectRefSchema>>;

/** `Secret/NAME`, `Secret/NAMESPACE/NAME` and the same for a ConfigMap. */
export function formatObjectRef({ kind, name }: ObjectRef): string {
  return `${kind}/${name}`;
}

/** Namespace and name on the hub of an object that deployments of a workspace refer to. */
export function placeOnHub(
  { name }: Pick<ObjectRef, "name">,
  workspace: string,
): { readonly namespace: string; readonly name: string } {
  const at = name.indexOf("/");
  return at < 0
    ? { namespace: workspace, name }
    : { namespace: name.slice(0, at), name: name.slice(at + 1) };
}

/** A copy of an object in a cluster, by the name that it has in its namespace of the hub. */
export function copyOf({ kind, name }: ObjectRef): ObjectRef {
  return { kind, name: placeOnHub({ name }, "").name };
}

/** The inverse of `formatObjectRef`; undefined for a text that is not a reference. */
export function parseObjectRef(text: string): ObjectRef | undefined {
  const at = text.indexOf("/");
  const parsed = objectRefSchema.safeParse({ kind: text.slice(0, at), name: text.slice(at + 1) });
  return parsed.success && parsed.data.name !== "" ? parsed.data : undefined;
}
