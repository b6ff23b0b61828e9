/** What can go wrong on the hub beyond charts and Kubernetes. */
import type { HubErrorCode } from "@flotilla/shared/dashboard";
import { defineErrors, type ErrorKind } from "@flotilla/shared/errors";

export const hubErrors = defineErrors({
  HELMOP_INVALID: {
    retryable: false,
    help: "The HelmOp's spec cannot be deployed. The message names the field and says what to change.",
  },
  HELMRELEASE_INVALID: {
    retryable: false,
    help: "The HelmRelease cannot be deployed as it is written, or uses something of Flux that is not supported. The message names the field and says what to write instead.",
  },
  ACCESS_DENIED: {
    retryable: false,
    help: "A HelmRelease refers to an object of another namespace, or has no service account where one is required. The message says what to change; the administrator of the hub may allow it.",
  },
  BUNDLE_NAME_TAKEN: {
    retryable: true,
    help: "A Bundle of the HelmOp's name exists that the HelmOp did not make. Rename the HelmOp, or delete that Bundle.",
  },
  FLEET_RUNNING: {
    retryable: true,
    help: "Fleet's controllers run in the hub's cluster and use the same objects, so the hub serves nothing and writes nothing. It exits if it was running, and waits when it starts again. Uninstall Fleet or scale its controllers to 0, then have the hub take over: docs/migrate.md.",
  },
  FLUX_RUNNING: {
    retryable: true,
    help: "Flux's controllers were started in the hub's cluster while the hub wrote an object of their kinds, so the write is rejected. The hub leaves HelmReleases, sources, Alerts and Receivers as they are until the Leases of these controllers are deleted, and reconciles everything else. To have the hub reconcile them, uninstall Flux's controllers, and delete their Leases or set takeOverFromFlux: docs/flux.md.",
  },
  PIN_MISSING: {
    retryable: false,
    help: "A Bundle names a chart version that was never resolved to an address and a digest. Reconcile its HelmOp.",
  },
  CONTENT_MISSING: {
    retryable: true,
    help: "The Secret that holds the content of a deployment does not exist. It is created again when its Bundle is reconciled.",
  },
  HELM_SECRET_UNUSABLE: {
    retryable: false,
    help: "The Secret that helmSecretName names does not exist, cannot be read, or holds something that cannot be used. The message says which. What is deployed stays; the HelmOp is reconciled again as soon as the Secret changes.",
  },
  POLICY_VIOLATION: {
    retryable: false,
    help: "A Policy of the namespace forbids a setting of a HelmOp or a Bundle. The message names the Policy and what it allows. Nothing is deployed until one of them is changed; what is deployed stays.",
  },
  ROLLOUT_POLICY_INVALID: {
    retryable: false,
    help: "The RolloutPolicy that an app names with rolloutStrategy.policy, or with the annotation flotilla.dev/rollout-policy, does not exist in its namespace, or cannot be used for it; the condition Accepted names the field. Nothing of the app changes until the RolloutPolicy is created or corrected, and then it goes on by itself.",
  },
  ROLLOUT_GATES_CIRCULAR: {
    retryable: false,
    help: "A gate of a stage waits for the rollout of another app, which waits for this one, or the app waits for itself. The condition Accepted names the field and the apps. Nothing of these apps changes until one of the gates is removed, and then they go on by themselves.",
  },
  VALUES_UNREADABLE: {
    retryable: true,
    help: "An object that valuesFrom of a HelmRelease with stages names does not exist, or cannot be read. Its values belong to what is rolled out, so nothing is promoted until it is there; the message names it. What is deployed stays.",
  },
  BUNDLE_NOT_DEPLOYABLE: {
    retryable: false,
    help: "A Bundle that was not made for a HelmOp has no chart, or has files of its own (as those that Fleet makes from Git), which Flotilla does not deploy. Name a chart in spec.helm, without spec.resources.",
  },

  // What the hub answers agents, with a gRPC status.
  AGENT_UNKNOWN: {
    retryable: true,
    help: "The agent has no certificate, or one that this hub did not issue or that has expired. Copy the content of the Secret of a ClusterRegistrationToken of this hub into the Secret flotilla-agent/flotilla-bootstrap of its cluster; the agent then enrols again.",
  },
  AGENT_REJECTED: {
    retryable: true,
    help: "The agent's certificate is for a Cluster that no longer exists on this hub, was revoked or is enrolled with another key; or it is for another hub. Nothing that the agent installed is changed. To enrol the cluster again, copy the content of the Secret of a new ClusterRegistrationToken into the Secret flotilla-agent/flotilla-bootstrap.",
  },
  AGENT_VERSION_UNSUPPORTED: {
    retryable: true,
    help: "The hub does not support the version of the agent. What the agent has installed keeps running. Upgrade the side that the message names; the agent connects again by itself.",
  },
  AGENT_REPLACED: {
    retryable: true,
    help: "Another agent connected with the same identity; the newer connection replaces the older. If this repeats, two agents use copies of one Secret flotilla-agent/flotilla-identity: delete it in one cluster, restart that agent and enrol it as a cluster of its own.",
  },
  PROTOCOL_VIOLATION: {
    retryable: true,
    help: "The other side sent something that the protocol between hub and agent does not allow. Check that the versions of hub and agent are compatible.",
  },
  AGENT_RATE_LIMITED: {
    retryable: true,
    help: "One agent connects, calls or renews its certificate too often. It backs off and retries; other agents are not affected. If it continues, check that agent's log, and whether the Secret flotilla-agent/flotilla-identity was copied.",
  },
  PORT_UNAVAILABLE: {
    retryable: false,
    help: "The hub cannot listen on the address of its gRPC port. Another program uses the port, or the address is not one of this machine; choose another with --grpc-listen.",
  },
  HUB_NOT_READY: {
    retryable: true,
    help: "The replica of the hub is starting and its caches have not synced yet, or it is stopping. The agent reconnects.",
  },

  // Enrolment.
  TOKEN_SECRET_CONFLICT: {
    retryable: true,
    help: "A Secret with the name of the ClusterRegistrationToken exists and does not belong to it. Delete that Secret, or create a token with another name.",
  },
  TOKEN_REJECTED: {
    retryable: true,
    help: "The registration token is unknown to the hub or expired, or the cluster that enrolled with it was deleted. Create a new ClusterRegistrationToken on the hub and copy the content of its Secret into the Secret flotilla-agent/flotilla-bootstrap of the cluster.",
  },
  ENROLMENT_REJECTED: {
    retryable: true,
    help: "A cluster with this client id is enrolled with another key, or was revoked. If it is the same cluster and its key is lost, create a ClusterRegistrationToken for that Cluster (spec.clusterName); if it was revoked, create a new token; if it is another cluster, give it a client id of its own. See docs/enrolment.md.",
  },
  ENROLMENT_INVALID: {
    retryable: false,
    help: "The agent requested a name, a label or another field that Kubernetes does not allow on a Cluster. The message names it.",
  },
  ENROLMENT_RATE_LIMITED: {
    retryable: true,
    help: "More agents enrol than the hub handles at once, or one retries with an invalid token too often. The agent backs off and retries.",
  },

  // Certificates and the requests for them.
  SECRET_INVALID: {
    retryable: false,
    help: "A Secret that the hub created for itself is invalid. Restore it from a backup. If you delete `flotilla-ca`, the hub creates a new authority, and every agent has to enrol again; if you delete `flotilla-pin-signing-key`, every chart version is resolved again.",
  },
  AUTHORITY_UNCONFIRMED: {
    retryable: true,
    help: "The hub could not confirm which of its authorities signs now, so it issued no certificate. The agent retries; its current certificate stays valid until it expires.",
  },
  HUB_ID_UNKNOWN: {
    retryable: true,
    help: "The hub could not read the UID of the namespace kube-system of its cluster, which identifies the hub. Allow the hub to read namespaces.",
  },
  CERTIFICATE_REQUEST_INVALID: {
    retryable: false,
    help: "An agent sent an invalid certificate request: malformed, not signed with its own key, or with a key that is not P-256.",
  },

  // The presence of agents, and the Leases of replicas.
  CLUSTER_GONE: {
    retryable: true,
    help: "The Cluster was deleted, or created again under the same name, while its agent connected. Enrol the cluster again.",
  },
  CLUSTER_CONFLICT: {
    retryable: true,
    help: "Writes of a Cluster's status had conflicts too often in a row. The hub retries.",
  },
  REPLICA_LEASE_EXPIRED: {
    retryable: true,
    help: "A replica of the hub could not renew its Lease, so it does not serve agents until it can; they connect to another replica. Check that the replica reaches the hub's API server and may write Leases in its namespace.",
  },
  REPLICA_NAME_CONFLICT: {
    retryable: true,
    help: "Two processes use the Lease of one replica of the hub. Give each replica a name of its own (`--replica`).",
  },

  // Requests of users to agents, such as `flotilla logs`.
  REQUEST_INVALID: {
    retryable: false,
    help: "The hub does not understand a request to an agent. The message has the part of its address. Use a `flotilla` command line of the hub's version.",
  },
  REQUEST_UNAUTHENTICATED: {
    retryable: false,
    help: "A request to an agent had no token, or one that the API server of the hub does not accept for it. The token must be one of a ServiceAccount of the hub's cluster, with the audience `flotilla-requests`.",
  },
  REQUEST_FORBIDDEN: {
    retryable: false,
    help: "The account may not make this request for the deployments of the workspace. Grant it `get` on the subresource of `bundledeployments` that the message names (`log`, `diff`, `history`, `resources` or `events`), of the API group `fleet.cattle.io` in the workspace; for a plan `get` on `bundlerollouts/plan` of `flotilla.dev`, and `create` for the plan of a change.",
  },
  REQUEST_TARGET_NOT_FOUND: {
    retryable: false,
    help: "The workspace has no such HelmOp or Bundle, or it is not deployed to that Cluster. Check the name, the namespace (-n) and --cluster.",
  },
  REQUEST_NEEDS_CLUSTER: {
    retryable: false,
    help: "The HelmOp or Bundle is deployed to several Clusters. The message lists them; choose one with --cluster.",
  },
  REQUEST_LIMITED: {
    retryable: true,
    help: "Too many requests to agents are in progress: 4 for one agent, 4 of one user, 16 of one replica of the hub. Retry when one of them has ended.",
  },
  AGENT_OFFLINE: {
    retryable: true,
    help: "The agent of the Cluster is not connected to the hub, so nothing can be read from it now. What is installed keeps running.",
  },
  AGENT_OUTDATED: {
    retryable: false,
    help: "The agent, or the replica of the hub that it is connected to, has a version that answers no requests. Upgrade it.",
  },
  REQUEST_INTERRUPTED: {
    retryable: true,
    help: "The answer of the agent is not complete: its connection ended, or the time or the size of an answer was exceeded. Retry; for a log, choose a pod or fewer lines.",
  },

  // Between replicas.
  REPLICA_UNREACHABLE: {
    retryable: true,
    help: "The replica of the hub that the agent is connected to does not answer on its internal port (`--replica-listen`, in the chart `internal.replicaPort`). Check that the NetworkPolicies let the replicas reach each other, and that all of them have this version. Retry.",
  },

  // Reviews of tokens and rights.
  REVIEW_FAILED: {
    retryable: true,
    help: "The API server of the hub did not answer a TokenReview or a SubjectAccessReview, so the hub cannot tell who sends a request or whether they may. Retry; if it lasts, check the API server, and that the hub's ClusterRole has `create` on both.",
  },

  // Sessions of the dashboard.
  SESSION_REQUIRED: {
    retryable: false,
    help: "The request has no session, or its session has ended. Log in.",
  },
  LOGIN_FAILED: {
    retryable: false,
    help: "The API server of the hub does not accept the token: it has expired, was revoked, or is for another cluster or audience. Create a new one, such as with `kubectl create token NAME --namespace NAMESPACE`.",
  },
  LOGIN_LIMITED: {
    retryable: true,
    help: "Too many logins from one address: 10 at once, then one in 6 seconds. Wait a moment, then retry.",
  },
  LOGIN_EXPIRED: {
    retryable: false,
    help: "The identity provider redirected the browser to the hub, but the login was started more than 10 minutes ago, in another browser, at another address of the dashboard, or was already used. Log in again, at the address in the value `dashboard.url`.",
  },
  IDENTITY_REJECTED: {
    retryable: false,
    help: "The identity provider has named a user or a group that the hub never impersonates: one of Kubernetes' own, under `system:`, or a name that a request cannot have. Change it at the provider, or set another claim or a prefix in `dashboard.oidc`.",
  },
  SESSION_TOO_LARGE: {
    retryable: false,
    help: "The token, or the list of the user's groups, does not fit into the cookies of a session, which have at most 9,000 bytes. Log in with a token that has fewer claims, such as the token of a ServiceAccount, or have the identity provider send fewer groups.",
  },
  REQUEST_FORGED: {
    retryable: false,
    help: "A request that changes something came without the CSRF token of the session, or from the page of another site. Reload the dashboard.",
  },

  // Login with OpenID Connect.
  OIDC_UNAVAILABLE: {
    retryable: true,
    help: "The hub cannot use the OpenID provider: it does not answer, answers something else, or the file with the client secret cannot be read. The message has the reason. Check `dashboard.oidc` of the chart flotilla: issuerURL must be the issuer exactly as the provider writes it, and `ca` has the authority of its certificate.",
  },
  OIDC_REJECTED: {
    retryable: false,
    help: "The OpenID provider has not logged the user in, or the hub does not accept its answer: its signature, issuer, audience, nonce or time is wrong, or the provider does not know the client, its secret, the redirect URI or a scope. The message has the reason.",
  },
  OIDC_CLAIMS_INVALID: {
    retryable: false,
    help: "The ID token does not say who the user is: the claim for the user name or for the groups is missing or has another type, or the email address is not verified. The rules are the same as for kube-apiserver's flags --oidc-*. Have the provider write the claim into the ID token, or set another one in `dashboard.oidc`.",
  },

  // The dashboard's API.
  VIEW_INVALID: {
    retryable: false,
    help: "The dashboard's API does not understand the request. The message has the part that is wrong; the OpenAPI document is at `/api/v1/openapi.json`.",
  },
  VIEW_FORBIDDEN: {
    retryable: false,
    help: "The user may not list that kind in that namespace, so the dashboard does not show it. Grant `list` on it in the workspace; rights in the namespaces of single clusters do not count.",
  },
  VIEW_NOT_FOUND: {
    retryable: false,
    help: "There is no such object. It was deleted, or the address is wrong.",
  },
  VIEW_UNAVAILABLE: {
    retryable: true,
    help: "This replica of the hub is not ready: it is starting or stopping. The page retries.",
  },
  STREAMS_LIMITED: {
    retryable: true,
    help: "A session has 50 open streams of changes on this replica: one for each tab of the dashboard, and each other client of `/api/v1/changes`. Close some of them.",
  },
  ACTION_FAILED: {
    retryable: false,
    help: "The action has no effect on the object as it is now, or the API server of the hub rejected the change. The message has the reason.",
  },

  // Receivers.
  ISSUER_KEYS: {
    retryable: true,
    help: "The keys that sign the tokens of Google Pub/Sub cannot be fetched, so a Receiver of type gcr cannot check its callers and answers 500; the sender repeats the call. Check that the hub reaches the issuer (`--gcr-issuer`, by default https://accounts.google.com) and the address of its keys.",
  },
}) satisfies Readonly<Record<HubErrorCode, ErrorKind>>;
