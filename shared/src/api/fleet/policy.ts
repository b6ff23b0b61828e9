/**
 * A Policy: restricts the HelmOps and Bundles of its namespace. Its fields are at the top level, as in Fleet, and it has no
 * status. Several Policies of a namespace are combined.
 */
import * as z from "zod";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import { described, fields, flag, list, type Typed, text } from "./field.ts";
import { selector } from "./label-selector.ts";

const patterns =
  "Regular expressions of Go (RE2) that have to match the whole text; the text itself is allowed too. Absent or empty: all.";

const gitRepoPolicy = fields({
  defaultServiceAccount: text("The ServiceAccount of a GitRepo without one."),
  defaultClientSecretName: text("The client Secret of a GitRepo without one."),
  allowedClientSecretNames: list("The client Secrets that GitRepos may use."),
  allowedRepoPatterns: list("The repositories that GitRepos may use."),
});

const helmOpPolicy = fields({
  defaultServiceAccount: text("The ServiceAccount of a HelmOp without one."),
  defaultHelmSecretName: text(
    "The Secret with the credentials for the chart's source, of a HelmOp without one.",
  ),
  allowedHelmSecretNames: list(
    "The Secrets that may be used for the chart's source (of a HelmRelease all that its sources name), and sent to clusters as copies or values. A Secret of another namespace than the Policy's is `NAMESPACE/NAME`. Absent or empty: all.",
  ),
  allowedDownstreamSecretNames: list(
    "The Secrets that `downstreamResources` may copy to clusters, and that `valuesFrom` of HelmReleases may read, beside the Secrets in `allowedHelmSecretNames`. Absent or empty: only the Secrets in `allowedHelmSecretNames`, or all where that is empty, too.",
  ),
  allowedDownstreamConfigMapNames: list(
    "The ConfigMaps that `downstreamResources` may copy to clusters, and that `valuesFrom` of HelmReleases may read. Absent or empty: all.",
  ),
  allowedHelmRepoPatterns: list(
    `The repositories that charts may come from, with all that a HelmRelease's source includes and its chart has dependencies from; when \`allowedChartPatterns\` is empty, also the addresses of archives in \`chart\`. ${patterns}`,
  ),
  allowedChartPatterns: list(`The allowed values of \`helm.chart\`. ${patterns}`),
  allowedGitRefs: list(
    `The references of Git repositories that charts of HelmReleases may come from, with all that their sources include, by their full names, as in \`refs/heads/main\`; a commit that a source names by itself is judged by its 40 digits. ${patterns}`,
  ),
  requireVerification: flag(
    "Reject charts whose source has no signature that was verified with `verify` of the GitRepository, the OCIRepository or the HelmChart: charts of HelmOps, Bundles, Buckets and HelmRepositories over HTTP, which have none, and those with dependencies that are fetched from repositories. Where `allowedHelmSecretNames` are given, the Secret with the keys has to be one of them.",
  ),
  allowSubmodules: flag(
    "Allow submodules of Git repositories where `allowedHelmRepoPatterns` are given: each commit names the addresses that they are fetched from.",
  ),
});

/** The limit of `rollout.requiredGates`. */
const maxRequiredGates = 32;

const requiredGateSchema = fields(
  {
    clusterSelector: selector("Labels of the clusters that are protected. Absent, or `{}`: all."),
    gate: described(
      z.enum(["approval"]),
      "The type of the gate that the stage which takes such clusters must have in `before`.",
    ),
  },
  "RequiredGate",
);

/** Clusters that no app may change without a gate before them. */
export type RequiredGate = Typed<typeof requiredGateSchema>;

const rolloutPolicy = fields({
  requiredGates: described(
    z.array(requiredGateSchema).max(maxRequiredGates).nullish(),
    "Reject apps that reach such clusters by a stage without that gate in `before`, or without stages. Clusters get nothing that was not passed by it for this revision and stage.",
  ),
});

export const policySchema = fields({
  requireServiceAccount: flag(
    "Reject deployments without a ServiceAccount of their own or by default; the agent's own does not count. Namespaces are then not created either, unless `allowNamespaceCreation` is set.",
  ),
  allowedServiceAccounts: list(
    "The ServiceAccounts that may be used. The ServiceAccount of a HelmRelease in another namespace than the Policy's is `NAMESPACE/NAME`. Absent or empty: all in the agent's namespace except its own, whatever rights they have.",
  ),
  allowNamespaceCreation: flag(
    "Create the namespace of the release even if `requireServiceAccount` is set.",
  ),
  allowedBundleNamespaces: list(
    "The namespaces whose Bundles may be deployed to the Clusters of this namespace, by a BundleNamespaceMapping or as HelmReleases without targets in the hub's own cluster; Bundles of this namespace always may. Absent or empty: all.",
  ),
  gitRepo: described(
    gitRepoPolicy.nullish(),
    "Unsupported: Fleet's rules for GitRepos, which Flotilla does not have.",
  ),
  helmOp: described(
    helmOpPolicy.nullish(),
    "Rules for the chart sources of HelmOps and of Bundles without a HelmOp, and defaults for HelmOps.",
  ),
  rollout: described(
    rolloutPolicy.nullish(),
    "Rules for the rollouts of HelmOps, HelmReleases and Bundles. It does not exist in Fleet.",
  ),
});

type PolicyFields = Typed<typeof policySchema>;

export interface Policy extends KubeObject, PolicyFields {}
