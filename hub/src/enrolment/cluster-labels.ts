/** Which labels the Cluster of an agent that enrols gets: what it asks for, as far as it may, and what its token says. Pure. */
import type { TokenTerms } from "./token-terms.ts";

export interface ClusterLabels {
  /** Of those that the agent asks for. */
  readonly own: Readonly<Record<string, string>>;
  /** The token's, which win. */
  readonly fixed: Readonly<Record<string, string>>;
  /** Names of labels that the agent asked for and does not get, or not with its value. Sorted. */
  readonly leftOut: readonly string[];
}

/** The hub's own: nobody gives them to a Cluster. */
const ownDomain = "flotilla.dev";
/** Labels under these decide what a cluster is sent or who manages it: an agent cannot give them to itself. */
const reservedDomains = ["fleet.cattle.io", "management.cattle.io", ownDomain];

export function clusterLabels(
  asked: Readonly<Record<string, string>>,
  token: Pick<TokenTerms, "labels" | "allowedLabels"> | undefined,
): ClusterLabels {
  const entries = Object.entries(token?.labels ?? {}).filter(([name]) => !isIn(ownDomain, name));
  const fixed: Readonly<Record<string, string>> = Object.fromEntries(entries);
  const isOwn = (name: string): boolean =>
    !reservedDomains.some((domain) => isIn(domain, name)) &&
    isAllowed(name, token?.allowedLabels) &&
    !Object.hasOwn(fixed, name);
  return {
    own: Object.fromEntries(Object.entries(asked).filter(([name]) => isOwn(name))),
    fixed,
    leftOut: Object.entries(asked)
      .filter(([name, value]) => !isOwn(name) && fixed[name] !== value)
      .map(([name]) => name)
      .toSorted(),
  };
}

function isAllowed(name: string, patterns: readonly string[] | undefined): boolean {
  if (patterns === undefined) return true;
  return patterns.some((pattern) =>
    pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
}

function isIn(domain: string, name: string): boolean {
  const own = name.slice(0, Math.max(0, name.indexOf("/")));
  return own === domain || own.endsWith(`.${domain}`);
}
