/** A Cluster: one member of the fleet. The replica of the hub that its agent is connected to writes `status.agent`. */
import * as z from "zod";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import { conditionsSchema } from "./condition.ts";
import {
  described,
  fields,
  flag,
  freeForm,
  integer,
  plainFlag,
  plainText,
  type Typed,
  text,
  time,
} from "./field.ts";
import { bundleSummarySchema, resourceCountsSchema } from "./summary.ts";

/** The limit of listed orphans: a hub that lost its objects must not write a status of a megabyte. */
export const maxOrphans = 100;

const freeFormList = z.array(z.record(z.string(), z.unknown())).nullish();

const clusterSpecSchema = fields({
  clientID: text(
    "The id by which the cluster is known when its agent enrols; by default the UID of its `kube-system` namespace.",
  ),
  paused: flag("Prepare changes for this cluster, but dispatch none of them."),
  deletionPolicy: described(
    z.enum(["Retain", "Uninstall"]).optional(),
    "What happens to the releases in the cluster when the Cluster is deleted. `Retain` keeps them; `Uninstall` keeps the Cluster until its agent has uninstalled them.",
    { "x-default-text": "`Retain`" },
  ),
  templateValues: freeForm("The `.ClusterValues` of templates in values."),
  kubeConfigSecret: text(
    "Internal to Fleet: a Secret with access to the cluster, for agents that the hub installs.",
  ),
  kubeConfigSecretNamespace: text("Internal to Fleet: the namespace of that Secret."),
  redeployAgentGeneration: integer("Increase this number to deploy the agent again."),
  agentNamespace: text("The namespace of the agent.", { absent: "`flotilla-agent`" }),
  privateRepoURL: text("A registry to pull the agent's image from."),
  agentEnvVars: described(freeFormList, "Environment variables of the agent, as in a container."),
  agentTolerations: described(freeFormList, "Tolerations of the agent, as in a pod."),
  agentAffinity: freeForm("Affinity of the agent, as in a pod."),
  agentResources: freeForm("Resources of the agent, as in a container."),
  agentPullSecrets: described(freeFormList, "Secrets to pull the agent's image with, as in a pod."),
  hostNetwork: described(z.boolean().nullish(), "Run the agent in the node's network.", {
    "x-default-text": "false",
  }),
  agentSchedulingCustomization: described(
    fields({
      priorityClass: freeForm("The agent's PriorityClass: `value` and `preemptionPolicy`."),
      podDisruptionBudget: freeForm(
        "The agent's PodDisruptionBudget: `minAvailable` or `maxUnavailable`.",
      ),
    }).nullish(),
    "How the agent is scheduled.",
  ),
});

/** As many as an agent may send. */
const maxCapabilities = 32;

const clusterAgentSchema = fields({
  connected: plainFlag("Whether the agent is connected to the hub."),
  lastSeen: time(
    "When the agent connected last or, if it is offline, when it was last known to be connected.",
  ),
  replica: plainText("The replica of the hub that the agent is, or was last, connected to."),
  epoch: integer("The number of connections of the agent so far."),
  version: plainText("The agent's version."),
  namespace: plainText("The namespace of the agent."),
  capabilities: described(
    z.array(z.string()).max(maxCapabilities).optional(),
    "What the agent says that it can do, such as `CorrectDrift`; absent: it is older than 0.4.0.",
  ),
  kubernetesVersion: plainText(
    "The version of the cluster's Kubernetes when the agent connected, such as `v1.36.3`; absent: the agent is older, or could not read it.",
  ),
  certificateExpiresAt: time(
    "When the certificate that the agent connected with expires. It renews it long before, without a write here.",
  ),
});

const clusterStatusSchema = fields({
  conditions: conditionsSchema,
  namespace: plainText("The namespace on the hub with the BundleDeployments of the cluster."),
  summary: described(bundleSummarySchema.optional(), "The cluster's deployments by state."),
  resourceCounts: described(
    resourceCountsSchema.optional(),
    "The objects deployed to the cluster by state.",
  ),
  readyHelmOps: integer("The number of HelmOps that are ready in the cluster."),
  desiredReadyHelmOps: integer("The number of HelmOps that target the cluster."),
  readyGitRepos: integer("The number of GitRepos that are ready in the cluster."),
  desiredReadyGitRepos: integer("The number of GitRepos that target the cluster."),
  agent: described(
    clusterAgentSchema.optional(),
    "The agent of the cluster, as observed by the hub.",
  ),
  orphans: described(
    z.array(z.string()).max(maxOrphans).nullish(),
    "Deployments that the agent has and the hub does not know, at most a hundred. They keep running until they are pruned.",
  ),
  display: described(
    fields({
      readyBundles: plainText("How many of its deployments are ready, as in `3/5`."),
      state: plainText(
        "`WaitCheckIn` before the first connection of the agent, `Offline`, or the state that needs attention most.",
      ),
    }).optional(),
    "For `kubectl get` and the dashboard.",
  ),
  scheduled: plainFlag("Whether a Schedule covers the cluster."),
  activeSchedule: plainFlag("Whether a Schedule permits changes now."),
});

export type ClusterSpec = Typed<typeof clusterSpecSchema>;
export type ClusterAgent = Typed<typeof clusterAgentSchema>;
export type ClusterStatus = Typed<typeof clusterStatusSchema>;

export interface Cluster extends KubeObject {
  readonly spec: ClusterSpec;
  readonly status?: ClusterStatus;
}

export const clusterSchemas = { spec: clusterSpecSchema, status: clusterStatusSchema } as const;
