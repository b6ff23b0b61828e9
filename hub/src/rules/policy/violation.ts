/** What Policies have against what a deployment uses. Pure. */
import { agentNamespace, agentServiceAccount } from "@flotilla/shared/api/names";
import { AppError } from "@flotilla/shared/errors";
import { createPatternBudget, type PatternBudget, type Patterns } from "@flotilla/shared/regex";
import { describeUrl } from "@flotilla/shared/source";
import { hubErrors } from "../../base/index.ts";
import { judgedForms } from "./judged-forms.ts";
import type { MergedPolicy } from "./merge-policies.ts";
import { nameFor } from "./names.ts";
import { provenanceProblem } from "./provenance-problem.ts";
import type { Part, Used, UsedAccount, UsedObject } from "./used.ts";

/** More would not be read. */
const mostShown = 8;

/** The agent's own, as it may be named. */
const agentAccounts: readonly string[] = [
  agentServiceAccount,
  `${agentNamespace}/${agentServiceAccount}`,
];

/**
 * The first violation, in Fleet's order: the ServiceAccount, the Secrets, the repository, the chart. `policies`: one for each
 * namespace whose Policies apply. Each is judged alone: what one of them allows, another one does not have to.
 */
export function violationOf(
  policies: readonly MergedPolicy[],
  used: Used,
  patterns: Patterns,
): AppError | undefined {
  const budget = createPatternBudget(patternsMs);
  for (const policy of policies) {
    if (policy.names.length === 0 && !policy.requireServiceAccount) continue;
    const found =
      accountViolation(policy, used) ??
      objectViolation(policy, used) ??
      sourceViolation(policy, used, { patterns, budget });
    if (found !== undefined) return found;
  }
  return undefined;
}

function accountViolation(policy: MergedPolicy, used: Used): AppError | undefined {
  const { requireServiceAccount, allowedServiceAccounts } = policy;
  const [own, ...ofTargets] = used.accounts.map(({ requested, ...part }) => ({
    ...part,
    requested: accountName(requested, policy),
  }));
  if (own === undefined) return undefined;
  // A target without an account has the whole's; the whole needs none when all its targets have theirs.
  const effective = ofTargets.length === 0 ? [own] : ofTargets;
  const without = effective.filter(({ requested }) => requested === "" && own.requested === "");
  const [missing] = without.length === effective.length ? [own] : without;
  if (requireServiceAccount && without.length > 0 && missing !== undefined) {
    const where = used.kind === "Bundle" ? " on the Bundle" : "";
    return violation(
      `serviceAccount is required by ${requirer(policy)} but is not set${where}${inTarget(missing)}`,
      `set spec.serviceAccount${listed(allowedServiceAccounts, " to one of")}`,
      { policy, used },
    );
  }
  const agents = [own, ...ofTargets].find(({ requested }) => agentAccounts.includes(requested));
  if (requireServiceAccount && agents !== undefined)
    return violation(
      `disallowed serviceAccount ${agents.requested}${inTarget(agents)}`,
      `it is the agent's own, and serviceAccount is required by ${requirer(policy)}; set spec.serviceAccount to another one`,
      { policy, used },
    );
  const wrong = [own, ...ofTargets].find(
    ({ requested }) => !isListed(requested, allowedServiceAccounts),
  );
  return (
    wrong &&
    violation(
      `disallowed serviceAccount ${wrong.requested}${inTarget(wrong)}`,
      `${wrong.requested} is not in the allowed set${listed(allowedServiceAccounts)}`,
      { policy, used },
    )
  );
}

function requirer({ isRequiredByHub }: MergedPolicy): string {
  return isRequiredByHub === true ? "the hub" : "Policy";
}

/** What is sent to a cluster leaves the workspace, whatever for. */
function objectViolation(policy: MergedPolicy, used: Used): AppError | undefined {
  for (const part of used.objects) {
    const { requested } = part;
    if (policy.lendsOnly === true && requested.namespace !== policy.namespace) continue;
    const name = nameFor(requested, policy);
    const allowed = allowedObjects(requested, policy);
    if (!isListed(name, allowed)) {
      const subject =
        requested.field === "helmSecretName"
          ? `disallowed helmSecretName ${name}`
          : `disallowed ${requested.kind} ${name} in ${requested.field}`;
      return violation(
        `${subject}${inTarget(part)}`,
        `${name} is not in the allowed set${listed(allowed)}`,
        { policy, used },
      );
    }
  }
  return undefined;
}

function allowedObjects({ kind, purpose }: UsedObject, policy: MergedPolicy): readonly string[] {
  if (kind === "ConfigMap") return policy.allowedDownstreamConfigMapNames;
  return purpose === "source" ? policy.allowedHelmSecretNames : policy.allowedDownstreamSecretNames;
}

function accountName({ namespace, name }: UsedAccount, policy: MergedPolicy): string {
  return namespace === undefined ? name : nameFor({ namespace, name }, policy);
}

/** What all patterns of all Policies may take for one evaluation, over all charts and addresses; what was answered takes nothing. */
const patternsMs = 100;

