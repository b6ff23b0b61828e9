/** Answers requests of users about one release, by reading the cluster as the service account of the deployment. */

import type { DeploymentKey } from "@flotilla/proto";
import { unpackContent } from "@flotilla/shared/content";
import { AppError, unreachable } from "@flotilla/shared/errors";
import type { Assignments } from "../assignment/index.ts";
import { agentErrors } from "../errors/index.ts";
import type { Releases } from "../helm/index.ts";
import type { ImpersonatedClients } from "../impersonation/index.ts";
import type { Inventory } from "../inventory/index.ts";
import type { ReadRecords } from "../record/index.ts";
import { writeDiff } from "./diff.ts";
import { writeEvents } from "./events.ts";
import { writeHistory } from "./history.ts";
import { writeLogs } from "./logs.ts";
import type { AnswerRequest } from "./open-requests.ts";
import type { FindResource, RequestedRelease } from "./requested-release.ts";
import { writeResources } from "./resources.ts";

export interface AnswersDeps {
  readonly assignments: Pick<Assignments, "get">;
  readonly inventory: Pick<Inventory, "releasesOf">;
  readonly clients: Pick<ImpersonatedClients, "clientFor">;
  readonly releases: Pick<Releases, "history">;
  readonly records: Pick<ReadRecords, "stored" | "manifest" | "wholeObjects">;
  readonly findResource: FindResource;
}

export function createAnswers(deps: AnswersDeps): AnswerRequest {
  /** Throws REQUEST_FAILED, SERVICE_ACCOUNT_MISSING, SERVICE_ACCOUNT_REQUIRED and SERVICE_ACCOUNT_DENIED. */
  async function find({ name, uid }: DeploymentKey): Promise<RequestedRelease> {
    const assignment = deps.assignments.get(name);
    if (assignment === undefined || assignment.owner.uid !== uid)
      throw failed(`the agent does not have deployment ${name}, or has another one of that name`);
    const installed = deps.inventory.releasesOf(name).findLast((release) => release.uid === uid);
    if (installed === undefined)
      throw failed(`the agent has not installed a release for deployment ${name}`);
    const { namespace, name: release } = installed;
    const { deploymentId, content: bytes } = assignment;
    const account =
      bytes.length === 0
        ? installed.serviceAccount
        : (await unpackContent({ deploymentId, bytes })).serviceAccount;
    const { rest, subject } = await deps.clients.clientFor(account);
    return { namespace, name: release, rest, subject };
  }

  return async function answer({ deployment, body }, sink) {
    const release = await find(deployment);
    switch (body.kind) {
      case "history":
        return await writeHistory(deps, release, sink);
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

function failed(message: string): AppError {
  return new AppError(agentErrors.REQUEST_FAILED, message);
}
