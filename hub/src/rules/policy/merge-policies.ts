/** The Policies of a namespace as one. Pure; the rules are Fleet's: switches are ORed, lists are joined, of defaults the first counts. */
import type { Policy, RequiredGate } from "@flotilla/shared/api";
import { byNamespace, type Store } from "@flotilla/shared/kube/cache";
import type { Used } from "./used.ts";

export interface MergedPolicy {
  /** Theirs; "" without any. */
  readonly namespace: string;
  /** The names of the Policies, for messages; empty: nothing is restricted. */
  readonly names: readonly string[];
  readonly requireServiceAccount: boolean;
  /** No Policy requires one, but the hub does, in all namespaces. */
  readonly isRequiredByHub?: boolean;
  readonly allowedServiceAccounts: readonly string[];
  readonly allowNamespaceCreation: boolean;
  /** "" where there is none. */
  readonly defaultServiceAccount: string;
  readonly defaultHelmSecretName: string;
  readonly allowedHelmSecretNames: readonly string[];
  /** The names allowed in `downstreamResources` and `valuesFrom`. */
  readonly allowedDownstreamSecretNames: readonly string[];
  readonly allowedDownstreamConfigMapNames: readonly string[];
  readonly allowedHelmRepoPatterns: readonly string[];
  readonly allowedChartPatterns: readonly string[];
  /** Full names, or commits. */
  readonly allowedGitRefs: readonly string[];
  readonly requireVerification: boolean;
  /** Whether Git repositories may have submodules, where `allowedHelmRepoPatterns` are given. */
  readonly allowSubmodules: boolean;
  /** Each with the name of its Policy: they are joined, so that none takes back what another one requires. */
  readonly requiredGates: readonly PolicyGate[];
  /** It judges the objects of its own namespace alone. */
  readonly lendsOnly?: boolean;
}

/** A gate that one Policy requires. */
export interface PolicyGate extends RequiredGate {
  readonly policy: string;
}

/** What the hub requires in all namespaces, as if a Policy said so. */
export interface HubRules {
  readonly requireServiceAccount?: boolean | undefined;
}

/** An empty list allows everything, so a Policy can only tighten what another one leaves open, and widen what it lists. */
export function mergePolicies(
  policies: readonly Policy[],
  { requireServiceAccount: isRequired = false }: HubRules = {},
): MergedPolicy {
  const sorted = policies.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const isRequiredByPolicy = sorted.some((policy) => policy.requireServiceAccount === true);
  return {
    namespace: sorted[0]?.metadata.namespace ?? "",
    names: sorted.map(({ metadata }) => metadata.name),
    requireServiceAccount: isRequired || isRequiredByPolicy,
    ...(isRequired && !isRequiredByPolicy && { isRequiredByHub: true }),
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
    allowedGitRefs: union(sorted, (policy) => policy.helmOp?.allowedGitRefs),
    requireVerification: sorted.some((policy) => policy.helmOp?.requireVerification === true),
    allowSubmodules: sorted.some((policy) => policy.helmOp?.allowSubmodules === true),
    requiredGates: sorted.flatMap(({ metadata, rollout }) =>
      (rollout?.requiredGates ?? []).map((each) => ({ ...each, policy: metadata.name })),
    ),
  };
}

/** The Policies of each namespace as one; the Policies of different namespaces stay apart, because neither may widen the other's. */
export function policiesIn(
  store: Pick<Store<Policy>, "byIndex">,
  namespaces: Iterable<string>,
  rules?: HubRules,
): readonly MergedPolicy[] {
  return [...new Set(namespaces)].map((each) =>
    mergePolicies(store.byIndex(byNamespace, each), rules),
  );
}

/**
 * The Policies of other namespaces whose Secrets a deployment uses, apart from those in `judging`: they say which of their Secrets may
 * be used and for which sources, and nothing about the accounts of others.
 */
export function lendersOf(
  store: Pick<Store<Policy>, "byIndex">,
  judging: readonly string[],
  { objects }: Pick<Used, "objects">,
): readonly MergedPolicy[] {
  const lenders = objects
    .map(({ requested }) => requested.namespace)
    .filter((each) => !judging.includes(each));
  return policiesIn(store, lenders).map((policy) => ({
    ...policy,
    requireServiceAccount: false,
    allowedServiceAccounts: [],
    lendsOnly: true,
  }));
}

/**
 * Whether errors may quote what a repository responds: only where Policies say which repositories there are. A tenant that may
 * name any address would read the responses of internal services.
 */
export function limitsRepositories(policy: MergedPolicy): boolean {
  return policy.allowedHelmRepoPatterns.length > 0;
}

/** An account of a tenant that agents have to impersonate needs no right to create namespaces. One namespace's Policies suffice. */
export function forbidsNamespaces(policies: readonly MergedPolicy[]): boolean {
  return policies.some(
    ({ requireServiceAccount, allowNamespaceCreation }) =>
      requireServiceAccount && !allowNamespaceCreation,
  );
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
