/** BundleDeployments in a cache, with each text that thousands of them have in common in memory once. */
import type { BundleDeployment } from "@flotilla/shared/api";
import { dropBulk } from "@flotilla/shared/kube/cache";

/** Digests of contents and names of rollouts that are in use; a fleet with more has some of them in memory twice. */
const mostTexts = 10_000;

/**
 * A transform for a cache. Parsed from a watch, the digest of a content is another string in each BundleDeployment, three or four times:
 * 88 bytes each.
 */
export function createTextSharing(): (deployment: BundleDeployment) => BundleDeployment {
  const known = new Map<string, string>();

  function shared(text: string): string {
    const before = known.get(text);
    if (before !== undefined) return before;
    if (known.size >= mostTexts) known.clear();
    known.set(text, text);
    return text;
  }

  return (deployment) => {
    const { spec, status, ...others } = dropBulk(deployment);
    const { promotion } = spec;
    const applied = status?.appliedDeploymentID;
    return {
      ...others,
      spec: {
        ...spec,
        deploymentID: shared(spec.deploymentID),
        stagedDeploymentID: shared(spec.stagedDeploymentID),
        ...(promotion !== undefined && {
          promotion: {
            ...promotion,
            rollout: shared(promotion.rollout),
            at: shared(promotion.at),
            from: shared(promotion.from),
          },
        }),
      },
      ...(status !== undefined && {
        status: {
          ...status,
          ...(applied !== undefined && { appliedDeploymentID: shared(applied) }),
        },
      }),
    };
  };
}
