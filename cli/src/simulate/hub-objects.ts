/**
 * The objects of a simulation on the hub: created on start, deleted on exit. Objects that it did not create are never used or
 * deleted, even with the names or labels of the simulation.
 */
import { type Bootstrap, parseBootstrap } from "@flotilla/agent/state";
import {
  type ClusterRegistrationToken,
  clusterRegistrationTokens,
  clusters,
  type HelmOp,
  helmOps,
} from "@flotilla/shared/api";
import { registrationSecretType } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import { dropBulk } from "@flotilla/shared/kube/cache";
import { isConflict, type KubeRest, listAll } from "@flotilla/shared/kube/client";
import { type KubeObject, type Resource, secrets } from "@flotilla/shared/kube/objects";
import { cliErrors } from "../errors.ts";
import { registrationSecretData, waitForWorkspace } from "../fleet/index.ts";
import {
  conflictingObjects,
  describeObjects,
  ownedObjects,
  type SimulationObjects,
  type SimulationRequest,
} from "./ownership.ts";
import {
  clientIdPrefix,
  clustersWithPrefix,
  newHelmOps,
  newToken,
  type SimulationRun,
} from "./plan.ts";

export interface SimulationContext {
  readonly hub: KubeRest;
  readonly namespace: string;
  /** Prints one line for each object that is created or deleted. */
  readonly print: (line: string) => void;
}

export interface Simulation extends SimulationContext, SimulationRun {
  /** The objects that this run has created. */
  readonly created: {
    readonly tokens: ClusterRegistrationToken[];
    readonly helmOps: HelmOp[];
  };
}

const maxConcurrentDeletes = 16;

/** Throws SIMULATION_NAME_TAKEN or SIMULATION_EXISTS when the name cannot be used. */
export async function validateName(
  { hub, name, namespace }: Simulation,
  request: SimulationRequest,
): Promise<void> {
  const found = await listSimulationObjects({ hub, namespace });
  const conflicting =
    describeObjects(conflictingObjects(name, request, found)) || (await conflictingSecret());
  if (conflicting !== "")
    throw new AppError(
      cliErrors.SIMULATION_NAME_TAKEN,
      `start simulation ${name} in ${namespace} on ${hub.server}: objects that it did not create have its names: ${conflicting}; nothing was created or changed, choose another --name`,
    );
  const existing = describeObjects(ownedObjects(name, found));
  if (existing !== "")
    throw new AppError(
      cliErrors.SIMULATION_EXISTS,
      `start simulation ${name} in ${namespace} on ${hub.server}: it is running or was kept: ${existing}; delete it with \`flotilla simulate --remove ${name} -n ${namespace}\`, or choose another --name`,
    );

  /** The hub creates a Secret with the name of the token, and does not replace an existing one. */
  async function conflictingSecret(): Promise<string> {
    if (request.tokenSecret !== undefined) return "";
    const secret = await hub.get(secrets, { namespace, name });
    return secret === undefined || secret.type === registrationSecretType ? "" : `Secret ${name}`;
  }
}

/** What agents register with: the Secret `tokenSecret`, or the Secret of a token created for this simulation. */
export async function createRegistration(
  { hub, name, namespace, print, created }: Simulation,
  tokenSecret: string | undefined,
): Promise<Bootstrap> {
  if (tokenSecret === undefined) {
    await waitForWorkspace(hub, namespace);
    created.tokens.push(await hub.create(clusterRegistrationTokens, newToken(name, namespace)));
    print(`clusterregistrationtoken/${name} created`);
    const data = await registrationSecretData(hub, { namespace, name });
    return parseBootstrap({ metadata: { namespace, name }, data });
  }
  const secret = await hub.get(secrets, { namespace, name: tokenSecret });
  if (secret !== undefined) return parseBootstrap(secret);
  throw new AppError(
    cliErrors.TOKEN_SECRET_NOT_FOUND,
    `read Secret ${namespace}/${tokenSecret}: not found on ${hub.server}; check --token-secret and -n`,
  );
}

/** Creates the HelmOps of a simulation one by one, so that `created` is right when one fails. */
export async function createHelmOps(
  { hub, name, namespace, print, created }: Simulation,
  count: number,
): Promise<void> {
  for (const helmOp of newHelmOps(name, count, namespace)) {
    created.helmOps.push(await hub.create(helmOps, helmOp));
    print(`helmop/${helmOp.metadata.name} created`);
  }
}

/** Deletes what this run created. Its agents must have disconnected. */
export async function deleteSimulation(simulation: Simulation): Promise<void> {
  const { name, id, created } = simulation;
  const all = await listObjects(simulation, clusters);
  await deleteObjects(simulation, {
    ...created,
    clusters: clustersWithPrefix(clientIdPrefix(name, id), all),
  });
}

/** Deletes the objects of all simulations with this name, such as one that was kept. */
export async function deleteSimulationsNamed(
  context: SimulationContext,
  name: string,
): Promise<void> {
  await deleteObjects(context, ownedObjects(name, await listSimulationObjects(context)));
}

async function listSimulationObjects(
  context: Pick<SimulationContext, "hub" | "namespace">,
): Promise<SimulationObjects> {
  return {
    tokens: await listObjects(context, clusterRegistrationTokens),
    helmOps: await listObjects(context, helmOps),
    clusters: await listObjects(context, clusters),
  };
}

async function listObjects<T extends KubeObject>(
  { hub, namespace }: Pick<SimulationContext, "hub" | "namespace">,
  resource: Resource<T>,
): Promise<readonly T[]> {
  const { objects } = await listAll({
    rest: hub,
    resource,
    selection: { namespace },
    transform: dropBulk,
    signal: new AbortController().signal,
  });
  return objects;
}

async function deleteObjects(context: SimulationContext, found: SimulationObjects): Promise<void> {
  const { print } = context;
  await deleteAll(context, clusters, found.clusters);
  print(`${found.clusters.length} clusters deleted`);
  await deleteAll(context, helmOps, found.helmOps);
  if (found.helmOps.length > 0) print(`${found.helmOps.length} helmops deleted`);
  await deleteAll(context, clusterRegistrationTokens, found.tokens);
  for (const { metadata } of found.tokens)
    print(`clusterregistrationtoken/${metadata.name} deleted`);
}

async function deleteAll<T extends KubeObject>(
  { hub, namespace }: SimulationContext,
  resource: Resource<T>,
  objects: readonly T[],
): Promise<void> {
  const queue = objects.values();
  async function deleteNext(): Promise<void> {
    for (const { metadata } of queue) {
      const { name, uid } = metadata;
      try {
        await hub.delete(resource, { namespace, name }, { ...(uid !== undefined && { uid }) });
      } catch (thrown) {
        // Another object has this name now; it does not belong to the simulation.
        if (!isConflict(thrown)) throw thrown;
      }
    }
  }
  await Promise.all(Array.from({ length: maxConcurrentDeletes }, deleteNext));
}
