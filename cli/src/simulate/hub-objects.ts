/**
 * What a simulation has on the hub: made at its start, and taken away at its end. What it did not make itself it neither uses
 * nor deletes, whatever its name or labels.
 */
import { type Bootstrap, parseBootstrap } from "@flotilla/agent/identity/bootstrap.ts";
import type { ClusterRegistrationToken } from "@flotilla/shared/api/cluster-registration-token.ts";
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";
import { registrationSecretType } from "@flotilla/shared/api/names.ts";
import { clusterRegistrationTokens, clusters, helmOps } from "@flotilla/shared/api/resources.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { dropBulk } from "@flotilla/shared/kube/cache/informer.ts";
import { listAll } from "@flotilla/shared/kube/client/list-all.ts";
import type { KubeRest } from "@flotilla/shared/kube/client/rest.ts";
import { isConflict } from "@flotilla/shared/kube/client/status-error.ts";
import { secrets } from "@flotilla/shared/kube/objects/core-resources.ts";
import type { KubeObject, Resource } from "@flotilla/shared/kube/objects/object.ts";
import { cliErrors } from "../errors.ts";
import { tokenData, workspaceMade } from "../fleet/registration.ts";
import { describeFound, type Found, inTheWay, madeUnder, type Wanted } from "./found.ts";
import { clientIdsOf, clustersOf, helmOpsOf, type SimulationRun, tokenOf } from "./plan.ts";

export interface SimulationPlace {
  readonly hub: KubeRest;
  readonly namespace: string;
  /** Tells what was made or deleted, a line each. */
  readonly tell: (line: string) => void;
}

export interface Simulation extends SimulationPlace, SimulationRun {
  /** What the run itself has made so far. */
  readonly made: {
    readonly tokens: ClusterRegistrationToken[];
    readonly helmOps: HelmOp[];
  };
}

const deletedAtATime = 16;

/** Throws where the name is not free: SIMULATION_NAME_TAKEN, SIMULATION_THERE. */
export async function checkName(
  { hub, name, namespace }: Simulation,
  wanted: Wanted,
): Promise<void> {
  const found = await foundIn({ hub, namespace });
  const ofOthers = describeFound(inTheWay(name, wanted, found)) || (await secretInTheWay());
  if (ofOthers !== "")
    throw new AppError(
      cliErrors.SIMULATION_NAME_TAKEN,
      `${namespace} on ${hub.server} has what no simulation called ${name} made: ${ofOthers}. It is left as it is, and nothing was made; choose another --name`,
    );
  const there = describeFound(madeUnder(name, found));
  if (there !== "")
    throw new AppError(
      cliErrors.SIMULATION_THERE,
      `a simulation called ${name} is in ${namespace} on ${hub.server} already, with ${there}: it still runs, or was kept. Nothing was made or deleted; remove it with flotilla simulate --remove ${name} -n ${namespace}, or choose another --name`,
    );

  /** The hub makes the token's Secret under its name, and leaves another one as it is. */
  async function secretInTheWay(): Promise<string> {
    if (wanted.tokenSecret !== undefined) return "";
    const secret = await hub.get(secrets, { namespace, name });
    return secret === undefined || secret.type === registrationSecretType ? "" : `Secret ${name}`;
  }
}

/** What agents enrol with: the Secret that is named, or that of a token made for this simulation. */
export async function registrationOf(
  { hub, name, namespace, tell, made }: Simulation,
  tokenSecret: string | undefined,
): Promise<Bootstrap> {
  if (tokenSecret === undefined) {
    await workspaceMade(hub, namespace);
    made.tokens.push(await hub.create(clusterRegistrationTokens, tokenOf(name, namespace)));
    tell(`clusterregistrationtoken/${name} created`);
    const data = await tokenData(hub, { namespace, name });
    return parseBootstrap({ metadata: { namespace, name }, data });
  }
  const secret = await hub.get(secrets, { namespace, name: tokenSecret });
  if (secret !== undefined) return parseBootstrap(secret);
  throw new AppError(
    cliErrors.TOKEN_SECRET_NOT_FOUND,
    `there is no Secret ${namespace}/${tokenSecret} on ${hub.server} to enrol with`,
  );
}

export async function createHelmOps(
  { hub, name, namespace, tell, made }: Simulation,
  count: number,
): Promise<void> {
  for (const helmOp of helmOpsOf(name, count, namespace)) {
    made.helmOps.push(await hub.create(helmOps, helmOp));
    tell(`helmop/${helmOp.metadata.name} created`);
  }
}

/** Takes away what this run made. The agents must have ended: they would be refused. */
export async function removeSimulation(simulation: Simulation): Promise<void> {
  const { name, id, made } = simulation;
  const all = await everyOne(simulation, clusters);
  await deleteFound(simulation, { ...made, clusters: clustersOf(clientIdsOf(name, id), all) });
}

/** Takes away what all simulations of this name made, such as one that was kept. */
export async function removeKept(place: SimulationPlace, name: string): Promise<void> {
  await deleteFound(place, madeUnder(name, await foundIn(place)));
}

async function foundIn(place: Pick<SimulationPlace, "hub" | "namespace">): Promise<Found> {
  return {
    tokens: await everyOne(place, clusterRegistrationTokens),
    helmOps: await everyOne(place, helmOps),
    clusters: await everyOne(place, clusters),
  };
}

async function everyOne<T extends KubeObject>(
  { hub, namespace }: Pick<SimulationPlace, "hub" | "namespace">,
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

async function deleteFound(place: SimulationPlace, found: Found): Promise<void> {
  const { tell } = place;
  await deleteAll(place, clusters, found.clusters);
  tell(`${found.clusters.length} clusters deleted`);
  await deleteAll(place, helmOps, found.helmOps);
  if (found.helmOps.length > 0) tell(`${found.helmOps.length} helmops deleted`);
  await deleteAll(place, clusterRegistrationTokens, found.tokens);
  for (const { metadata } of found.tokens)
    tell(`clusterregistrationtoken/${metadata.name} deleted`);
}

async function deleteAll<T extends KubeObject>(
  { hub, namespace }: SimulationPlace,
  resource: Resource<T>,
  objects: readonly T[],
): Promise<void> {
  const waiting = objects.values();
  async function deleteInTurn(): Promise<void> {
    for (const { metadata } of waiting) {
      const { name, uid } = metadata;
      try {
        await hub.delete(resource, { namespace, name }, { ...(uid !== undefined && { uid }) });
      } catch (thrown) {
        // Of that name there is another one by now, which is not the simulation's.
        if (!isConflict(thrown)) throw thrown;
      }
    }
  }
  await Promise.all(Array.from({ length: deletedAtATime }, deleteInTurn));
}
