/**
 * The plan that an approval is about, with its texts, as it is kept beside the Gate: in a Secret of the hub's namespace, because a diff has
 * values that not everybody may read who may read rollouts.
 */
import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import type { GateRecord } from "@flotilla/shared/api/rollout";
import type { Secret } from "@flotilla/shared/kube/objects";
import { type FleetPlan, fleetPlanSchema } from "@flotilla/shared/plan";

/** On the Secret of a plan. */
export const planLabel = "flotilla.dev/plan";
/** `namespace/name` of its BundleRollout. */
export const planRolloutAnnotation = "flotilla.dev/rollout";
/** The digest that its Gate has. */
export const planDigestAnnotation = "flotilla.dev/plan-digest";

const dataKey = "plan.json.gz";
/** The limit of the data of a Secret, with its names and base64. */
const mostBytes = 700 * 1024;
/** The limit of a plan before it is compressed: it has 1 MiB of texts. */
const mostPlanBytes = 16 * 1024 * 1024;

/** The name of the Secret of a Gate's plan. `rollout`: `namespace/name`. `digest`: `spec.digest` of the Gate. */
export function planSecretName(rollout: string, digest: string): string {
  const hash = createHash("sha256").update(`${rollout} ${digest}`).digest("hex");
  return `plan-${hash.slice(0, 40)}`;
}

/** Texts are left out, the last first, until it fits. */
export function planSecret(
  { digest }: Pick<GateRecord, "digest">,
  plan: FleetPlan,
  { namespace, rollout }: { readonly namespace: string; readonly rollout: string },
): Secret {
  let bytes = packed(plan);
  for (let kept = plan.groups.length - 1; bytes.length > mostBytes && kept >= 0; kept -= 1)
    bytes = packed({
      ...plan,
      groups: plan.groups.map(({ text, ...group }, index) =>
        index < kept && text !== undefined ? { ...group, text } : group,
      ),
    });
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: planSecretName(rollout, digest),
      namespace,
      labels: { [planLabel]: "true" },
      annotations: { [planRolloutAnnotation]: rollout, [planDigestAnnotation]: digest },
    },
    type: "flotilla.dev/plan",
    immutable: true,
    data: { [dataKey]: bytes.toString("base64") },
  };
}

function packed(plan: FleetPlan): Buffer {
  return gzipSync(JSON.stringify(plan));
}

/** Undefined: it has no plan of this version. */
export function planIn({ data }: Secret): FleetPlan | undefined {
  const text = data?.[dataKey];
  if (text === undefined) return undefined;
  try {
    const bytes = gunzipSync(Buffer.from(text, "base64"), { maxOutputLength: mostPlanBytes });
    return fleetPlanSchema.safeParse(JSON.parse(bytes.toString())).data;
  } catch {
    return undefined;
  }
}
