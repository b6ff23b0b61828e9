/** What a staged rollout is made from, besides its members: numbers, the revision before, tests, the rollouts of other apps. Pure. */
import type { Bundle, BundleDeployment, StageGate } from "@flotilla/shared/api";
import type { BundleRollout } from "@flotilla/shared/api/rollout";
import { AppError } from "@flotilla/shared/errors";
import { hubErrors } from "../../base/index.ts";
import { maxPinnedBytes } from "../../rules/index.ts";
import type { Revision } from "./revision.ts";

/** The revision of the rollout before it, as it was when it started. */
export function stableOf(
  rollouts: readonly BundleRollout[],
  rollout: BundleRollout,
): string | undefined {
  const before = rollouts.filter(({ spec }) => spec.number < rollout.spec.number).at(-1);
  const stable =
    before?.status?.phase === "Completed" ? before.spec.revision : before?.status?.stable;
  return stable === rollout.spec.revision ? undefined : stable;
}

/** A number that no rollout of the Bundle has, nor a cluster that an earlier one promoted. */
export function nextNumber(
  all: readonly BundleRollout[],
  { metadata }: Bundle,
  rollouts: readonly BundleRollout[],
  existing: readonly BundleDeployment[],
): number {
  const prefix = `${metadata.name}-`;
  const numberIn = (name: string) =>
    name.startsWith(prefix) && /^[1-9]\d{0,8}$/.test(name.slice(prefix.length))
      ? Number(name.slice(prefix.length))
      : 0;
  const names = [
    ...all.filter((each) => each.metadata.namespace === metadata.namespace).map(nameIn),
    ...rollouts.map(nameIn),
    ...existing.map(({ spec }) => spec.promotion?.rollout ?? ""),
  ];
  return 1 + Math.max(0, ...names.map(numberIn));
}

function nameIn({ metadata }: BundleRollout): string {
  return metadata.name;
}

/** What cannot be stored cannot be pinned. */
export function refuseLarge({ targets }: Revision): void {
  const bytes = Buffer.byteLength(JSON.stringify(targets));
  if (bytes <= maxPinnedBytes) return;
  throw new AppError(
    hubErrors.BUNDLE_NOT_DEPLOYABLE,
    `spec.targets have ${bytes} bytes of criteria and references, more than the ${maxPinnedBytes} that a staged rollout can pin: select several clusters with one target, or divide it into several objects`,
  );
}

/** Whether the newest rollout of an app has completed a stage, or all. `rollouts`: what the hub made in the namespace. */
export function isRolledOut(
  rollouts: readonly BundleRollout[],
  { kind, name, stage }: NonNullable<StageGate["rollout"]>,
): boolean {
  const status = rollouts
    .filter(({ spec }) => spec.app.kind === kind && spec.app.name === name)
    .toSorted((a, b) => a.spec.number - b.spec.number)
    .at(-1)?.status;
  if (status?.phase === "Completed") return true;
  return (
    Boolean(stage) &&
    status?.stages?.some((each) => each.name === stage && each.phase === "Completed") === true
  );
}
