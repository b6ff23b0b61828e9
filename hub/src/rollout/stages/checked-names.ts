/**
 * Whether the API server has checked who decided about a Gate: by the ValidatingAdmissionPolicy that is installed with the definitions.
 * Read when a decision is there, which is rare, and not remembered.
 */
import type { Gate } from "@flotilla/shared/api/rollout";
import { gateDecisionPolicy } from "@flotilla/shared/api/rollout/admission";
import type { KubeRest } from "@flotilla/shared/kube/client";
import {
  type KubeObject,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from "@flotilla/shared/kube/objects";
import { parseTime } from "@flotilla/shared/time";

/** The parts of the policy and its binding by which they can be switched off while they exist. */
interface Policy extends KubeObject {
  readonly spec?: { readonly failurePolicy?: string };
}

interface Binding extends KubeObject {
  readonly spec?: {
    readonly policyName?: string;
    readonly validationActions?: readonly string[];
    readonly matchResources?: unknown;
  };
}

/**
 * Since when names are checked, ms since 1970; undefined: they are not. A Kubernetes without such policies answers 404, as where they are
 * not installed. Rejects where they cannot be read.
 */
export async function namesCheckedSince(rest: Pick<KubeRest, "get">): Promise<number | undefined> {
  const [policy, binding] = await Promise.all([
    rest.get(validatingAdmissionPolicies, { name: gateDecisionPolicy }),
    rest.get(validatingAdmissionPolicyBindings, { name: gateDecisionPolicy }),
  ]);
  return checkedSince(policy, binding);
}

/** Pure. */
export function checkedSince(
  policy: Policy | undefined,
  binding: Binding | undefined,
): number | undefined {
  const { policyName, validationActions = [], matchResources } = binding?.spec ?? {};
  const isInEffect =
    policy?.spec?.failurePolicy === "Fail" &&
    policyName === policy.metadata.name &&
    validationActions.includes("Deny") &&
    isEverything(matchResources);
  if (!isInEffect) return undefined;
  const since = [policy, binding].map((each) => parseTime(each?.metadata.creationTimestamp));
  const [one, other] = since;
  return one === undefined || other === undefined ? undefined : Math.max(one, other);
}

/** A binding may be narrowed to some namespaces or objects. The API server fills in selectors that are empty. */
function isEverything(matchResources: unknown): boolean {
  return Object.entries(matchResources ?? {}).every(
    ([field, value]) =>
      field === "matchPolicy" || Object.keys((value ?? {}) as object).length === 0,
  );
}

/** Whether the name in a decision about it was checked: a Gate that is older than the policy may have been decided before. */
export function isNameChecked(
  { metadata: { creationTimestamp } }: Pick<Gate, "metadata">,
  sinceMs: number | undefined,
): boolean {
  const createdMs = parseTime(creationTimestamp);
  return sinceMs !== undefined && createdMs !== undefined && createdMs >= sinceMs;
}
