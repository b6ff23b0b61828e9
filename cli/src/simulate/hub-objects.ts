/** What a simulation has on the hub: made at its start, and taken away at its end. */
import { type Bootstrap, parseBootstrap } from "@flotilla/agent/identity/bootstrap.ts";
import { clusterRegistrationTokens, clusters, helmOps } from "@flotilla/shared/api/resources.ts";
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { secrets } from "@flotilla/shared/kube/core-resources.ts";
import type { KubeObject, Resource } from "@flotilla/shared/kube/object.ts";
import type { KubeRest } from "@flotilla/shared/kube/rest.ts";
import { cliErrors } from "../errors.ts";
import { registrationData } from "../fleet/enroll-clusters.ts";
import { helmOpsOf, simulationLabel } from "./plan.ts";

export interface SimulationPlace {
  readonly hub: KubeRest;
  /** The name of the simulation, which its objects go by. */
  readonly name: string;
  readonly namespace: string;
  /** Tells what was made or deleted, a line each. */
  readonly tell: (line: string) => void;
}

const deletedAtATime = 16;

/** What agents enrol with: the Secret that is named, or that of a token made for this simulation. */
export async function registrationOf(
  { hub, name, namespace, tell }: SimulationPlace,
  tokenSecret: string | undefined,
): Promise<Bootstrap> {
  if (tokenSecret === undefined) {
    const data = await registrationData(hub, namespace, name);
    tell(`clusterregistrationtoken/${name} created`);
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
  { hub, name, namespace, tell }: SimulationPlace,
  count: number,
): Promise<void> {
  for (const helmOp of helmOpsOf(name, count, namespace)) {
    await hub.create(helmOps, helmOp);
    tell(`helmop/${helmOp.metadata.name} created`);
  }
}

/** Takes away what the simulation made, whoever of it was there. The agents must have ended: they would be refused. */
export async function removeSimulation(place: SimulationPlace): Promise<void> {
  const { hub, name, namespace, tell } = place;
  const ofClusters = await deleteLabelled(place, clusters);
  tell(`${ofClusters} clusters deleted`);
  const ofHelmOps = await deleteLabelled(place, helmOps);
  if (ofHelmOps > 0) tell(`${ofHelmOps} helmops deleted`);
  if (await hub.delete(clusterRegistrationTokens, { namespace, name }))
    tell(`clusterregistrationtoken/${name} deleted`);
}

/** Gives how many there were. */
async function deleteLabelled<T extends KubeObject>(
  { hub, name, namespace }: SimulationPlace,
  resource: Resource<T>,
): Promise<number> {
  const labelSelector = `${simulationLabel}=${name}`;
  const { items } = await hub.list(resource, { namespace, labelSelector });
  const waiting = items.values();
  async function deleteInTurn(): Promise<void> {
    for (const { metadata } of waiting)
      await hub.delete(resource, { namespace, name: metadata.name });
  }
  await Promise.all(Array.from({ length: deletedAtATime }, deleteInTurn));
  return items.length;
}
