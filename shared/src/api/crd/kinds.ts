/** What the CRD of each kind says beside the schema: what it is, what `kubectl get` shows, where it is found. */
import type { z } from "zod";
import type { KubeObject, Resource } from "../../kube/objects/object.ts";
import { bundleSchemas } from "../bundle.ts";
import { bundleDeploymentSchemas } from "../bundle-deployment.ts";
import { clusterSchemas } from "../cluster.ts";
import { clusterGroupSchemas } from "../cluster-group.ts";
import { clusterRegistrationTokenSchemas } from "../cluster-registration-token.ts";
import { helmOpSchemas } from "../helm-op.ts";
import { policySchema } from "../policy.ts";
import {
  bundleDeployments,
  bundles,
  clusterGroups,
  clusterRegistrationTokens,
  clusters,
  helmOps,
  policies,
} from "../resources.ts";

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer";
  readonly jsonPath: string;
}

interface AnyKind {
  readonly resource: Resource<KubeObject>;
  readonly description: string;
  /** None: the API server shows the age alone. */
  readonly columns: readonly PrinterColumn[];
}

interface SpecKind extends AnyKind {
  readonly spec: z.ZodObject;
  readonly status: z.ZodObject;
  /** A kind that means something without a spec gets an empty one. */
  readonly specMayBeAbsent: boolean;
}

/** Its fields are at the top level, and it has no status. */
interface FlatKind extends AnyKind {
  readonly fields: z.ZodObject;
}

export type KindDefinition = SpecKind | FlatKind;

const statusColumn = column("Status", '.status.conditions[?(@.type=="Ready")].message');

export const kinds: readonly KindDefinition[] = [
  {
    resource: helmOps,
    description:
      "A HelmOp says which chart, in which version or by which constraint, goes to which clusters. The hub decides which version that is and keeps it installed everywhere.",
    ...helmOpSchemas,
    specMayBeAbsent: true,
    columns: [
      column("Repo", ".spec.helm.repo"),
      column("Chart", ".spec.helm.chart"),
      column("Version", ".status.version"),
      column("BundleDeployments-Ready", ".status.display.readyBundleDeployments"),
      statusColumn,
    ],
  },
  {
    resource: bundles,
    description:
      "A Bundle is what a HelmOp came to: every version resolved, every target named. The hub makes one for each HelmOp, with the same name; do not change that by hand. A Bundle that somebody applies without a HelmOp is deployed like one: its chart is resolved once, and kept until the chart that it asks for changes.",
    ...bundleSchemas,
    specMayBeAbsent: true,
    columns: [
      column("Version", ".status.version"),
      column("BundleDeployments-Ready", ".status.display.readyClusters"),
      statusColumn,
    ],
  },
  {
    resource: bundleDeployments,
    description:
      "A BundleDeployment is one Bundle in one cluster: what the cluster's agent is to run, by digest, and what the agent reported. The hub makes it; do not change it by hand.",
    ...bundleDeploymentSchemas,
    specMayBeAbsent: false,
    columns: [
      column("Version", ".status.version"),
      column("Deployed", ".status.display.deployed"),
      column("Monitored", ".status.display.monitored"),
      statusColumn,
    ],
  },
  {
    resource: clusters,
    description:
      "A Cluster is a member of the fleet. Its agent makes it when it enrols, unless it is there already; its labels decide which targets match it.",
    ...clusterSchemas,
    specMayBeAbsent: true,
    columns: [
      column("Bundles-Ready", ".status.display.readyBundles"),
      column("Last-Seen", ".status.agent.lastSeen"),
      statusColumn,
    ],
  },
  {
    resource: clusterGroups,
    description:
      "A ClusterGroup gives the clusters of its namespace that a selector matches one name, which targets can use.",
    ...clusterGroupSchemas,
    specMayBeAbsent: true,
    columns: [
      column("Clusters-Ready", ".status.display.readyClusters"),
      column("Bundles-Ready", ".status.display.readyBundles"),
      statusColumn,
    ],
  },
  {
    resource: clusterRegistrationTokens,
    description:
      "A ClusterRegistrationToken lets agents enrol clusters in its namespace. The hub answers with a Secret of the same name, which an agent is given to start with.",
    ...clusterRegistrationTokenSchemas,
    specMayBeAbsent: true,
    columns: [
      column("Secret-Name", ".status.secretName"),
      { name: "Uses", type: "integer", jsonPath: ".status.uses" },
      { name: "Expires", type: "string", jsonPath: ".status.expires" },
    ],
  },
  {
    resource: policies,
    description:
      "A Policy says what the HelmOps and Bundles of its namespace may do: as which ServiceAccounts, from which repositories, with which Secrets. Several Policies of a namespace add up: a switch that one of them sets is set, and what one of them allows is allowed. What is deployed already stays when a Policy comes to forbid it, and does not change any more.",
    fields: policySchema,
    columns: [],
  },
];

function column(name: string, jsonPath: string): PrinterColumn {
  return { name, type: "string", jsonPath };
}
