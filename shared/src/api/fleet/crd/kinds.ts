/** The kinds with the parts of their CRDs that are not in the schemas: descriptions and columns of `kubectl get`. */
import type * as z from "zod";
import type { KubeObject, Resource } from "../../../kubernetes/objects/index.ts";
import type { ValidationRule } from "../index.ts";
import {
  bundleDeploymentSchemas,
  bundleDeployments,
  bundleNamespaceMappingSchema,
  bundleNamespaceMappingStatusSchema,
  bundleNamespaceMappings,
  bundleSchemas,
  bundles,
  clusterGroupSchemas,
  clusterGroups,
  clusterRegistrationTokenSchemas,
  clusterRegistrationTokens,
  clusterSchemas,
  clusters,
  helmOpSchemas,
  helmOps,
  policies,
  policySchema,
  scheduleSchemas,
  schedules,
} from "../index.ts";

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "date";
  readonly jsonPath: string;
  /** Shown with `-o wide` only. */
  readonly priority?: 1;
}

interface AnyKind {
  readonly resource: Resource<KubeObject>;
  readonly description: string;
  /** Empty: the API server shows the age only. */
  readonly columns: readonly PrinterColumn[];
  readonly shortNames?: readonly string[];
  /** Names for several kinds together, as in `kubectl get fleet`. */
  readonly categories: readonly string[];
  /** Rules about several parts of an object, such as its spec and its status. */
  readonly rules?: readonly ValidationRule[];
  /** The annotations of the CRD. */
  readonly annotations?: Readonly<Record<string, string>>;
}

interface SpecKind extends AnyKind {
  readonly spec: z.ZodObject;
  /** Absent: the kind has no status. */
  readonly status?: z.ZodObject;
  /** Who writes the status; absent: the hub. */
  readonly statusText?: string;
  /** The status of a new object. */
  readonly statusDefault?: object;
  /** Whether an object without a spec is rejected, gets an empty one, or is accepted as it is. */
  readonly absentSpec: "reject" | "empty" | "accept";
}

/** Its fields are at the top level. */
interface FlatKind extends AnyKind {
  readonly fields: z.ZodObject;
  /** Absent: the kind has no status. The hub writes it. */
  readonly status?: z.ZodObject;
}

export type KindDefinition = SpecKind | FlatKind;

const categories = ["fleet"];

const statusColumn = column("Status", '.status.conditions[?(@.type=="Ready")].message');
/** `Ready`, `NotReady`, `ErrApplied`, `NoTargets` and so on. */
const stateColumn = column("State", '.status.conditions[?(@.type=="Ready")].reason');

export const kinds: readonly KindDefinition[] = [
  {
    resource: helmOps,
    description:
      "A HelmOp deploys a chart, by version or constraint, to clusters. The hub resolves the version and keeps it installed in all of them.",
    ...helmOpSchemas,
    absentSpec: "empty",
    categories,
    columns: [
      column("Repo", ".spec.helm.repo"),
      column("Chart", ".spec.helm.chart"),
      column("Version", ".status.version"),
      column("BundleDeployments-Ready", ".status.display.readyBundleDeployments"),
      stateColumn,
      statusColumn,
    ],
  },
  {
    resource: bundles,
    description:
      "A Bundle is a HelmOp with every version resolved. The hub creates one for each HelmOp, with the same name; do not edit it. A Bundle without a HelmOp is deployed in the same way: its chart is resolved once, and again when its source or version changes.",
    ...bundleSchemas,
    absentSpec: "empty",
    categories,
    columns: [
      column("Version", ".status.version"),
      column("BundleDeployments-Ready", ".status.display.readyClusters"),
      stateColumn,
      statusColumn,
    ],
  },
  {
    resource: bundleDeployments,
    description:
      "A BundleDeployment is one Bundle in one cluster: the desired content by digest, and the state that the agent reported. The hub creates it; do not edit it.",
    ...bundleDeploymentSchemas,
    absentSpec: "reject",
    categories,
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
      "A Cluster is a member of the fleet. It is created when its agent enrols, unless it exists; its labels decide which targets match it.",
    ...clusterSchemas,
    absentSpec: "empty",
    categories,
    columns: [
      column("Bundles-Ready", ".status.display.readyBundles"),
      column("Last-Seen", ".status.agent.lastSeen"),
      statusColumn,
    ],
  },
  {
    resource: clusterGroups,
    description:
      "A ClusterGroup is a name for the clusters of its namespace that a selector matches, for use in targets.",
    ...clusterGroupSchemas,
    absentSpec: "empty",
    categories,
    columns: [
      column("Clusters-Ready", ".status.display.readyClusters"),
      column("Bundles-Ready", ".status.display.readyBundles"),
      statusColumn,
    ],
  },
  {
    resource: clusterRegistrationTokens,
    description:
      "A ClusterRegistrationToken lets agents enrol clusters in its namespace. The hub creates a Secret of the same name, which is installed with an agent.",
    ...clusterRegistrationTokenSchemas,
    absentSpec: "empty",
    categories,
    columns: [
      column("Secret-Name", ".status.secretName"),
      { name: "Uses", type: "integer", jsonPath: ".status.uses" },
      { name: "Expires", type: "string", jsonPath: ".status.expires" },
    ],
  },
  {
    resource: policies,
    description:
      "A Policy restricts the HelmOps and Bundles of its namespace: the ServiceAccounts, repositories and Secrets that they may use. Several Policies of a namespace are combined: a flag that one of them sets is set, and what one of them allows is allowed. A deployment that a new Policy forbids stays, but is not changed any more.",
    fields: policySchema,
    categories,
    columns: [],
  },
  {
    resource: bundleNamespaceMappings,
    description:
      "A BundleNamespaceMapping lets Bundles of its namespace be deployed to the Clusters of other namespaces. Who may create one reaches all Clusters of the hub, except Clusters in namespaces whose Policies have `allowedBundleNamespaces`.",
    fields: bundleNamespaceMappingSchema,
    status: bundleNamespaceMappingStatusSchema,
    categories,
    columns: [
      column("Accepted", '.status.conditions[?(@.type=="Accepted")].status'),
      { name: "Namespaces", type: "integer", jsonPath: ".status.namespaceCount" },
      { name: "Refused", type: "integer", jsonPath: ".status.refusedCount" },
    ],
  },
  {
    resource: schedules,
    description:
      "A Schedule says when clusters of its namespace may be changed. Outside of its window the hub promotes nothing to them and uninstalls nothing from them. A cluster with several Schedules may be changed while one of them is active; one with an invalid Schedule only while another one is.",
    ...scheduleSchemas,
    absentSpec: "empty",
    categories,
    columns: [
      column("Schedule", ".spec.schedule"),
      column("Duration", ".spec.duration"),
      column("Active", ".status.active"),
      column("NextStart", ".status.nextStartTime"),
    ],
  },
];

/** A column with a text. */
export function column(name: string, jsonPath: string): PrinterColumn {
  return { name, type: "string", jsonPath };
}
