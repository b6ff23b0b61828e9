/**
 * Applies the CRDs, for Flux's kinds too, to a cluster and waits until they are established; and the policy by which the API
 * server checks who decides about Gates.
 */
import { allCrds } from "@flotilla/shared/api/crd";
import { gateDecisionObjects } from "@flotilla/shared/api/rollout/admission";
import { rolloutCrds } from "@flotilla/shared/api/rollout/crd";
import { AppError, commonErrors } from "@flotilla/shared/errors";
import { fluxCrds } from "@flotilla/shared/flux/crd";
import type { KubeRest } from "@flotilla/shared/kube/client";
import {
  type CustomResourceDefinition,
  customResourceDefinitions,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from "@flotilla/shared/kube/objects";

const fieldManager = "flotilla";
const establishTimeoutMs = 120_000;

export async function installCrds(rest: KubeRest): Promise<void> {
  const crds = [...allCrds(), ...rolloutCrds(), ...fluxCrds()];
  await Promise.all([...crds.map((crd) => installCrd(rest, crd)), installGateDecisions(rest)]);
}

async function installGateDecisions(rest: KubeRest): Promise<void> {
  const { policy, binding } = gateDecisionObjects;
  const options = { fieldManager };
  await Promise.all([
    rest.patch(
      validatingAdmissionPolicies,
      policy.metadata,
      { type: "apply", body: policy, force: true },
      options,
    ),
    rest.patch(
      validatingAdmissionPolicyBindings,
      binding.metadata,
      { type: "apply", body: binding, force: true },
      options,
    ),
  ]);
}

async function installCrd(rest: KubeRest, crd: CustomResourceDefinition): Promise<void> {
  const applied = await rest.patch(
    customResourceDefinitions,
    crd.metadata,
    { type: "apply", body: crd, force: true },
    { fieldManager },
  );
  if (isEstablished(applied)) return;
  const watched = rest.watch(customResourceDefinitions, {
    fieldSelector: `metadata.name=${crd.metadata.name}`,
    resourceVersion: applied.metadata.resourceVersion ?? "0",
    timeoutSeconds: establishTimeoutMs / 1000,
    signal: AbortSignal.timeout(establishTimeoutMs),
  });
  for await (const event of watched) {
    if (event.type !== "BOOKMARK" && isEstablished(event.object)) return;
  }
  throw new AppError(
    commonErrors.INTERNAL,
    `install CRD ${crd.metadata.name} on ${rest.server}: not established after ${establishTimeoutMs / 1000} s`,
  );
}

function isEstablished(crd: CustomResourceDefinition): boolean {
  return (
    crd.status?.conditions?.some(
      ({ type, status }) => type === "Established" && status === "True",
    ) ?? false
  );
}
