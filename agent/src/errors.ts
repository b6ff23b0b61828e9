/** What can go wrong between an assignment and a release. */
import { defineErrors } from "@flotilla/shared/errors/app-error.ts";

export const agentErrors = defineErrors({
  ASSIGNMENT_NOT_KEPT: {
    retryable: true,
    help: "What the hub assigned could not be written to the agent's own cluster, and Helm does not run before it is. The message has what the API server said: a quota in the namespace flotilla-agent, rights that the agent lacks, a server that is away. It is tried again by itself.",
  },
  HELM_FAILED: {
    retryable: true,
    help: "Helm ended with an error; the message has its last lines. What was installed before stays. It is tried again by itself, with growing pauses, and at once when the HelmOp changes.",
  },
  HELM_UNAVAILABLE: {
    retryable: true,
    help: "The Helm program could not be started. Check the path that the agent was given with --helm.",
  },
  RELEASE_UNREADABLE: {
    retryable: true,
    help: "A record of Helm's own (a Secret sh.helm.release.v1...) cannot be read. `helm history` on the cluster shows whether Helm can.",
  },
  RELEASE_TAKEN: {
    retryable: true,
    help: "Two deployments want the same release in the same namespace. The first keeps it; give the other another releaseName or namespace.",
  },
  SERVICE_ACCOUNT_MISSING: {
    retryable: true,
    help: "The ServiceAccount that a HelmOp names in `serviceAccount` is not in the agent's namespace of that cluster. Nothing is installed, changed or removed for it but as that account. Make the account there, with the rights that the chart needs; the agent goes on at once.",
  },
  NAMESPACE_REFUSED: {
    retryable: true,
    help: "The account that a deployment acts as lacks a right on the release's namespace: making it, or changing its labels and annotations. The message has the verb that is missing. Give the account that right, make the namespace beforehand, or take `namespaceLabels` and `namespaceAnnotations` out of the HelmOp.",
  },
  CRDS_NOT_KEPT: {
    retryable: true,
    help: "CustomResourceDefinitions in a chart's templates are to outlive their release, unless `deleteCRDResources` is set, and that could not be made sure. Nothing was deleted. The message says what is missing: mostly the right to get and patch them, or to update Helm's record, for the account that the deployment acts as.",
  },
  TEMPLATES_REFUSED: {
    retryable: true,
    help: "The chart's templates read the cluster (`lookup`) or ask name servers (`getHostByName`), and nobody has allowed that. Set `helm.disableLookup: false` or `helm.disableDNS: false`, or, for `lookup`, give the HelmOp a `serviceAccount`, whose rights then say what can be read.",
  },
  CHART_UNREADABLE: {
    retryable: true,
    help: "The archive that was fetched is no chart: it is not packed as one, or unpacks to more than Helm reads.",
  },
  VALUES_SOURCE_MISSING: {
    retryable: true,
    help: "A ConfigMap or Secret that `valuesFrom` names, or the key in it, is not there in the cluster, or may not be read by the account that the deployment acts as. The message names it. Make it, and the agent goes on at once; or give that right, and it goes on with its next try.",
  },
  VALUES_SOURCE_INVALID: {
    retryable: true,
    help: "What a ConfigMap or Secret that `valuesFrom` names holds is no values file: no YAML, or not a map. The message says where. Correct it in the cluster; the agent goes on at once.",
  },
  COPY_TAKEN: {
    retryable: true,
    help: "`downstreamResources` asks for a copy where the cluster has an object of that name already which was not copied there. It is left alone. Delete it, or give one of the two another name.",
  },
  COPY_FAILED: {
    retryable: true,
    help: "A Secret or ConfigMap of the hub could not be copied into the release's namespace, or its copy could not be deleted. The message has what came back; where a right is missing, give it to the account that the deployment acts as.",
  },
  SUPPLY_AWAITED: {
    retryable: true,
    help: "The hub has not yet sent a Secret or ConfigMap that the deployment names. It goes on by itself as soon as that has come; where it does not come, the hub's log says why it cannot read it.",
  },
  SUPPLY_MISSING: {
    retryable: false,
    help: "The hub has no Secret or ConfigMap of the name that the deployment asks for. Make it in the namespace of the HelmOp, or change the HelmOp; the agent goes on at once.",
  },
  VALUES_TEMPLATE_FAILED: {
    retryable: false,
    help: 'A template in `values` or `templateValues` cannot be rendered for this cluster; the message has where it stands and what is wrong. Other clusters go on. A key that is missing, such as `.ClusterLabels.region`, is an error as in Fleet: label the Cluster, or ask with `index .ClusterLabels "region"`, `hasKey` or `dig`, which a missing key does not fail. It is rendered again as soon as the HelmOp or the Cluster changes.',
  },
});
