/**
 * The namespaces whose Clusters a Bundle is deployed to: its own, and the ones that its BundleNamespaceMappings select and whose
 * Policies allow it.
 */
import type { Bundle, BundleDeployment } from "@flotilla/shared/api";
import type { AppError } from "@flotilla/shared/errors";
import { refOf } from "@flotilla/shared/kube/objects";
import { listNames } from "@flotilla/shared/text";
import { clusterKeyOf } from "../../base/index.ts";
import { releaseOfBundle } from "../frontend/planned-release.ts";
import type { PolicyDeps } from "../policy/judge.ts";
import type { Mappings } from "./mappings.ts";
import { refusalIn } from "./refusals.ts";

export interface Reach {
  readonly namespaces: readonly string[];
  /** Whether all its Clusters get contents that may be deployed to other namespaces. */
  readonly isMapped: boolean;
  /** For its author: where it is not deployed, and why. */
  readonly remarks: readonly string[];
  /** Nothing of a deployment is changed or withdrawn: whether its Bundle may be there is disputed, or not known. */
  isKept(deployment: BundleDeployment): boolean;
}

/** Refusals whose whole text is shown. */
const mostShown = 3;

/** `bundle`: as it is deployed. `gated`: other namespaces that are left out because of gates that their Policies require. */
export function reachOf(
  { mappings, policy }: { readonly mappings: Mappings; readonly policy: PolicyDeps },
  bundle: Bundle,
  gated: ReadonlyMap<string, AppError>,
): Reach {
  const [own = "", ...others] = mappings.namespacesOf(bundle);
  const invalid = mappings.invalidFor(bundle);
  const refused = new Map<string, AppError>();
  const release = releaseOfBundle(bundle);
  for (const namespace of others) {
    const refusal = refusalIn(policy, namespace, release, bundle.spec) ?? gated.get(namespace);
    if (refusal !== undefined) refused.set(namespace, refusal);
  }
  return {
    namespaces: [own, ...others.filter((each) => !refused.has(each))],
    isMapped: mappings.isMapped(bundle),
    remarks: [...refusedText(refused), ...invalidText(invalid)],
    isKept(deployment) {
      const { namespace = "" } = refOf(clusterKeyOf(deployment));
      return namespace !== own && (refused.has(namespace) || invalid.length > 0);
    },
  };
}

function refusedText(refused: ReadonlyMap<string, AppError>): readonly string[] {
  const shown = [...refused]
    .slice(0, mostShown)
    .map(
      ([namespace, { message }]) =>
        `not deployed to Clusters of namespace ${namespace}: ${message}`,
    );
  const more = [...refused.keys()].slice(mostShown);
  return more.length === 0
    ? shown
    : [...shown, `not deployed to Clusters of the namespaces ${listNames(more)} either`];
}

function invalidText(names: readonly string[]): readonly string[] {
  return names.length === 0
    ? []
    : [
        `${names.length === 1 ? "BundleNamespaceMapping" : "BundleNamespaceMappings"} ${listNames(names)} cannot be used; what is deployed to Clusters of other namespaces stays until that is corrected`,
      ];
}
