/** What a Policy has against a HelmOp, or against a Bundle read as one. Pure. */
import type { HelmOp } from "@flotilla/shared/api";
import { agentNamespace, agentServiceAccount, targetName } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import type { Patterns } from "@flotilla/shared/regex";
import { describeUrl } from "@flotilla/shared/source";
import { hubErrors } from "../errors/index.ts";
import { type ChartReference, chartReferenceOf, mayReferenceChart } from "../frontend/index.ts";
import type { MergedPolicy } from "./merge-policies.ts";

/** More would not be read. */
const mostShown = 8;

/** The agent's own, as it may be named. */
const agentAccounts: readonly string[] = [
  agentServiceAccount,
  `${agentNamespace}/${agentServiceAccount}`,
];

/** The first violation, in Fleet's order: the ServiceAccount, the Secrets, the repository, the chart. */
export function violationOf(
  policy: MergedPolicy,
  helmOp: HelmOp,
  patterns: Patterns,
): AppError | undefined {
  if (policy.names.length === 0) return undefined;
  return (
    accountViolation(policy, helmOp) ??
    secretViolation(policy, helmOp) ??
    copyViolation(policy, helmOp) ??
    sourceViolation(policy, helmOp, patterns)
  );
}

/** What is requested, and by which target; the object itself has no target name. */
interface Part<T> {
  readonly requested: T;
  readonly target?: string;
}

type Copy = NonNullable<HelmOp["spec"]["downstreamResources"]>[number];

function accountViolation(policy: MergedPolicy, helmOp: HelmOp): AppError | undefined {
  const { requireServiceAccount, allowedServiceAccounts } = policy;
  const [own, ...ofTargets] = accountsOf(helmOp);
  // A target without an account has that of the whole; the whole needs none when all its targets have theirs.
  const effective = ofTargets.length === 0 ? [own] : ofTargets;
  const without = effective.filter(({ requested }) => requested === "" && own.requested === "");
  const [missing] = without.length === effective.length ? [own] : without;
  if (requireServiceAccount && without.length > 0 && missing !== undefined) {
    const where = helmOp.kind === "Bundle" ? " on the Bundle" : "";
    return violation(
      `serviceAccount is required by Policy but is not set${where}${inTarget(missing)}`,
      `set spec.serviceAccount${listed(allowedServiceAccounts, " to one of")}`,
      policy,
    );
  }
  const agents = [own, ...ofTargets].find(({ requested }) => agentAccounts.includes(requested));
  if (requireServiceAccount && agents !== undefined)
    return violation(
      `disallowed serviceAccount ${agents.requested}${inTarget(agents)}`,
      `it is the agent's own, and serviceAccount is required by Policy; set spec.serviceAccount to another one`,
      policy,
    );
  const wrong = [own, ...ofTargets].find(
    ({ requested }) => !isListed(requested, allowedServiceAccounts),
  );
  return (
    wrong &&
    violation(
      `disallowed serviceAccount ${wrong.requested}${inTarget(wrong)}`,
      `${wrong.requested} is not in the allowed set${listed(allowedServiceAccounts)}`,
      policy,
    )
  );
}

function secretViolation(policy: MergedPolicy, { spec }: HelmOp): AppError | undefined {
  const secret = spec.helmSecretName ?? "";
  if (isListed(secret, policy.allowedHelmSecretNames)) return undefined;
  return violation(
    `disallowed helmSecretName ${secret}`,
    `${secret} is not in the allowed set${listed(policy.allowedHelmSecretNames)}`,
    policy,
  );
}

/** What is copied to a cluster leaves the workspace like the Secret of the chart's source. */
function copyViolation(policy: MergedPolicy, helmOp: HelmOp): AppError | undefined {
  for (const part of copiesOf(helmOp)) {
    const { kind = "", name = "" } = part.requested;
    const allowed =
      kind === "Secret"
        ? policy.allowedDownstreamSecretNames
        : policy.allowedDownstreamConfigMapNames;
    if (!isListed(name, allowed))
      return violation(
        `disallowed ${kind} ${name} in downstreamResources${inTarget(part)}`,
        `${name} is not in the allowed set${listed(allowed)}`,
        policy,
      );
  }
  return undefined;
}

