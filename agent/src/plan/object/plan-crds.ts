/** What happens to the definitions in the folder `crds` of a chart: they are shown and counted, and not in the digest. */
import {
  type CustomResourceDefinition,
  customResourceDefinitions,
} from "@flotilla/shared/kube/objects";
import { desiredCrd, type UpgradeOptions } from "../../helm/index.ts";
import { differs } from "../change/field-changes.ts";
import { nameOf } from "../change/object-text.ts";
import { type ReleasePlan, readLive } from "./plan-object.ts";

export interface CrdPlan {
  readonly action: "create" | "update" | "fails";
  readonly text: string;
  readonly why?: string;
}

/** `owner`: the deployment, which a label names. Without those that stay as they are. */
export async function planCrds(
  plan: Pick<ReleasePlan, "rest" | "signal" | "masking">,
  definitions: readonly CustomResourceDefinition[],
  { crds, owner }: { readonly crds: UpgradeOptions["crds"]; readonly owner: string },
): Promise<readonly CrdPlan[]> {
  if (crds === "Skip") return [];
  const found: CrdPlan[] = [];
  for (const definition of definitions) {
    const { name } = definition.metadata;
    const object = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      name,
    };
    const live = await readLive(plan, customResourceDefinitions, { name });
    const header = `# ${nameOf(object)}`;
    if (live === undefined) found.push({ action: "create", text: `${header}: create\n` });
    else if (typeof live === "string") {
      const why = plan.masking.redact(live);
      found.push({ action: "fails", text: `${header}: fails: ${why}\n`, why });
    } else if (crds === "CreateReplace" && differs(live, desiredCrd(definition, live, owner)))
      found.push({ action: "update", text: `${header}: update\n` });
  }
  return found;
}

/** What they define, by `GROUP/KIND`: whether its objects have a namespace. */
export function kindsOf(
  definitions: readonly CustomResourceDefinition[],
): ReadonlyMap<string, boolean> {
  return new Map(
    definitions.map(({ spec }) => [
      `${spec.group}/${spec.names.kind}`,
      spec.scope === "Namespaced",
    ]),
  );
}
