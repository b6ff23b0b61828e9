/**
 * What last failed, was tested and drifted in the clusters of a Bundle, as its status stores it: an event is due when it is another
 * failure, test or drift. One deployment stands for all, the same one as long as the condition holds of it: clusters that join or
 * leave change nothing about what the others have. Pure.
 */

import { isDeepStrictEqual } from "node:util";
import type { BundleDeployment, LastResults } from "@flotilla/shared/api";
import { findCondition } from "@flotilla/shared/conditions";
import { fluxType } from "@flotilla/shared/flux/reasons";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import { cutText } from "@flotilla/shared/text";
import type { BundleAggregate } from "./bundle-aggregate.ts";
import { objectText } from "./object-text.ts";
import { decidingStatus, releaseConditionKey } from "./release-conditions.ts";
import type { SortedKeys } from "./sorted-keys.ts";

/** Deployments among which one that can stand for all is looked for. */
const mostLookedAt = 100;

const messageChars = 512;

export interface LastResultsInput {
  readonly aggregate: Pick<BundleAggregate, "conditions" | "deployments">;
  readonly known: LastResults | undefined;
  readonly lookUp: (key: ObjectKey) => BundleDeployment | undefined;
  /** The cluster of a deployment. */
  readonly nameOf: (deployment: BundleDeployment) => string;
  readonly isOffline: (deployment: BundleDeployment) => boolean;
}

/** Undefined: nothing fails, has tests or has drifted. */
export function lastResults(input: LastResultsInput): LastResults | undefined {
  const { aggregate, known, nameOf } = input;
  // By Helm, or by a step before it.
  const failed =
    standing(input, known?.failure, keysOf(aggregate, fluxType.released, "False"), hasFailed) ??
    standing(input, undefined, aggregate.deployments.get("ErrApplied"), hasFailed);
  const tested = ofCondition(input, known?.test, fluxType.testSuccess);
  const drifted = ofCondition(input, known?.drift, fluxType.drifted);
  const [record] = drifted?.deployment.status?.driftHistory ?? [];
  const results: LastResults = {
    ...(failed !== undefined && {
      failure: {
        ...idOf(failed),
        cluster: nameOf(failed.deployment),
        content: failed.deployment.status?.attemptedDeploymentID ?? "",
        message: cutText(causeOf(failed.deployment), messageChars),
      },
    }),
    ...(tested !== undefined && {
      test: { ...idOf(tested), release: tested.deployment.status?.release ?? "" },
    }),
    ...(drifted !== undefined &&
      record !== undefined && {
        drift: {
          ...idOf(drifted),
          object: objectText(record),
          result: record.result ?? "",
          ...(record.fields !== undefined && record.fields !== null && { fields: record.fields }),
        },
      }),
  };
  return Object.keys(results).length === 0 ? undefined : results;
}

interface Standing {
  readonly key: ObjectKey;
  readonly deployment: BundleDeployment;
}

function ofCondition(
  input: LastResultsInput,
  known: { readonly deployment: string; readonly uid: string } | undefined,
  type: typeof fluxType.testSuccess | typeof fluxType.drifted,
): Standing | undefined {
  const status = decidingStatus(type, input.aggregate);
  if (status === undefined) return undefined;
  return standing(input, known, keysOf(input.aggregate, type, status), (deployment) => {
    return findCondition(deployment.status?.conditions, type)?.status === status;
  });
}

/** The known one as long as it is one of them; else the first whose cluster is connected. */
function standing(
  { lookUp, isOffline }: LastResultsInput,
  known: { readonly deployment: string; readonly uid: string } | undefined,
  keys: SortedKeys | undefined,
  isOne: (deployment: BundleDeployment) => boolean,
): Standing | undefined {
  const current = known && lookUp(known.deployment);
  if (
    known !== undefined &&
    current?.metadata.uid === known.uid &&
    isOne(current) &&
    !isOffline(current)
  )
    return { key: known.deployment, deployment: current };
  for (const key of keys?.first(mostLookedAt) ?? []) {
    const deployment = lookUp(key);
    if (deployment !== undefined && !isOffline(deployment)) return { key, deployment };
  }
  return undefined;
}

function keysOf(
  { conditions }: Pick<BundleAggregate, "conditions">,
  type: string,
  status: string,
): SortedKeys | undefined {
  return conditions.get(releaseConditionKey(type, status));
}

function hasFailed({ status }: BundleDeployment): boolean {
  return [fluxType.released, "Deployed"].some(
    (type) => findCondition(status?.conditions, type)?.status === "False",
  );
}

/** What Helm, or a step before it, has failed by, without the time of the next attempt. */
function causeOf({ status }: BundleDeployment): string {
  if (findCondition(status?.conditions, fluxType.released)?.status !== "False" && status?.cause)
    return status.cause;
  const found = [fluxType.released, "Deployed"]
    .map((type) => findCondition(status?.conditions, type))
    .find((condition) => condition?.status === "False");
  return found?.message ?? "";
}

function idOf({ key, deployment }: Standing) {
  return { deployment: key, uid: deployment.metadata.uid ?? "" };
}

/** Whether it is a failure of another attempt than the one before. A failure of another deployment may be as old. */
export function isOtherFailure(
  before: LastResults["failure"],
  after: LastResults["failure"],
): boolean {
  return before?.uid === after?.uid && before?.content !== after?.content;
}

export function isOtherTest(before: LastResults["test"], after: LastResults["test"]): boolean {
  return before?.uid === after?.uid && before?.release !== after?.release;
}

export function isOtherDrift(before: LastResults["drift"], after: LastResults["drift"]): boolean {
  return before !== undefined && !isDeepStrictEqual(before, after);
}
