/**
 * What a Policy has against how the sources of a chart were resolved: as which chart, at which address, by which references, and
 * verified with whose keys. Pure.
 */
import { describeUrl } from "@flotilla/shared/source";
import type { MergedPolicy } from "./merge-policies.ts";
import { nameFor } from "./names.ts";
import type { UsedSource } from "./used.ts";

export interface ProvenanceProblem {
  readonly subject: string;
  readonly why: string;
}

type Rules = Pick<
  MergedPolicy,
  | "namespace"
  | "allowedHelmRepoPatterns"
  | "allowedChartPatterns"
  | "allowedGitRefs"
  | "requireVerification"
  | "allowedHelmSecretNames"
>;

/** Why a text is in no allowed set; undefined: it is in it, or everything is allowed. */
type ListProblem = (text: string, allowed: readonly string[]) => string | undefined;

/** An artifact without it is read again by itself, but a chart that is not made again keeps what it has. */
const notKnown =
  "an earlier version resolved it, or for another commit; its source is read again, and a chart that is kept for its version is made again when its version or its HelmChart changes";

/** The first problem of all sources. */
export function provenanceProblem(
  policy: Rules,
  sources: readonly UsedSource[],
  listProblem: ListProblem,
): ProvenanceProblem | undefined {
  for (const source of sources) {
    const problem =
      placeProblem(policy, source, listProblem) ??
      referenceProblem(policy, source, listProblem) ??
      signatureProblem(policy, source);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function placeProblem(
  { allowedHelmRepoPatterns, allowedChartPatterns }: Rules,
  source: UsedSource,
  listProblem: ListProblem,
): ProvenanceProblem | undefined {
  const { what, found } = source;
  if (found === undefined) return undefined;
  const places = [
    {
      what,
      place: found.repository,
      allowed: allowedHelmRepoPatterns,
      missing: `${what} of the chart`,
      unknown: "Policies limit the repositories, and which one has this chart is not known",
    },
    {
      what: "helm chart",
      place: found.chart,
      allowed: allowedChartPatterns,
      missing: "name of the chart",
      unknown: "Policies limit the charts, and what its source calls this one is not known",
    },
  ];
  for (const { what: whose, place, allowed, missing, unknown } of places) {
    if (allowed.length === 0) continue;
    if (place === undefined)
      return { subject: `unknown ${missing}`, why: `${unknown}: ${notKnown}` };
    const why = listProblem(place, allowed);
    if (why === undefined) continue;
    return { subject: `disallowed ${whose} ${shown(place)}, where the chart was found`, why };
  }
  return undefined;
}

function referenceProblem(
  { allowedGitRefs }: Rules,
  source: UsedSource,
  listProblem: ListProblem,
): ProvenanceProblem | undefined {
  if (allowedGitRefs.length === 0 || source.kind !== "git") return undefined;
  const ref = source.resolved?.ref;
  if (ref === undefined || ref === "")
    return {
      subject: `unknown Git reference of ${describe(source)}`,
      why: `Policies limit the references, and which one this commit is from is not known: ${notKnown}`,
    };
  const why = listProblem(ref, allowedGitRefs);
  return why === undefined
    ? undefined
    : { subject: `disallowed Git reference ${ref} of ${describe(source)}`, why };
}

function signatureProblem(policy: Rules, source: UsedSource): ProvenanceProblem | undefined {
  if (!policy.requireVerification) return undefined;
  const { kind, resolved } = source;
  const subject = `unverified ${describe(source)}`;
  if (kind === "unsigned")
    return {
      subject,
      why: "Policies require a verified signature, and there is none for charts from there; use a HelmRelease with a GitRepository, or a chart of a registry, and their verify, with the dependencies in the chart's directory charts",
    };
  if (resolved === undefined)
    return {
      subject,
      why: `Policies require a verified signature, and whether this one was verified is not known: ${notKnown}`,
    };
  const { verifiedBy } = resolved;
  if (verifiedBy === undefined)
    return {
      subject,
      why: `Policies require a verified signature; set verify of the ${kind === "git" ? "GitRepository" : "OCIRepository, or of the chart of a HelmRepository"}`,
    };
  const name = nameFor(verifiedBy, policy);
  const { allowedHelmSecretNames: allowed } = policy;
  return allowed.length === 0 || allowed.includes(name)
    ? undefined
    : {
        subject: `disallowed Secret ${name} in verify of ${describe(source)}`,
        why: `Policies require a signature that was verified with the keys of a Secret that they allow, and ${name} is not in allowedHelmSecretNames`,
      };
}

function describe({ what, address }: UsedSource): string {
  return `${what} ${shown(address)}`;
}

function shown(address: string): string {
  return address.includes("://") ? describeUrl(address) : address;
}
