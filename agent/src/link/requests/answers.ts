/** Answers requests of users about one release, by reading the cluster as the service account of the deployment. */

import type { DeploymentKey } from "@flotilla/proto";
import { type DeploymentContent, unpackContent } from "@flotilla/shared/content";
import { AppError, unreachable } from "@flotilla/shared/errors";
import { agentErrors } from "../../base/errors/index.ts";
import type { ImpersonatedClient, ImpersonatedClients } from "../../base/index.ts";
import type { ReadRecords, ReleaseKey, Releases } from "../../helm/index.ts";
import type { InputCollector } from "../../inputs/index.ts";
import type {
  Attempts,
  Inventory,
  InventoryAttempt,
  ReleaseAssignments,
} from "../../state/index.ts";
import { writeDiff } from "./diff.ts";
import { writeEvents } from "./events.ts";
import { writeHistory } from "./history.ts";
import { writeLogs } from "./logs.ts";
import type { AnswerRequest } from "./open-requests.ts";
import { type PlanDeps, writePlan } from "./plan.ts";
import type { FindResource, RequestedRelease } from "./requested-release.ts";
import { writeResources } from "./resources.ts";
import { writeValues } from "./values.ts";

export interface AnswersDeps extends PlanDeps {
  readonly assigned: Pick<ReleaseAssignments, "of">;
  readonly inventory: Pick<Inventory, "releasesOf" | "revisionOf" | "knows">;
  readonly attempts: Pick<Attempts, "attemptOf">;
  readonly clients: Pick<ImpersonatedClients, "clientFor">;
  readonly releases: Pick<Releases, "history">;
  readonly records: Pick<ReadRecords, "stored" | "manifest" | "wholeObjects" | "chartValues">;
  readonly inputs: Pick<InputCollector, "layers">;
  readonly findResource: FindResource;
}

interface Found {
  /** Undefined: it is being withdrawn. */
  readonly content: DeploymentContent | undefined;
  readonly client: ImpersonatedClient;
  /** Undefined: nothing is installed yet. */
  readonly release: RequestedRelease | undefined;
}

export function createAnswers(deps: AnswersDeps): AnswerRequest {
  /** Throws REQUEST_FAILED, SERVICE_ACCOUNT_MISSING, SERVICE_ACCOUNT_REQUIRED and SERVICE_ACCOUNT_DENIED. */
  async function find({ name, uid }: DeploymentKey): Promise<Found> {
    const [assignment, ...others] = deps.assigned.of(name);
    if (assignment === undefined || assignment.owner.uid !== uid)
      throw failed(`the agent does not have deployment ${name}, or has another one of that name`);
    if (others.length > 0)
      throw failed(`deployment ${name} has several releases, and the request names none of them`);
    const { id } = assignment.owner;
    const installed = deps.inventory.releasesOf(id).findLast((release) => release.uid === uid);
    const { deploymentId, content: bytes } = assignment;
    // The inventory has the account of a deployment that is withdrawn.
    const content = bytes.length === 0 ? undefined : await unpackContent({ deploymentId, bytes });
    const client = await deps.clients.clientFor(
      content === undefined ? installed?.serviceAccount : content.serviceAccount,
    );
    const { rest, subject } = client;
    const attempt = deps.inventory.knows({ id, uid }) ? deps.attempts.attemptOf(id) : undefined;
    // A release of which no run has ended yet, or that was uninstalled because it has failed.
    const place = installed ?? (attempt && { ...attempt, name: attempt.release });
    const release = place && {
      namespace: place.namespace,
      name: place.name,
      rest,
      subject,
      ...(installed !== undefined && { known: installed.revisions }),
      ...(isAttemptOf(attempt, place) && { attempt }),
    };
    return { content, client, release };
  }

  /** Undefined: what is secret in the values cannot be read now. */
  async function redactionOf(
    content: DeploymentContent | undefined,
    client: ImpersonatedClient,
    signal: AbortSignal,
  ): Promise<((text: string) => string) | undefined> {
    if (content === undefined) return undefined;
    try {
      return (await deps.inputs.layers(content, { client, signal })).redact;
    } catch {
      signal.throwIfAborted();
      return undefined;
    }
  }

  return async function answer({ deployment, body }, sink) {
    // A plan can also be requested for a deployment that is not assigned yet.
    if (body.kind === "plan") return await writePlan(deps, deployment, body, sink);
    const { content, client, release } = await find(deployment);
    if (body.kind === "values") {
      if (content === undefined)
        throw failed(
          `deployment ${deployment.name} is being withdrawn, and has no values any more`,
        );
      return await writeValues(deps, { content, client, release, options: body }, sink);
    }
    if (release === undefined)
      throw failed(`the agent has not installed a release for deployment ${deployment.name}`);
    switch (body.kind) {
      case "history":
        return await writeHistory(
          deps,
          { ...release, redact: await redactionOf(content, client, sink.signal) },
          sink,
        );
      case "log":
        return await writeLogs(deps, release, body, sink);
      case "diff":
        return await writeDiff(deps, release, sink);
      case "resources":
        return await writeResources(deps, release, sink);
      case "events":
        return await writeEvents(deps, release, sink);
      default:
        return unreachable(body);
    }
  };
}

function isAttemptOf(
  attempt: InventoryAttempt | undefined,
  { namespace, name }: ReleaseKey,
): attempt is InventoryAttempt {
  return attempt?.namespace === namespace && attempt.release === name;
}

function failed(message: string): AppError {
  return new AppError(agentErrors.REQUEST_FAILED, message);
}