function sourceViolation(
  policy: MergedPolicy,
  used: Used,
  { patterns, budget }: { readonly patterns: Patterns; readonly budget: PatternBudget },
): AppError | undefined {
  for (const part of used.charts) {
    const { repo, chart } = part.requested;
    // The address of an archive is its source: without chart patterns it has to match those for repositories.
    const isArchive = repo === "" && chart.includes("://");
    const source = isArchive && policy.allowedChartPatterns.length === 0 ? chart : repo;
    const problem =
      patternViolation("helm repo", source, policy.allowedHelmRepoPatterns, part) ??
      patternViolation("helm chart", chart, policy.allowedChartPatterns, part);
    if (problem !== undefined) return problem;
  }
  for (const { what, address } of used.addresses) {
    const problem = patternViolation(what, address, policy.allowedHelmRepoPatterns, {});
    if (problem !== undefined) return problem;
  }
  const problem = provenanceProblem(policy, used.sources, patternProblem);
  if (problem !== undefined) return violation(problem.subject, problem.why, { policy, used });
  const [withSubmodules] = used.withSubmodules;
  const isLimited = policy.allowedHelmRepoPatterns.length > 0;
  if (withSubmodules === undefined || !isLimited || policy.allowSubmodules) return undefined;
  return violation(
    `disallowed submodules of GitRepository ${describeUrl(withSubmodules)}`,
    "each commit names the addresses that they are fetched from, which may be any, and Policies limit the repositories; set recurseSubmodules to false, or allowSubmodules in a Policy",
    { policy, used },
  );

  function patternViolation(
    what: string,
    requested: string,
    allowed: readonly string[],
    part: Pick<Part<unknown>, "target">,
  ): AppError | undefined {
    const why = patternProblem(requested, allowed);
    const subject = `disallowed ${what} ${shownAddress(requested)}${inTarget(part)}`;
    return why === undefined ? undefined : violation(subject, why, { policy, used });
  }

  /** Why it is not allowed; undefined: it is. */
  function patternProblem(requested: string, allowed: readonly string[]): string | undefined {
    if (isListed(requested, allowed)) return undefined;
    const forms = judgedForms(requested);
    if (forms === undefined)
      return "it has .. in its path, and leads to another place than it names; write it without";
    for (const form of forms) {
      const problem = formProblem(form, allowed);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  function formProblem(requested: string, allowed: readonly string[]): string | undefined {
    let unusable: string | undefined;
    for (const pattern of allowed) {
      const match = patterns.match(pattern, requested, budget);
      if (match.kind === "yes") return undefined;
      if (match.kind === "spent")
        unusable ??=
          "the patterns of the policy take too long together: write fewer or simpler ones";
      if (match.kind === "unusable")
        unusable ??= `policy failed to compile regex ${JSON.stringify(pattern)}: ${match.why}`;
    }
    // What one pattern allows is allowed, whatever is wrong with another one.
    return (
      unusable ?? `${shownAddress(requested)} matches nothing in the allowed set${listed(allowed)}`
    );
  }
}

/** For a namespace whose Policies forbid that namespaces are created, where only the whole Bundle could be changed. */
export function namespaceCreationViolation(policy: MergedPolicy, used: Used): AppError {
  return violation(
    "disallowed creation of namespaces",
    "serviceAccount is required and allowNamespaceCreation is not set, so set createNamespace: false, and create the namespace by other means",
    { policy, used },
  );
}

function violation(
  subject: string,
  why: string,
  { policy, used }: { readonly policy: MergedPolicy; readonly used: Used },
): AppError {
  const { names, namespace, isRequiredByHub } = policy;
  if (names.length === 0 && isRequiredByHub === true)
    return new AppError(
      hubErrors.POLICY_VIOLATION,
      `${subject}: ${why} (value requireServiceAccount of the chart flotilla); what is deployed stays as it is until this is changed`,
    );
  const shown = namespace === used.namespace ? names : names.map((name) => `${namespace}/${name}`);
  const whose = `${names.length === 1 ? "Policy" : "Policies"} ${shortList(shown)}`;
  return new AppError(
    hubErrors.POLICY_VIOLATION,
    `${subject}: ${why} (${whose}); what is deployed stays as it is until this is changed, here or in the Policy`,
  );
}

function shownAddress(address: string): string {
  return address.includes("://") ? describeUrl(address) : address;
}

/** Nothing is not forbidden, and a set that is empty allows everything. */
function isListed(text: string, allowed: readonly string[]): boolean {
  return text === "" || allowed.length === 0 || allowed.includes(text);
}

function inTarget({ target }: Pick<Part<unknown>, "target">): string {
  return target === undefined ? "" : ` in target ${target}`;
}

function listed(texts: readonly string[], lead = ""): string {
  return texts.length === 0 ? "" : `${lead} [${shortList(texts)}]`;
}

function shortList(texts: readonly string[]): string {
  const more = texts.length - mostShown;
  return [...texts.slice(0, mostShown), ...(more > 0 ? [`${more} more`] : [])].join(", ");
}
