/** A replica of the hub that runs: serves agents and webhooks, and runs the controllers while it leads. */

import { hubNamespace as namespace } from "@flotilla/shared/api/names";
import { buildVersion } from "@flotilla/shared/buildinfo";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { parseListenAddress, startHttpServer } from "@flotilla/shared/program";
import { createPatterns } from "@flotilla/shared/regex";
import { cachesSynced } from "./base/index.ts";
import { type HubConfig, replicaAddress, serverNames } from "./config.ts";
import {
  createUserRequests,
  isPlanPath,
  planRoute,
  requestRoute,
  runKeyRotation,
} from "./console/index.ts";
import { createReceiverController, createWebhooks } from "./events/index.ts";
import { ensureHubNamespace, runLocalCluster } from "./fleet/index.ts";
import {
  type AgentServer,
  type AskAgentDeps,
  createAgentAsker,
  createAgentServer,
  createLiveSigningKey,
  createReplica,
  highestEpoch,
  openReplicaLink,
  RenewedCertificate,
  type Replica,
  runPresenceController,
  runRotationController,
  runTokenController,
} from "./link/index.ts";
import type { Parts } from "./parts.ts";
import { lead } from "./process/index.ts";
import { createContentPacker, createHubValues, createRolloutObjects } from "./rollout/index.ts";
import {
  createChartAccess,
  createDeploymentTrust,
  createMappings,
  createPinSigner,
  createRolloutStrategies,
  type DataSigner,
  type DeploymentTrust,
  type PinSigner,
  policiesIn,
  watchReferences,
} from "./rules/index.ts";
import { serveDashboard } from "./serve-dashboard.ts";

export interface ServeOptions {
  readonly config: HubConfig;
  readonly parts: Parts;
  /** Why this replica is not ready, for people; undefined when it is. */
  readonly notReady: () => string | undefined;
  readonly setNotReady: (why: string | undefined) => void;
}

/** What the hub has signed, once its key is known. */
interface LiveSigning {
  readonly trust: DeploymentTrust;
  readonly signer: () => DataSigner & PinSigner;
}

/** How long streams may take to end before the port is closed regardless. */
const closeGraceMs = 2_000;

