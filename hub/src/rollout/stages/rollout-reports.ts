/** What reports of single clusters change in a rollout that promotes, without an evaluation of all its members. It only reads. */
import type { Bundle, BundleDeployment, Cluster, Promotion } from "@flotilla/shared/api";
import type { BundleRollout } from "@flotilla/shared/api/rollout";
import type { ObjectKey } from "@flotilla/shared/kube/objects";
import type { Clock } from "@flotilla/shared/time";
import type { DeploymentSigner } from "../../rules/index.ts";
import { timeOfStep } from "./decisions.ts";
import type { Member } from "./member.ts";
import { MemberNumbers } from "./member-numbers.ts";
import { type MemberSets, memberSetsOf } from "./member-sets.ts";
import {
  type MemberOptions,
  memberReader,
  type SourceOfMember,
  sourceOf,
} from "./member-sources.ts";
import type { PinnedContent } from "./pinned-contents.ts";
import type { StepResult } from "./staged-step.ts";
import { promotionOf } from "./staged-targets.ts";
import type { StepInputs } from "./step-inputs.ts";

/** A cluster whose turn it is. */
export interface NextCluster {
  readonly cluster: Cluster;
  readonly gets: PinnedContent & { readonly promotion: Promotion };
}

/** A cache of one pass, which holds until anything changes but the reports of its clusters. */
export interface RolloutReports {
  /** Whether time alone has changed nothing since the pass. */
  isValid(): boolean;
  /** A cluster has reported, or was promoted. False: all have to be evaluated. */
  move(cluster: ObjectKey): boolean;
  /** Those whose turn it is, to be moved once that is written. Undefined: all have to be evaluated. */
  next(): readonly NextCluster[] | undefined;
}

export interface ReportsInputs {
  readonly bundle: Bundle;
  readonly rollout: BundleRollout;
  /** The step that the pass made, and what came of it. */
  readonly step: StepInputs;
  readonly result: StepResult;
  readonly sources: readonly SourceOfMember[];
  readonly options: MemberOptions;
}

export interface ReportsDeps {
  readonly clusterOf: (key: ObjectKey) => Cluster | undefined;
  /** The deployment of the Bundle in a cluster. */
  readonly deploymentIn: (cluster: Cluster) => BundleDeployment | undefined;
  readonly signer: Pick<DeploymentSigner, "isSignedFor">;
  readonly clock: Pick<Clock, "now">;
}

/** What some members have in common, however many they are. */
type Variant = Pick<SourceOfMember, "content" | "isSuspended">;

/** Undefined: each report needs another pass. */
export function rolloutReports(
  { bundle, rollout, step, result, sources, options }: ReportsInputs,
  { clusterOf, deploymentIn, signer, clock }: ReportsDeps,
): RolloutReports | undefined {
  const made = setsOf(step, result, sources);
  if (made === undefined) return undefined;
  const { sets, variants } = made;
  const read = memberReader(bundle, options);
  const decidedMs = timeOfStep(result.status, 0);
  const now = () => Math.max(clock.now(), decidedMs);

  function memberNow(key: ObjectKey): Member | undefined {
    const cluster = clusterOf(key);
    const variant = variants[sets.variantOf(key) ?? -1];
    if (cluster === undefined || variant === undefined) return undefined;
    const found = deploymentIn(cluster);
    const bundleUid = bundle.metadata.uid;
    return read(sourceOf({ cluster, key, ...variant }, { found, signer, bundleUid }));
  }

  return {
    isValid: () => sets.isValidAt(now()),
    move(key) {
      const member = memberNow(key);
      return member !== undefined && sets.move(member, now());
    },
    next() {
      const nowMs = now();
      const chosen = sets.next(memberNow, nowMs);
      return chosen?.flatMap((member): NextCluster[] => {
        const cluster = clusterOf(member.key);
        const content = variants[sets.variantOf(member.key) ?? -1]?.content;
        if (cluster === undefined || content === undefined) return [];
        const { deploymentId, referencedObjects } = content;
        const promotion = promotionOf({ member }, rollout, nowMs);
        return [{ cluster, gets: { deploymentId, referencedObjects, promotion } }];
      });
    },
  };
}

/** Apart, so that the functions above keep nothing of the pass: with ten thousand clusters that is megabytes. */
function setsOf(
  step: StepInputs,
  result: StepResult,
  sources: readonly SourceOfMember[],
): { readonly sets: MemberSets; readonly variants: readonly Variant[] } | undefined {
  const variants: Variant[] = [];
  const known = { suspended: new Map<string, number>(), running: new Map<string, number>() };
  const ofMembers = sources.map(({ content, isSuspended }) => {
    const ofKind = isSuspended ? known.suspended : known.running;
    const name = content?.deploymentId ?? "";
    const index = ofKind.get(name) ?? variants.length;
    if (index === variants.length) {
      ofKind.set(name, index);
      variants.push({ content: content && contentAlone(content), isSuspended });
    }
    return index;
  });
  const numbers = new MemberNumbers(sources.map(({ cluster }) => cluster.metadata));
  const sets = memberSetsOf(step, result, {
    numbers,
    variantAt: (number) => ofMembers[number] ?? 0,
  });
  return sets && { sets, variants };
}

/** Not the placement that it may be, which has its cluster. */
function contentAlone({ deploymentId, referencedObjects }: PinnedContent): PinnedContent {
  return { deploymentId, referencedObjects };
}
