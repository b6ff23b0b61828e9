/** A Cluster: one member of the fleet. `status.agent` is written by the replica of the hub that holds its agent. */
import { z } from "zod";
import type { KubeObject } from "../kube/objects/object.ts";
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

/** As many orphans as are listed, so that a hub that lost everything does not write a status of a megabyte. */
export const maxOrphans = 100;

const freeFormList = z.array(z.record(z.string(), z.unknown())).nullish();

const clusterSpecSchema = fields({
  clientID: text(
    "Tells the cluster from others when its agent enrols; the UID of its `kube-system` namespace unless it was given.",
  ),
  paused: flag("Prepare changes for this cluster and hand none of them out."),
  deletionPolicy: described(
    z.enum(["Retain", "Uninstall"]).optional(),
    "What becomes of what the hub has installed in the cluster when the Cluster is deleted. `Retain` leaves it as it is; `Uninstall` keeps the Cluster until its agent has uninstalled everything.",
    { "x-default-text": "`Retain`" },
  ),
  templateValues: freeForm("What templates in values see as `.ClusterValues`."),
  kubeConfigSecret: text(
    "Internal to Fleet: a Secret with access to the cluster, for agents that the hub installs.",
  ),
  kubeConfigSecretNamespace: text("Internal to Fleet: the namespace of that Secret."),
  redeployAgentGeneration: integer("Raise this number to have the agent deployed once more."),
  agentNamespace: text("The namespace that the agent runs in.", { absent: "`flotilla-agent`" }),
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

const clusterAgentSchema = fields({
  connected: plainFlag("Whether the agent is connected to the hub."),
  lastSeen: time(
    "When the agent connected last or, if it is not connected, when it was last known to be.",
  ),
  replica: plainText("The replica of the hub that holds, or held last, the agent."),
  epoch: integer("How many times the agent has connected."),
  version: plainText("The agent's version."),
  namespace: plainText("The namespace that the agent runs in."),
});

const clusterStatusSchema = fields({
  conditions: conditionsSchema,
  namespace: plainText("The namespace on the hub that has the cluster's BundleDeployments."),
  summary: described(bundleSummarySchema.optional(), "The cluster's deployments by state."),
  resourceCounts: described(
    resourceCountsSchema.optional(),
    "The objects deployed to the cluster by state.",
  ),
  readyHelmOps: integer("How many HelmOps are ready in the cluster."),
  desiredReadyHelmOps: integer("How many HelmOps go to the cluster."),
  readyGitRepos: integer("How many GitRepos are ready in the cluster."),
  desiredReadyGitRepos: integer("How many GitRepos go to the cluster."),
  agent: described(clusterAgentSchema.optional(), "The cluster's agent, as the hub sees it."),
  orphans: described(
    z.array(z.string()).max(maxOrphans).nullish(),
    "Names of deployments that the agent holds and the hub does not know, at most a hundred. They keep running until somebody prunes them.",
  ),
  display: described(
    fields({
      readyBundles: plainText("How many of its deployments are ready, as in `3/5`."),
      state: plainText(
        "`WaitCheckIn` before the agent connected first, `Offline`, or the state that needs attention most.",
      ),
    }).optional(),
    "For `kubectl get` and the dashboard.",
  ),
  scheduled: plainFlag("Whether a Schedule covers the cluster."),
  activeSchedule: plainFlag("Whether a Schedule lets changes through now."),
});

export type ClusterSpec = Typed<typeof clusterSpecSchema>;
export type ClusterAgent = Typed<typeof clusterAgentSchema>;
export type ClusterStatus = Typed<typeof clusterStatusSchema>;

export interface Cluster extends KubeObject {
  readonly spec: ClusterSpec;
  readonly status?: ClusterStatus;
}

export const clusterSchemas = { spec: clusterSpecSchema, status: clusterStatusSchema } as const;