/** Runs until `signal` aborts. Throws LEADERSHIP_LOST. */
export async function serve(
  { config, parts, notReady, setNotReady }: ServeOptions,
  signal: AbortSignal,
): Promise<void> {
  const { caches, leaseRest, metrics, clock, log } = parts;
  const { helmOps, bundles, clusters, deployments, tokens } = caches;
  const { replica: name, certificateLifetimeMs } = config;
  const ending = new AbortController();
  const end = AbortSignal.any([signal, ending.signal]);

  const { crossNamespaceReferences: crossNamespace, proxy } = config;
  const webhooks = createWebhooks({
    ...parts,
    receivers: parts.flux.receivers,
    helmOps: helmOps.store,
    crossNamespace,
    issuer: config.gcrIssuer,
    userAgent: `flotilla-hub/${buildVersion}`,
    ...(proxy !== undefined && { proxy }),
    notReady,
    addressHeader: config.clientAddressHeader,
  });
  let answering: Pick<AgentServer, "request"> | undefined;
  let own: Pick<Replica, "addressOf"> | undefined;
  const stores = {
    bundles: bundles.store,
    deployments: deployments.store,
    clusters: clusters.store,
    groups: caches.groups.store,
  };
  const link = await openReplicaLink(config.replicaListen);
  const linkPort = parseListenAddress(link.address, "a port of the hub").port;
  const agents: Pick<AskAgentDeps, "replica" | "link" | "addressOf" | "ask"> = {
    replica: name,
    link,
    addressOf: (of) => own?.addressOf(of),
    ask: (...request) => answering?.request(...request) ?? { kind: "offline" },
  };
  const requests = createUserRequests({ ...parts, ...stores, ...agents });
  const askAgent = createAgentAsker({ ...parts, ...stores, ...agents });
  let signing: LiveSigning | undefined;
  const { requireServiceAccount } = config;
  const signer = {
    sign: (data: unknown) => signing?.signer().sign(data) ?? "",
    isSigned: (data: unknown, signature: string) =>
      signing?.signer().isSigned(data, signature) === true,
  };
  const plans = planRoute({
    ...parts,
    ...stores,
    helmOps: helmOps.store,
    resolver: parts.sources,
    access: createChartAccess(parts),
    packer: createContentPacker(),
    values: createHubValues({ objects: parts.objects, signer }),
    pinsOf: (bundle) => signing?.signer().pinsOf(bundle),
    policiesIn: (namespaces) =>
      policiesIn(caches.policies.store, namespaces, { requireServiceAccount }),
    ask: askAgent,
    rollouts: createRolloutObjects({
      rest: parts.rest,
      rollouts: caches.rollouts.store,
      signer,
    }),
    mappings: createMappings(caches),
    policy: {
      policies: caches.policies.store,
      patterns: createPatterns(),
      requireServiceAccount,
    },
    strategies: createRolloutStrategies(caches.rolloutPolicies.store),
    isTrusted: (deployment) => signing?.trust.isTrusted(deployment) === true,
    notReady,
    addressHeader: config.clientAddressHeader,
  });
  const asked = requestRoute({
    ...parts,
    requests,
    notReady,
    addressHeader: config.clientAddressHeader,
  });
  const dashboard = serveDashboard({ config, parts, requests, notReady }, ending.signal);
  const http = await startHttpServer({
    listen: config.httpListen,
    routes: {
      "/requests/": (request, response) =>
        (isPlanPath(request.url ?? "/") ? plans : asked)(request, response),
      ...webhooks.routes,
      "/": dashboard.route,
    },
  });
  const httpAddress = parseListenAddress(http.address, "a port of the hub");
  parts.ownPorts.push(httpAddress.port, linkPort);
  const leases = caches.replicas;
  const replica = createReplica({
    ...parts,
    rest: leaseRest,
    leases,
    namespace,
    name,
    address: replicaAddress(config, linkPort),
  });
  own = replica;
  const running: Promise<unknown>[] = [];
  try {
    await ensureHubNamespace(parts.rest);
    const acquired = await replica.acquire(ending.signal);
    const signingKey = await createLiveSigningKey({ rest: parts.rest, namespace, log });
    running.push(signingKey.run(ending.signal));
    const trust = createDeploymentTrust(signingKey.current, createPinSigner, bundles.store);
    signing = { trust, signer: () => createPinSigner(signingKey.current().bytes) };
    watchReferences({ deployments, bundles }, parts.objects, trust);
    running.push(parts.run(ending.signal), webhooks.run(ending.signal));
    const server = await createAgentServer(
      { ...parts, namespace, trust, helmOps, bundles, clusters, deployments, tokens },
      {
        ...acquired,
        replica: name,
        isLeaseHeld: replica.isLeaseHeld,
        epochFloorOf: replica.epochFloorOf,
        version: buildVersion,
        servingNames: serverNames(config),
        certificateLifetimeMs,
      },
    );
    answering = server;
    const { authority, presence, hubId } = server;
    const linkCertificate = await RenewedCertificate.issue({
      authority,
      clock,
      log,
      name: "certificate for other replicas",
      issue: (lifetimeMs) => authority.issueReplica({ hubId, replica: name }, lifetimeMs),
    });
    link.serve({ certificate: linkCertificate, hubId }, requests.answerReplica);
    // An agent that connects before would be rejected, after a handshake.
    await Promise.all([cachesSynced(caches), parts.flux.synced()]);
    const recorded = highestEpoch(clusters.store.list(), name);
    if (recorded > 0) await replica.raiseEpochFloor(recorded);
    const { host, port } = config.grpcListen;
    const agentPort = await server.listen(host, port);
    parts.ownPorts.push(agentPort);
    const address = config.advertise || `${serverNames(config)[0]}:${agentPort}`;
    running.push(runPresenceController({ presence, clusters, clock, log, metrics }, end));
    setNotReady(undefined);
    const agents = `${host}:${agentPort}`;
    log.info({ replica: name, agents, http: http.address }, "hub is ready");
    const lifetimeMs = certificateLifetimeMs;
    const controllers = { ...parts, clusters, tokens, authority, address, lifetimeMs };
    try {
      await lead(
        {
          ...parts,
          resolver: parts.sources,
          askAgent,
          requireServiceAccount,
          unverifiedApprovals: config.unverifiedApprovals,
          flux: {
            informers: parts.flux,
            readIndex: parts.sources.readIndex,
            gitParts: parts.gitParts,
            bucketClient: parts.sources.buckets,
            options: config,
            durations: parts.durations,
            budget: parts.budget,
            readChart: parts.chartReader.readChart,
            artifacts: parts.sources.artifacts,
          },
          replica,
          runTokens: (rest, until) => runTokenController({ ...controllers, rest }, until),
          ...(config.enrolsLocalCluster && {
            runLocalCluster: (rest: KubeRest, until: AbortSignal) =>
              runLocalCluster({ ...controllers, rest }, until),
          }),
          runReceivers: (rest, until) =>
            createReceiverController({
              ...parts,
              receivers: parts.flux.receivers,
              crossNamespace,
              rest: parts.flux.fence(rest),
            }).run(until),
          runRotation: (rest, until) => runRotationController({ ...controllers, rest }, until),
          runSessionKeys: (rest, until) => runKeyRotation({ rest, namespace, clock, log }, until),
        },
        end,
      );
    } finally {
      // Also when leadership was lost: the agents reconnect at once, to another replica or to the restarted process.
      setNotReady("the hub is stopping");
      await server.close(closeGraceMs);
    }
  } finally {
    await replica.release();
    await parts.flush();
    ending.abort();
    await dashboard.close();
    await Promise.allSettled([...running, http.close(), link.close()]);
    await webhooks.close();
  }
}