function sourceViolation(
  policy: MergedPolicy,
  helmOp: HelmOp,
  patterns: Patterns,
): AppError | undefined {
  for (const part of chartsOf(helmOp)) {
    const { repo, chart } = part.requested;
    // The address of an archive is its source: without chart patterns it has to match those for repositories.
    const isArchive = repo === "" && chart.includes("://");
    const source = isArchive && policy.allowedChartPatterns.length === 0 ? chart : repo;
    const problem =
      patternViolation("helm repo", source, policy.allowedHelmRepoPatterns, part) ??
      patternViolation("helm chart", chart, policy.allowedChartPatterns, part);
    if (problem !== undefined) return problem;
  }
  return undefined;

  function patternViolation(
    what: string,
    requested: string,
    allowed: readonly string[],
    part: Part<ChartReference>,
  ): AppError | undefined {
    if (isListed(requested, allowed)) return undefined;
    const shown = requested.includes("://") ? describeUrl(requested) : requested;
    const subject = `disallowed ${what} ${shown}${inTarget(part)}`;
    let unusable: string | undefined;
    for (const pattern of allowed) {
      const match = patterns.match(pattern, requested);
      if (match.kind === "yes") return undefined;
      if (match.kind === "unusable")
        unusable ??= `policy failed to compile regex ${JSON.stringify(pattern)}: ${match.why}`;
    }
    // What one pattern allows is allowed, whatever is wrong with another one.
    const why = unusable ?? `${shown} matches nothing in the allowed set${listed(allowed)}`;
    return violation(subject, why, policy);
  }
}

function violation(subject: string, why: string, { names }: MergedPolicy): AppError {
  const whose = `${names.length === 1 ? "Policy" : "Policies"} ${shortList(names)}`;
  return new AppError(
    hubErrors.POLICY_VIOLATION,
    `${subject}: ${why} (${whose}); what is deployed stays as it is until this is changed, here or in the Policy`,
  );
}

/** Nothing is not forbidden, and a set that is empty allows everything. */
function isListed(text: string, allowed: readonly string[]): boolean {
  return text === "" || allowed.length === 0 || allowed.includes(text);
}

function copiesOf({ spec }: HelmOp): readonly Part<Copy>[] {
  const ofTargets = (spec.targets ?? []).flatMap((target, index) =>
    target.doNotDeploy === true
      ? []
      : (target.downstreamResources ?? []).map((requested) => ({
          requested,
          target: target.name || targetName(index),
        })),
  );
  return [...(spec.downstreamResources ?? []).map((requested) => ({ requested })), ...ofTargets];
}

function accountsOf({ spec }: HelmOp): readonly [Part<string>, ...Part<string>[]] {
  const targets = (spec.targets ?? []).flatMap((target, index) =>
    target.doNotDeploy === true
      ? []
      : [{ requested: target.serviceAccount ?? "", target: target.name || targetName(index) }],
  );
  return [{ requested: spec.serviceAccount ?? "" }, ...targets];
}

function chartsOf({ spec }: HelmOp): readonly Part<ChartReference>[] {
  const own = chartReferenceOf(spec.helm ?? {});
  const targets = (spec.targets ?? []).flatMap((target, index) =>
    mayReferenceChart(target)
      ? [
          {
            requested: chartReferenceOf(target.helm ?? {}, own),
            target: target.name || targetName(index),
          },
        ]
      : [],
  );
  return [{ requested: own }, ...targets];
}

function inTarget({ target }: Part<unknown>): string {
  return target === undefined ? "" : ` in target ${target}`;
}

function listed(texts: readonly string[], lead = ""): string {
  return texts.length === 0 ? "" : `${lead} [${shortList(texts)}]`;
}

function shortList(texts: readonly string[]): string {
  const more = texts.length - mostShown;
  return [...texts.slice(0, mostShown), ...(more > 0 ? [`${more} more`] : [])].join(", ");
}
