/**
 * The handlers of Enroll and Renew, which alone issue certificates to agents.
 *
 * Each client, each sender and the whole hub have a rate limit; the sender's and the hub's count only requests with a valid
 * token or key, so that nobody else can use them up. A repeated rejection is logged once a minute. Failures of a sender have no
 * limit of their own: whole fleets share one address, and agents with a valid token must not wait for others.
 */

import type { EnrollRequest, EnrollResponse, IssuedCertificate } from "@flotilla/proto";
import { agentKeyAnnotation } from "@flotilla/shared/api/names";
import { createKeyedRateLimiter } from "@flotilla/shared/concurrency";
import { messageOf } from "@flotilla/shared/errors";
import { keyOf } from "@flotilla/shared/kube/objects";
import type { Log } from "@flotilla/shared/log";
import { status } from "@grpc/grpc-js";
import { hubErrors } from "../../base/index.ts";
import type { LiveAuthority } from "../authority/live-authority.ts";
import { type RequestedKey, readCertificateRequest } from "../identity/certificate-request.ts";
import type { ClusterIdentity } from "../identity/cluster-identity.ts";
import { RpcError } from "../rpc/errors.ts";
import { hostOf, type Rejections } from "../rpc/rejections.ts";
import { type AuthorizationDeps, authorizeEnrolment, createStoredTokens } from "./authorization.ts";
import { clusterLabels } from "./cluster-labels.ts";
import { recordEnrolmentEvents } from "./events.ts";
import { enrolmentRateLimited } from "./rate-limited.ts";
import { type RegisterClusterDeps, registerCluster } from "./register-cluster.ts";

export interface EnrolmentDeps extends RegisterClusterDeps, Omit<AuthorizationDeps, "storedToken"> {
  readonly authority: Pick<LiveAuthority, "issueClient">;
  readonly hubId: string;
  readonly rejections: Rejections;
  readonly log: Log;
}

export interface Enrolment {
  /** `peer`: the address of the request. Throws an RpcError. */
  enroll(request: EnrollRequest, peer: string): Promise<EnrollResponse>;
  renew(identity: ClusterIdentity, certificateRequest: Uint8Array): Promise<IssuedCertificate>;
}

/** For all enrolments: a hub with two cores issues more certificates a second and has time left for other work. */
const allLimit = { perSecond: 50, burst: 500, maxKeys: 1 };
/** For one sender, so that others get their share. */
const senderLimit = { perSecond: 40, burst: 400 };
/** For one client, which enrols once, or again after a crash. */
const clientLimit = { perSecond: 1 / 5, burst: 10 };
/** For one agent, which renews every few hours; short-lived certificates of tests need more. */
const renewalLimit = { perSecond: 1, burst: 10 };
/** Limits log lines about one sender, which could send any number of new client ids. */
const senderLogLimit = { perSecond: 1, burst: 50 };

export function createEnrolment(deps: EnrolmentDeps): Enrolment {
  const { clusters, authority, hubId, rejections, clock, log } = deps;
  const authorization = { ...deps, storedToken: createStoredTokens(deps.rest, clock) };
  const all = createKeyedRateLimiter({ clock, ...allLimit });
  const senders = createKeyedRateLimiter({ clock, ...senderLimit });
  const clients = createKeyedRateLimiter({ clock, ...clientLimit });
  const renewals = createKeyedRateLimiter({ clock, ...renewalLimit });
  const senderLines = createKeyedRateLimiter({ clock, ...senderLogLimit });

  async function enroll(request: EnrollRequest, peer: string): Promise<EnrollResponse> {
    const sender = hostOf(peer);
    if (!clients.take(`${sender} ${request.clientId}`)) throw rateLimited();
    try {
      return await admit(request, sender);
    } catch (thrown) {
      logFailure(sender, request.clientId, thrown);
      throw RpcError.fromThrown(thrown);
    }
  }

  function rateLimited(): RpcError {
    rejections.count("enrolment");
    return enrolmentRateLimited();
  }

  async function admit(request: EnrollRequest, sender: string): Promise<EnrollResponse> {
    const { clientId, clusterName } = request;
    const { namespace, token, key } = await authorizeEnrolment(authorization, request, () =>
      readKey(request.certificateRequest),
    );
    if (!senders.take(sender) || !all.take("")) throw enrolmentRateLimited();
    const labels = clusterLabels(request.labels, token);
    const { fingerprint, spki } = key;
    const applicant = { namespace, clientId, fingerprint, clusterName, labels, token };
    const registered = await registerCluster(deps, applicant);
    const { cluster } = registered;
    const { name, uid = "" } = cluster.metadata;
    const identity = { hubId, namespace, name, uid };
    const certificate = await authority.issueClient({ identity, spki });
    log.info({ cluster: keyOf(cluster), clientId, token: token?.name }, "cluster enrolled");
    recordEnrolmentEvents(deps, registered, { clusterName, labels, token });
    return { certificate, hubId, clusterNamespace: namespace, clusterName: name, clusterUid: uid };
  }

  function logFailure(sender: string, clientId: string, thrown: unknown): void {
    const client = `${sender} ${clientId}`;
    const fields = { peer: sender, clientId };
    if (!(thrown instanceof RpcError)) {
      rejections.failed(client, thrown, { fields, message: "cannot enrol an agent" });
      return;
    }
    const { code, message: err } = thrown;
    if (senderLines.take(sender))
      rejections.rejected(`${client} ${code}`, {
        reason: "enrolment",
        fields: { ...fields, code, err },
        message: "rejected an enrolment",
      });
    else rejections.count("enrolment");
  }

  async function renew(identity: ClusterIdentity, request: Uint8Array): Promise<IssuedCertificate> {
    const { namespace, name } = identity;
    const cluster = keyOf({ namespace, name });
    if (!renewals.take(cluster)) {
      const message = "agent renews its certificate too often";
      rejections.rejected(cluster, { reason: "renewal_rate", fields: { cluster }, message });
      throw renewalRateLimited(cluster);
    }
    const key = await readKey(request);
    const known = clusters.get(cluster)?.metadata.annotations?.[agentKeyAnnotation];
    if (known !== key.fingerprint) throw otherKey(cluster);
    try {
      return await authority.issueClient({ identity, spki: key.spki });
    } catch (thrown) {
      const message = "cannot renew an agent's certificate";
      rejections.failed(cluster, thrown, { fields: { cluster }, message });
      throw thrown;
    }
  }

  return { enroll, renew };
}

async function readKey(certificateRequest: Uint8Array): Promise<RequestedKey> {
  try {
    return await readCertificateRequest(certificateRequest);
  } catch (cause) {
    const { INVALID_ARGUMENT } = status;
    const { ENROLMENT_INVALID } = hubErrors;
    throw new RpcError(INVALID_ARGUMENT, ENROLMENT_INVALID, messageOf(cause), { cause });
  }
}

function renewalRateLimited(cluster: string): RpcError {
  const message = `the certificate of Cluster ${cluster} was renewed a moment ago; back off before the next attempt`;
  return new RpcError(status.RESOURCE_EXHAUSTED, hubErrors.AGENT_RATE_LIMITED, message);
}

function otherKey(cluster: string): RpcError {
  const message = `the certificate of Cluster ${cluster} is renewed only for the key that the cluster is enrolled with`;
  return new RpcError(status.PERMISSION_DENIED, hubErrors.ENROLMENT_REJECTED, message);
}
