/** The commit statuses of Git hosts: what github, gitlab and gitea have in common. */

import { appDefinition, isAppKind } from "@flotilla/shared/api/apps";
import { fluxReason } from "@flotilla/shared/flux/reasons";
import { type FluxEvent, reasonWords } from "./event.ts";
import {
  type BuildDelivery,
  type Delivered,
  type OutgoingRequest,
  type ProviderSettings,
  skipped,
} from "./provider-contract.ts";
import { rolloutReasons } from "./rollout-gate-events.ts";

export interface CommitStatus {
  /** The commit, 40 hex digits. */
  readonly sha: string;
  /** Distinguishes the statuses of a commit. */
  readonly id: string;
  readonly description: string;
  readonly state: "success" | "failure" | "pending";
}

export interface StatusHost {
  /** Whether it takes events of actions in progress. */
  readonly takesProgress: boolean;
  /** Undefined: the address names no repository. */
  readonly requests: (
    status: CommitStatus,
    settings: ProviderSettings,
  ) =>
    | { readonly list: OutgoingRequest; readonly set: OutgoingRequest; readonly isSame: IsSame }
    | undefined;
}

/** Whether the statuses of a commit, as listed, have this one already. */
type IsSame = (statuses: readonly Readonly<Record<string, unknown>>[]) => boolean;

export function commitStatus(host: StatusHost): BuildDelivery {
  return (event, settings) => {
    if (!isForCommit(event)) return skipped;
    if (event.reason === fluxReason.progressing && !host.takesProgress) return skipped;
    const sha = shaOf(event);
    if (sha === undefined) return impossible("the event has no revision that is a Git commit");
    const requests = host.requests(statusOf(event, sha, settings), settings);
    if (requests === undefined)
      return impossible("the address of the Provider is not the address of a repository");
    const { list, set, isSame } = requests;
    return {
      kind: "send",
      before: { request: list, isSaid: (body) => isSame(listOf(body)) },
      requests: [set],
    };
  };
}

/** The owner and the name of a repository, from the path of its address; undefined for any other. */
export function repositoryPath({ pathname }: URL): readonly string[] | undefined {
  const parts = pathname
    .replace(/\.git$/, "")
    .split("/")
    .filter((part) => part !== "");
  return parts.length < 2 ? undefined : parts;
}

/**
 * As in Flux, other successes are no statuses: a chart's version is not one of a commit. The version of a release whose chart is from Git
 * is one: the status would otherwise stay a failure. What a staged rollout does is not about one commit: the next one waits meanwhile.
 */
function isForCommit({ involvedObject, severity, reason, metadata = {} }: FluxEvent): boolean {
  const { kind } = involvedObject;
  if (rolloutReasons.has(reason)) return false;
  const isOfCommit =
    isAppKind(kind) && appDefinition(kind).setsCommitStatus && successes.has(reason);
  return (
    severity === "error" ||
    metadata["commit"] !== undefined ||
    (isOfCommit && metadata["originRevision"] !== undefined) ||
    metadata["commit_status"] === "update"
  );
}

/** Not a rollback, which is a success of another commit. */
const successes: ReadonlySet<string> = new Set([
  fluxReason.installSucceeded,
  fluxReason.upgradeSucceeded,
  fluxReason.testSucceeded,
  fluxReason.driftCorrected,
]);

function shaOf({ metadata = {} }: FluxEvent): string | undefined {
  const revision = metadata["commit"] ?? metadata["originRevision"] ?? metadata["revision"] ?? "";
  return /(?:^|[@:/])([0-9a-f]{40})$/.exec(revision)?.[1];
}

function statusOf(event: FluxEvent, sha: string, { uid }: ProviderSettings): CommitStatus {
  const { kind, name } = event.involvedObject;
  const [block = ""] = uid.split("-");
  const state = event.severity === "error" ? "failure" : "success";
  return {
    sha,
    id: `${kind}/${name}/${block}`.toLowerCase(),
    description: reasonWords(event.reason),
    state: event.reason === fluxReason.progressing ? "pending" : state,
  };
}

function listOf(body: string): readonly Readonly<Record<string, unknown>>[] {
  try {
    const parsed: unknown = JSON.parse(body);
    return Array.isArray(parsed)
      ? parsed.filter((each) => typeof each === "object" && each !== null)
      : [];
  } catch {
    // It is posted in any case.
    return [];
  }
}

function impossible(why: string): Delivered {
  return { kind: "impossible", why };
}
