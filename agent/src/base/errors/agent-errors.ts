/** The catalogue of the agent's errors. `help` is for users and is published in docs/errors.md. */
import { agentErrorCodes } from "@flotilla/proto/codes";
import { AppError, defineErrors } from "@flotilla/shared/errors";

export const agentErrors = defineErrors({
  HUB_CALL_FAILED: {
    retryable: true,
    help: "The hub did not answer, or rejected the call; the message has the hub's error. The agent retries automatically.",
  },
  WRONG_HUB: {
    retryable: true,
    help: "The address leads to a hub other than the one that the agent belongs to. Nothing was changed. Correct the address. To enrol with the other hub, copy the data of the Secret of one of its ClusterRegistrationTokens into the Secret flotilla-agent/flotilla-bootstrap of the cluster.",
  },
  KEY_REVOKED: {
    retryable: true,
    help: "The cluster was revoked on the hub, together with the agent's key. The agent creates a new key and enrols again with its token.",
  },
  HUB_PROTOCOL: {
    retryable: true,
    help: "The hub sent a message that the protocol does not allow. Check that the versions of hub and agent are compatible.",
  },
  BOOTSTRAP_MISSING: {
    retryable: true,
    help: "The agent has no identity yet, and no Secret to enrol with. Copy the data of the Secret of a ClusterRegistrationToken on the hub into the Secret flotilla-agent/flotilla-bootstrap of this cluster.",
  },
  BOOTSTRAP_INVALID: {
    retryable: true,
    help: "The Secret flotilla-agent/flotilla-bootstrap is invalid. The message names the key and what is expected. Copy the Secret of a ClusterRegistrationToken on the hub again.",
  },
  IDENTITY_INVALID: {
    retryable: true,
    help: "The Secret flotilla-agent/flotilla-identity cannot be read. Restore it, or delete it so that the agent enrols with a new key, which needs a ClusterRegistrationToken for its Cluster (spec.clusterName).",
  },
  ENROLMENT_FAILED: {
    retryable: true,
    help: "The hub could not be reached, or it rejected the enrolment of this cluster; the message has the hub's error. The agent retries automatically.",
  },
  ASSIGNMENT_NOT_STORED: {
    retryable: true,
    help: "A deployment that the hub assigned could not be stored in the agent's own cluster. Helm does not run before it is stored. The message has the API server's answer: a quota in the namespace flotilla-agent, a right that the agent lacks, or a server that is unavailable. The agent retries automatically.",
  },
  HELM_FAILED: {
    retryable: true,
    help: "Helm ended with an error; the message has its last lines, or the error of kustomize if a post-renderer failed. What was installed before stays. The agent retries with exponential backoff, and at once when the HelmOp changes.",
  },
  HELM_UNAVAILABLE: {
    retryable: true,
    help: "The Helm program could not be started. Check the path that the agent was given with --helm.",
  },
  RELEASE_UNREADABLE: {
    retryable: true,
    help: "A release Secret of Helm (sh.helm.release.v1...) cannot be read. `helm history` on the cluster shows whether Helm can read it. With `impersonation.required` the account of the HelmOp reads them: the message has the right that it lacks; grant it, and the agent continues within half a minute.",
  },
  RELEASE_CONFLICT: {
    retryable: true,
    help: "Two deployments have the same release name in the same namespace. The first one keeps the release; give the other one another releaseName or namespace.",
  },
  RELEASE_EXISTS: {
    retryable: false,
    help: "A release of this name exists in the namespace, and Flotilla did not install it. Set `helm.takeOwnership` of the HelmOp to take it over: Helm then upgrades it. Or set another releaseName or namespace. The agent continues when the release is uninstalled.",
  },
  RELEASE_LOCKED: {
    retryable: false,
    help: "Helm's newest record of the release is pending: another Helm client changes it, or was interrupted. The agent waits while the record changes. After the release's timeout without a change (`timeout` or `helm.timeoutSeconds`, else five minutes) it reports the lock, with revision, status and since when. If nothing runs any more, change `forceSyncGeneration` of the HelmOp, or request it with the annotation `reconcile.fluxcd.io/forceAt` of the HelmRelease or HelmOp: the agent unlocks the release and continues. It also continues when the record changes.",
  },
  RELEASE_NOT_OURS: {
    retryable: false,
    help: "Helm would delete objects by a release record that the agent did not create, or that was changed since, and the record lists objects that the agent never applied. The deployment has no `serviceAccount` that limits what Helm may delete, so the agent stops. Inspect the record (`helm get manifest`). Delete its Secret if it is forged. If Helm may act on it, for example because you installed the release by hand, change `forceSyncGeneration` of the HelmOp, or request it with the annotation `reconcile.fluxcd.io/forceAt` of the HelmRelease or HelmOp.",
  },
  RELEASE_NOT_READY: {
    retryable: true,
    help: "Not all objects of the release were ready at the end of its timeout; the message names the first ones with the reason. The agent has marked the revision as failed, as Helm does. What follows is what `install.remediation`, `upgrade.remediation` and `strategy` of the HelmOp say. It is retried at once when all objects become ready.",
  },
  RETRIES_EXCEEDED: {
    retryable: false,
    help: "The installation or upgrade failed more often than `remediation.retries` allows; the message has the last error. It is retried when the HelmOp, its values or its credentials change, when its objects become ready, when it is suspended and resumed, on request (`flotilla retry`), and otherwise after an hour, then after twice as long each time, up to a day.",
  },
  ROLLBACK_TARGET_MISSING: {
    retryable: false,
    help: "The upgrade failed, and there is no earlier revision that was deployed, whose tests did not fail, and whose record nobody has changed. The message has the error of the upgrade. It is retried as after RETRIES_EXCEEDED. Increase `maxHistory` to keep more revisions.",
  },
  INVENTORY_NOT_STORED: {
    retryable: true,
    help: "The agent could not store what it installed in its own namespace, flotilla-agent. The message has the API server's answer: a quota, a right that the agent lacks, or a server that is unavailable. The agent retries automatically.",
  },
  SERVICE_ACCOUNT_REQUIRED: {
    retryable: false,
    help: "The agent of the cluster was installed with `impersonation.required`, and the HelmOp names no `serviceAccount`, or one without a namespace. The agent installs, changes and removes nothing for that HelmOp. Set `serviceAccount` to `NAMESPACE/NAME` of an account in one of the namespaces that the message lists.",
  },
  SERVICE_ACCOUNT_MISSING: {
    retryable: true,
    help: "The ServiceAccount that a HelmOp names in `serviceAccount` does not exist in that cluster: in the agent's namespace, or, with `impersonation.required`, in the namespace that it is named with. The agent installs, changes and removes nothing for that HelmOp until it can impersonate the account. Create the account with the rights that the chart needs; the agent continues at once.",
  },
  SERVICE_ACCOUNT_DENIED: {
    retryable: true,
    help: "A HelmOp names a ServiceAccount that no deployment may impersonate: the agent's own, which has all rights of the agent, or one of a namespace that the agent was not given in `impersonation.namespaces`. The agent installs, changes and removes nothing for that HelmOp until it names another account, or none where Policies require none.",
  },
  NAMESPACE_FORBIDDEN: {
    retryable: true,
    help: "The account that the deployment impersonates lacks a right on the release's namespace: to create it, or to change its labels and annotations. The message has the missing verb. Grant the right, create the namespace beforehand, or remove `namespaceLabels` and `namespaceAnnotations` from the HelmOp.",
  },
  NAMESPACE_NOT_ALLOWED: {
    retryable: true,
    help: "`allowedTargetNamespaceSelector` of the HelmOp does not match the labels of the release's namespace, or the namespace does not exist. Set the labels or another namespace; the agent checks again when it retries.",
  },
  CRDS_NOT_KEPT: {
    retryable: true,
    help: "CustomResourceDefinitions in a chart's templates must outlive their release, unless `deleteCRDResources` is set, and the agent could not ensure that. Nothing was deleted. The message names what is missing: mostly the right of the impersonated account to get and patch them, or to update Helm's release Secret.",
  },
  KIND_UNAVAILABLE: {
    retryable: true,
    help: "A release is to be uninstalled, and the API server cannot serve the kind of one of its objects, or of a hook that runs then, now: mostly the server behind an APIService does not answer. Nothing was deleted, because the objects may still exist. Repair that server; the agent retries automatically. If the kind will not come back, delete the APIService: the release is then uninstalled without these objects and hooks. Where a CustomResourceDefinition was deleted the agent does that by itself.",
  },
  CRDS_NOT_APPLIED: {
    retryable: true,
    help: "The CustomResourceDefinitions in the chart's folder `crds` could not be created or replaced, as `install.crds` or `upgrade.crds` of the HelmOp demand. The release was not changed. The message has the definition and the API server's answer; where a right is missing, grant the impersonated account create and update of them.",
  },
  TEMPLATES_DENIED: {
    retryable: true,
    help: "The chart's templates read the cluster (`lookup`) or query DNS (`getHostByName`), which is not allowed for this HelmOp. Remove `helm.disableLookup`, or set `helm.disableDNS: false`. `lookup` reads what the `serviceAccount` of the deployment may read, or the agent where none is used.",
  },
  [agentErrorCodes.chartUnreadable]: {
    retryable: true,
    help: "The downloaded archive is not a chart: it is not a gzipped tar archive, or unpacks to more than Helm reads.",
  },
  LIMIT_EXCEEDED: {
    retryable: true,
    help: "Reading or rendering the chart, or the values, took more memory, processor time or output than a deployment may use, so the agent ended that process. Other deployments continue. The message says which limit it was. The same chart with the same values is retried after a minute, then after twice as long each time, up to six hours, also after a restart of the agent; another version, or other values, are tried at once. Give the agent's container more memory if the chart needs it.",
  },
  [agentErrorCodes.valuesSourceMissing]: {
    retryable: true,
    help: "A ConfigMap or Secret that `valuesFrom` names, or the key in it, does not exist in the cluster (for a HelmRelease: on the hub), or the impersonated account may not read it. The message names it. Create it, and the agent continues at once; or grant the right, and the agent continues with its next retry. `optional` forgives a missing object, not a missing key.",
  },
  [agentErrorCodes.valuesSourceInvalid]: {
    retryable: true,
    help: "A ConfigMap or Secret that `valuesFrom` names has no values file under that key: it is not YAML, or not a map; or its value cannot be set at the `targetPath`. The message has the position. Correct it; the agent continues at once.",
  },
  DOWNSTREAM_RESOURCE_CONFLICT: {
    retryable: true,
    help: "`downstreamResources` names an object that the cluster already has and that the agent did not create. The agent does not change it. Delete it, or rename one of the two.",
  },
  DOWNSTREAM_RESOURCE_FAILED: {
    retryable: true,
    help: "A Secret or ConfigMap of the hub could not be copied into the release's namespace, or its copy could not be deleted. The message has the API server's answer; where a right is missing, grant it to the account that the deployment impersonates.",
  },
  REFERENCED_OBJECT_PENDING: {
    retryable: true,
    help: "The hub has not sent a Secret or ConfigMap that the deployment references. The agent continues as soon as it arrives. If it does not arrive, the hub's log says why it cannot read the object.",
  },
  REFERENCED_OBJECT_NOT_FOUND: {
    retryable: false,
    help: "The hub has no Secret or ConfigMap of the name that the deployment references, or it is one of its own, such as a registration token, which it never sends. Create it in the namespace of the HelmOp or HelmRelease, or change that; the agent continues at once. What is installed stays as it is.",
  },
  INVALID_CEL_EXPRESSION: {
    retryable: false,
    help: "A `readyExpr` of `dependsOn` is not a valid CEL expression; the message has the place. The hub rejects such a HelmOp, so hub and agent have different versions, or the Bundle was written by something else. Correct the expression, or upgrade the agent.",
  },
  UPGRADE_REJECTED: {
    retryable: true,
    help: "A plan has found that the upgrade would fail: the API server does not accept some of its objects, or the account of the deployment may not change them. The message names the first ones with the field or the right, and the text of the plan all of them. Nothing was changed. Correct the chart or its values, grant the right, or set `force`, with which objects that cannot be changed are deleted and created again.",
  },
  PLAN_STALE: {
    retryable: false,
    help: "The stage of the cluster has `approval.verify`. Right before Helm ran the agent has planned the upgrade once more, and something else would have changed than was approved: somebody has changed objects, values or the release since, or the upgrade would fail by now. The message says what. Nothing was changed. The hub takes the promotion back, so the cluster goes on with what it had, plans it again, and asks in a Gate of its own for what nobody has approved. If it happens again and again, something changes these objects all the time: find out what with `flotilla plan`, or add the cluster to `skip`.",
  },
  SANDBOX_UNAVAILABLE: {
    retryable: true,
    help: "A program that reads what the deployment brings has to run in the sandbox, and the kernel of the agent's node has fewer rules than that needs. The message names the kernel, what it has and what is needed. Nothing was run, and what is installed stays. Use a node with a newer kernel; where the message says that a profile or a setting of the node denies Landlock, allow it.",
  },
  HELMFILE_FAILED: {
    retryable: true,
    help: "helmfile could not evaluate the file of a Helmfile; the message has its last lines, with the file and line where helmfile names them. Nothing was changed, and what is deployed stays. Correct the file; the agent plans it again when its source or the Helmfile changes, and retries until then.",
  },
  HELMFILE_INVALID: {
    retryable: false,
    help: "helmfile evaluated the file of a Helmfile, and what it is to deploy cannot be planned; the message names the release or the option, and what to write instead. Nothing was changed, and what is deployed stays.",
  },
  REQUEST_FAILED: {
    retryable: true,
    help: "The agent could not answer a request of `flotilla logs`, `flotilla diff` or `flotilla history`; the message says why. Nothing was changed.",
  },
  [agentErrorCodes.valuesTemplateFailed]: {
    retryable: false,
    help: 'A template in `values` or `templateValues` cannot be rendered for this cluster; the message has its path and the error. Other clusters are not affected. A missing key, such as `.ClusterLabels.region`, is an error as in Fleet: label the Cluster, or use `index .ClusterLabels "region"`, `hasKey` or `dig`, which accept a missing key. The template is rendered again as soon as the HelmOp or the Cluster changes.',
  },
});

export function wrongHub(found: string, expected: string): AppError {
  return new AppError(
    agentErrors.WRONG_HUB,
    `the address leads to hub ${found}, but this agent belongs to hub ${expected}; nothing was changed`,
  );
}
