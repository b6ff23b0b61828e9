/** The Policies of a namespace as one. Pure; the rules are Fleet's: switches are ORed, lists are joined, of defaults the first counts. */
import type { Policy } from "@flotilla/shared/api";

export interface MergedPolicy {
  /** The names of the Policies, for messages; empty: nothing is restricted. */
  readonly names: readonly string[];
  readonly requireServiceAccount: boolean;
  readonly allowedServiceAccounts: readonly string[];
  readonly allowNamespaceCreation: boolean;
  /** "" where there is none. */
  readonly defaultServiceAccount: string;
  readonly defaultHelmSecretName: string;
  readonly allowedHelmSecretNames: readonly string[];
  /** Of `downstreamResources`. */
  readonly allowedDownstreamSecretNames: readonly string[];
  readonly allowedDownstreamConfigMapNames: readonly string[];
  readonly allowedHelmRepoPatterns: readonly string[];
  readonly allowedChartPatterns: readonly string[];
}

/** An empty list allows everything, so a Policy can only tighten what another one leaves open, and widen what it lists. */
export function mergePolicies(policies: readonly Policy[]): MergedPolicy {
  const sorted = policies.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return {
    names: sorted.map(({ metadata }) => metadata.name),
    requireServiceAccount: sorted.some((policy) => policy.requireServiceAccount === true),
    allowedServiceAccounts: union(sorted, (policy) => policy.allowedServiceAccounts),
    allowNamespaceCreation: sorted.some((policy) => policy.allowNamespaceCreation === true),
    defaultServiceAccount: first(sorted, (policy) => policy.helmOp?.defaultServiceAccount),
    defaultHelmSecretName: first(sorted, (policy) => policy.helmOp?.defaultHelmSecretName),
    allowedHelmSecretNames: union(sorted, (policy) => policy.helmOp?.allowedHelmSecretNames),
    allowedDownstreamSecretNames: union(sorted, ({ helmOp }) => [
      ...(helmOp?.allowedHelmSecretNames ?? []),
      ...(helmOp?.allowedDownstreamSecretNames ?? []),
    ]),
    allowedDownstreamConfigMapNames: union(
      sorted,
      (policy) => policy.helmOp?.allowedDownstreamConfigMapNames,
    ),
    allowedHelmRepoPatterns: union(sorted, (policy) => policy.helmOp?.allowedHelmRepoPatterns),
    allowedChartPatterns: union(sorted, (policy) => policy.helmOp?.allowedChartPatterns),
  };
}

/**
 * Whether errors may quote what a repository responds: only where Policies say which repositories there are. A tenant that may
 * name any address would read the responses of internal services.
 */
export function limitsRepositories(policy: MergedPolicy): boolean {
  return policy.allowedHelmRepoPatterns.length > 0;
}

/** An account of a tenant that agents have to impersonate needs no right to create namespaces. */
export function forbidsNamespaces(policy: MergedPolicy): boolean {
  return policy.requireServiceAccount && !policy.allowNamespaceCreation;
}

type Texts = readonly string[] | null | undefined;

function union(policies: readonly Policy[], of: (policy: Policy) => Texts): readonly string[] {
  return [...new Set(policies.flatMap((policy) => of(policy) ?? []))];
}

function first(
  policies: readonly Policy[],
  of: (policy: Policy) => string | null | undefined,
): string {
  return policies.map((policy) => of(policy) ?? "").find((text) => text !== "") ?? "";
}
