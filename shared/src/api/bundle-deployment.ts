/**
 * A BundleDeployment: one Bundle in one cluster.
 *
 * It names the content that the cluster is to run by digest and holds neither options nor values, so that one more
 * cluster costs a few hundred bytes whatever the size of the values. The leader writes `spec` and `status.display`, the
 * replica that holds the agent writes the rest of the status.
 */
import { z } from "zod";
import type { KubeObject } from "../kube/objects/object.ts";
import { conditionsSchema } from "./condition.ts";
import { described, fields, flag, list, plainFlag, plainText, type Typed } from "./field.ts";
import {
  maxListed,
  modifiedStatusSchema,
  nonReadyStatusSchema,
  resourceCountsSchema,
} from "./summary.ts";

const maxIdLength = 256;

const bundleDeploymentSpecSchema = fields({
  deploymentID: described(
    z.string().max(maxIdLength),
    "The content that the cluster is to run, `sha256:` and its digest. Empty while nothing has been let through yet.",
  ),
  stagedDeploymentID: described(
    z.string().max(maxIdLength),
    "The content that waits behind the rollout; the same once it was let through.",
  ),
  paused: flag("Nothing is let through, and the agent does not watch for changes."),
  supplies: list(
    "Secrets and ConfigMaps of the Bundle's namespace that the agent is supplied with for this, as `Secret/NAME` and `ConfigMap/NAME`.",
  ),
});

const deployedResourceSchema = fields({
  apiVersion: plainText("The object's apiVersion."),
  kind: plainText("The object's kind."),
  namespace: plainText("The object's namespace."),
  name: plainText("The object's name."),
  state: plainText(
    "What it is when it is not ready: `in-progress`, `failed`, `terminating`, `missing` or `unknown`.",
  ),
});

/** One manager for all of it: what the API server notes of who owns which field would be longer than the status itself. */
const ownedAsAWhole = { "x-kubernetes-map-type": "atomic" } as const;

const bundleDeploymentStatusFields = fields({
  conditions: conditionsSchema,
  appliedDeploymentID: plainText("The content that the agent has carried out."),
  release: plainText("The Helm release, `namespace/name:revision`."),
  version: plainText("The version of the chart that is installed."),
  chartDigest: plainText("The digest of the chart archive that is installed."),
  ready: plainFlag("Whether what was installed is ready."),
  nonModified: plainFlag("Whether what was installed is as it was installed."),
  nonReadyStatus: described(
    z.array(nonReadyStatusSchema).max(maxListed).nullish(),
    "The first objects that are not ready, at most ten, in a stable order.",
  ),
  modifiedStatus: described(
    z.array(modifiedStatusSchema).max(maxListed).nullish(),
    "The first objects that somebody changed, at most ten, in a stable order.",
  ),
  resources: described(
    z.array(deployedResourceSchema).nullish(),
    "The installed objects: the first ones by workloads before all else, then kind, namespace and name, as many as a thousand characters hold.",
  ),
  incompleteState: plainFlag("Whether there are more than the lists show."),
  resourceCounts: described(resourceCountsSchema.optional(), "The installed objects by state."),
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
        "Which connection of the agent the report came through; later ones have higher numbers.",
      ),
      sequence: described(z.int(), "The report's number within that connection."),
    }).optional(),
    "The report that the status is from. An earlier one never replaces it.",
  ),
});

const bundleDeploymentStatusSchema = described(
  bundleDeploymentStatusFields,
  "What is known.",
  ownedAsAWhole,
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
