/**
 * Answers Enroll and Renew: the only places that issue certificates.
 *
 * A wrong token costs an agent nothing but time, and the hub little: the same refusal of the same client is logged once a
 * minute, and each client and each sender has its limit. There is none for failures of a sender: whole fleets sit behind one address, and
 * those whose token is good must not wait for those whose token is not.
 */
import type { EnrollRequest, EnrollResponse, IssuedCertificate } from "@flotilla/proto/messages.ts";
import type { Cluster } from "@flotilla/shared/api/cluster.ts";
import type { ClusterRegistrationToken } from "@flotilla/shared/api/cluster-registration-token.ts";
import { agentKeyAnnotation } from "@flotilla/shared/api/names.ts";
import type { Store } from "@flotilla/shared/kube/cache/store.ts";
import { secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import { keyOf } from "@flotilla/shared/kube/objects/object.ts";
import type { Log } from "@flotilla/shared/log/log.ts";
import type { Clock } from "@flotilla/shared/time/clock.ts";
import { status } from "@grpc/grpc-js";
import { type RequestedKey, readCertificateRequest } from "../identity/certificate-request.ts";
import type { ClusterIdentity } from "../identity/cluster-identity.ts";
import type { LiveAuthority } from "../identity/live-authority.ts";
import { tokenIn } from "../registration-token/token-secret.ts";
import { claimedUid } from "../registration-token/token-value.ts";
import { RpcError, serveErrors } from "../serve/errors.ts";
import { hostOf } from "../serve/peer.ts";
import { createRateLimit } from "../serve/rate-limit.ts";
import type { Refusals } from "../serve/refusals.ts";
import { type ClusterLabels, clusterLabels } from "./cluster-labels.ts";
import { enrollErrors, tooManyEnrolments } from "./errors.ts";
import { agentKeyIndex, tokenUidIndex } from "./indexes.ts";
import { judgeToken, type TokenVerdict } from "./judge-token.ts";
import { type PlaceClusterDeps, type PlacedCluster, placeCluster } from "./place-cluster.ts";
import type { TokenTerms } from "./token-terms.ts";

export interface EnrollDeps extends PlaceClusterDeps {
  readonly tokens: Store<ClusterRegistrationToken>;
  readonly authority: Pick<LiveAuthority, "issueClient">;
  readonly hubId: string;
  readonly refusals: Refusals;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Enrollment {
  /** `peer`: the address that the request came from. Throws an RpcError. */
  enroll(request: EnrollRequest, peer: string): Promise<EnrollResponse>;
  renew(identity: ClusterIdentity, certificateRequest: Uint8Array): Promise<IssuedCertificate>;
}

/** What has let an agent in. */
interface Door {
  readonly namespace: string;
  /** `undefined` where it was its key alone. */
  readonly token: TokenTerms | undefined;
}

/** What an agent has asked for, and the token that it showed. */
interface Asked {
  readonly clusterName: string | undefined;
  readonly labels: ClusterLabels;
  readonly token: TokenTerms | undefined;
}

/** Of enrolments in all: a hub with two cores makes more certificates than this a second and has work left to do. */
const overall = { perSecond: 50, burst: 500 };
/** Of one sender, so that something is left for the others. */
const ofSender = { perSecond: 40, burst: 400 };
/** Of one client: it enrols once, or again after a crash. */
const ofClient = { perSecond: 1 / 5, burst: 10 };
/** Renewals of one agent, which needs one in some hours; short-lived certificates of tests need more. */
const renewalsOfAgent = { perSecond: 1, burst: 10 };
/** Names of labels in one line. */
const toldLabels = 10;
/** Of lines about one sender, which may make up ever other clients. */
const linesOfSender = { perSecond: 1, burst: 50 };

export function createEnrollment(deps: EnrollDeps): Enrollment {
  const { rest, tokens, clusters, authority, hubId, refusals, clock, log } = deps;
  const all = createRateLimit({ clock, ...overall, maxKeys: 1 });
  const senders = createRateLimit({ clock, ...ofSender });
  const clients = createRateLimit({ clock, ...ofClient });
  const renewals = createRateLimit({ clock, ...renewalsOfAgent });
  const toldOfSender = createRateLimit({ clock, ...linesOfSender });

  async function enroll(request: EnrollRequest, peer: string): Promise<EnrollResponse> {
    const sender = hostOf(peer);
    const isTooMany =
      !clients.take(`${sender} ${request.clientId}`) || !senders.take(sender) || !all.take("");
    if (isTooMany) {
      refusals.counted("enrolment");
      throw tooManyEnrolments();
    }
    try {
      return await admit(request);
    } catch (thrown) {
      refuse(sender, request.clientId, thrown);
      throw RpcError.answerTo(thrown);
    }
  }

  /** Counts it and tells a person, who hears of no sender more often than of one refusal a second. */
  function refuse(sender: string, clientId: string, thrown: unknown): void {
    const who = `${sender} ${clientId}`;
    const fields = { peer: sender, clientId };
    if (!(thrown instanceof RpcError)) {
      refusals.failed(who, thrown, { fields, message: "agent could not be enrolled" });
      return;
    }
    const { code, message: err } = thrown;
    if (toldOfSender.take(sender))
      refusals.refused(`${who} ${code}`, {
        reason: "enrolment",
        fields: { ...fields, code, err },
        message: "enrolment was refused",
      });
    else refusals.counted("enrolment");
  }

  async function admit(request: EnrollRequest): Promise<EnrollResponse> {
    const key = await checkRequest(request.certificateRequest);
    const { clientId, clusterName } = request;
    const { namespace, token } = await doorFor(request, key);
    const labels = clusterLabels(request.labels, token);
    const { fingerprint } = key;
    const applicant = { namespace, clientId, fingerprint, clusterName, labels, token };
    const placed = await placeCluster(deps, applicant);
    const { cluster } = placed;
    const { name, uid = "" } = cluster.metadata;
    const identity = { hubId, namespace, name, uid };
    const certificate = await authority.issueClient({ identity, spki: key.spki });
    log.info({ cluster: keyOf(cluster), clientId, token: token?.name }, "cluster enrolled");
    tell(placed, { clusterName, labels, token });
    return { certificate, hubId, clusterNamespace: namespace, clusterName: name, clusterUid: uid };
  }

  /**
   * What lets an agent in, and where its Cluster is to be. The key of a Cluster that exists opens the door to that Cluster
   * as a token does: an agent that was cut off until its certificate ended comes back, however old its token is.
   */
  async function doorFor(request: EnrollRequest, key: RequestedKey): Promise<Door> {
    const verdict = await judge(request.token);
    if (verdict.kind === "good")
      return { namespace: verdict.token.namespace, token: verdict.token };
    const known = clusters
      .byIndex(agentKeyIndex, key.fingerprint)
      .find(({ spec }) => spec.clientID === request.clientId);
    if (known?.metadata.namespace !== undefined)
      return { namespace: known.metadata.namespace, token: undefined };
    throw new RpcError(
      status.UNAUTHENTICATED,
      enrollErrors.TOKEN_REFUSED,
      request.token === "" ? keyRefused : refusalOf(verdict),
    );
  }

  /** What a person who looks at the Cluster is to know of it. */
  function tell({ cluster, how }: PlacedCluster, asked: Asked): void {
    const { clusterName, token } = asked;
    const { leftOut } = asked.labels;
    const { name } = cluster.metadata;
    const isNameTaken =
      how === "create" &&
      token?.clusterName === undefined &&
      clusterName !== undefined &&
      clusterName !== name;
    if (isNameTaken) {
      const note = `the agent asked for the name ${clusterName}, which another Cluster has, so this one is called ${name}`;
      log.warn({ cluster: keyOf(cluster), asked: clusterName }, "name of a cluster is taken");
      record(cluster, "Warning", "NameTaken", note);
    }
    if (how === "take-over")
      record(
        cluster,
        "Normal",
        "TakenOver",
        `an agent with another key took this cluster's place with the registration token ${token?.name ?? ""}; the key of before opens no door any more`,
      );
    if (leftOut.length === 0 || (how !== "create" && how !== "adopt")) return;
    const names = leftOut.slice(0, toldLabels).join(", ");
    const more = leftOut.length > toldLabels ? ` and ${leftOut.length - toldLabels} more` : "";
    const note = `the agent asked for labels that it may not give its cluster, and that were left out: ${names}${more}`;
    log.warn(
      { cluster: keyOf(cluster), labels: leftOut.slice(0, toldLabels), count: leftOut.length },
      "labels that an agent asked for were left out",
    );
    record(cluster, "Warning", "LabelsLeftOut", note);
  }

  function record(
    cluster: Cluster,
    type: "Normal" | "Warning",
    reason: string,
    note: string,
  ): void {
    deps.events.record(cluster, { type, reason, action: "Enroll", note });
  }

  async function judge(presented: string): Promise<TokenVerdict> {
    const uid = claimedUid(presented);
    const [token] = uid === undefined ? [] : tokens.byIndex(tokenUidIndex, uid);
    const expected = token === undefined ? "" : await storedToken(token);
    return judgeToken({ presented, token, expected, now: clock.now() });
  }

  async function storedToken(token: ClusterRegistrationToken): Promise<string> {
    const { name, namespace = "" } = token.metadata;
    const secret = await rest.get(secrets, { namespace, name: token.status?.secretName ?? name });
    return secret === undefined ? "" : tokenIn(secret);
  }

  async function renew(identity: ClusterIdentity, request: Uint8Array): Promise<IssuedCertificate> {
    const who = keyOf({ namespace: identity.namespace, name: identity.name });
    if (!renewals.take(who)) {
      const fields = { cluster: who };
      refusals.refused(who, { reason: "renewal", fields, message: "agent renews too often" });
      const message = `the certificate of Cluster ${who} was renewed only just now; wait a moment before the next try`;
      throw new RpcError(status.RESOURCE_EXHAUSTED, serveErrors.AGENT_TOO_BUSY, message);
    }
    const key = await checkRequest(request);
    const cluster = clusters.get(who);
    if (cluster?.metadata.annotations?.[agentKeyAnnotation] !== key.fingerprint) {
      throw new RpcError(
        status.PERMISSION_DENIED,
        enrollErrors.ENROLMENT_REFUSED,
        `the certificate of Cluster ${identity.namespace}/${identity.name} is renewed only for the key that it is enrolled with`,
      );
    }
    try {
      return await authority.issueClient({ identity, spki: key.spki });
    } catch (thrown) {
      const message = "certificate could not be renewed";
      refusals.failed(who, thrown, { fields: { cluster: who }, message });
      throw thrown;
    }
  }

  return { enroll, renew };
}

async function checkRequest(request: Uint8Array): Promise<RequestedKey> {
  try {
    return await readCertificateRequest(request);
  } catch (thrown) {
    throw new RpcError(
      status.INVALID_ARGUMENT,
      enrollErrors.ENROLMENT_INVALID,
      messageFor(thrown),
      {
        cause: thrown,
      },
    );
  }
}

const remedy =
  "make a new ClusterRegistrationToken on the hub and put the content of its Secret into the agent's bootstrap Secret";
const keyRefused = `no Cluster of this hub is enrolled with the agent's key any more; ${remedy}`;

function refusalOf(verdict: Exclude<TokenVerdict, { kind: "good" }>): string {
  return verdict.kind === "ended"
    ? `the registration token ${verdict.name} ended at ${verdict.endedAt}; ${remedy}`
    : `the registration token is not one of this hub, or it ended and was deleted; ${remedy}`;
}

function messageFor(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
