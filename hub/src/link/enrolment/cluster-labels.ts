/** The labels of a new Cluster: what the agent requests, as far as it may, and what its token sets. Pure. */
import { matchesAny, type TokenTerms } from "./token.ts";

export interface ClusterLabels {
  /** Requested by the agent and allowed. */
  readonly own: Readonly<Record<string, string>>;
  /** Set by the token; they win. */
  readonly fixed: Readonly<Record<string, string>>;
  /** Names of requested labels that are not set, or not with that value. Sorted. */
  readonly rejected: readonly string[];
}

/** Set by the hub only. */
const ownDomain = "flotilla.dev";
/** Labels of these domains decide what a cluster gets or who manages it, so an agent may not set them. */
const reservedDomains = ["fleet.cattle.io", "management.cattle.io", ownDomain];

export function clusterLabels(
  requested: Readonly<Record<string, string>>,
  token: Pick<TokenTerms, "labels" | "allowedLabels"> | undefined,
): ClusterLabels {
  const entries = Object.entries(token?.labels ?? {}).filter(([name]) => !isIn(ownDomain, name));
  const fixed: Readonly<Record<string, string>> = Object.fromEntries(entries);
  const isOwn = (name: string): boolean =>
    !reservedDomains.some((domain) => isIn(domain, name)) &&
    (token?.allowedLabels === undefined || matchesAny(name, token.allowedLabels)) &&
    !Object.hasOwn(fixed, name);
  return {
    own: Object.fromEntries(Object.entries(requested).filter(([name]) => isOwn(name))),
    fixed,
    rejected: Object.entries(requested)
      .filter(([name, value]) => !isOwn(name) && fixed[name] !== value)
      .map(([name]) => name)
      .toSorted(),
  };
}

function isIn(domain: string, name: string): boolean {
  const own = name.slice(0, Math.max(0, name.indexOf("/")));
  return own === domain || own.endsWith(`.${domain}`);
}
