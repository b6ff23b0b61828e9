/** What follows a failed installation or upgrade: Fleet's retries, or Flux's strategies and remediation. Pure. */
import type { DeploymentContent } from "@flotilla/shared/content";

export type AttemptedAction = "install" | "upgrade";

export type FailurePolicy =
  /** An upgrade, as often as it fails. Absent interval: a backoff. */
  | { readonly kind: "retry"; readonly intervalMs?: number }
  | {
      readonly kind: "remediate";
      readonly by: "rollback" | "uninstall";
      /** How many more attempts follow; negative: without a limit. */
      readonly retries: number;
      /** Whether what the last attempt has left is remediated, too. */
      readonly remediatesLast: boolean;
      readonly ignoresTests: boolean;
    };

/** Flux's default. */
const defaultRetryIntervalSeconds = 300;

export function failurePolicy(
  { actions = {} }: Pick<DeploymentContent, "actions">,
  action: AttemptedAction,
): FailurePolicy {
  const { strategy, remediation } = actions[action] ?? {};
  if (strategy?.name === "RetryOnFailure") {
    const { retryIntervalSeconds = defaultRetryIntervalSeconds } = strategy;
    return { kind: "retry", intervalMs: retryIntervalSeconds * 1_000 };
  }
  if (strategy === undefined && remediation === undefined) return { kind: "retry" };
  const retries = remediation?.retries ?? 0;
  return {
    kind: "remediate",
    by: action === "install" ? "uninstall" : (actions.upgrade?.remediation?.strategy ?? "rollback"),
    retries,
    remediatesLast: remediation?.remediateLastFailure ?? (action === "upgrade" && retries > 0),
    ignoresTests: remediation?.ignoreTestFailures ?? actions.test?.ignoreFailures ?? false,
  };
}

/** The attempts at a content that have failed in a row, and that have changed the release. */
export interface CountedFailures {
  /** The action of the last one. */
  readonly action: AttemptedAction;
  readonly count: number;
  /** Absent: all were of `action`. */
  readonly counts?: Readonly<Record<AttemptedAction, number>> | undefined;
}

/** An upgrade that is remediated by an uninstall is followed by an installation, which has retries of its own. */
export function failuresOf(failed: CountedFailures | undefined, action: AttemptedAction): number {
  if (failed === undefined) return 0;
  return failed.counts?.[action] ?? (failed.action === action ? failed.count : 0);
}

/** `failures`: of this content by the action of the policy, in a row. */
export function isExhausted(policy: FailurePolicy, failures: number): boolean {
  return policy.kind === "remediate" && policy.retries >= 0 && failures > policy.retries;
}
