/** The limit of targets, each of which is compared with each cluster. The CRDs have none, so that no stored object breaks. Pure. */

/** Fleet's users have some hundreds at most. */
const maxTargets = 1_000;

/** The sentence for a list of targets, or of restrictions, that is too long. */
export function targetCountProblem(
  field: string,
  targets: readonly unknown[] | null | undefined,
): string | undefined {
  const count = targets?.length ?? 0;
  return count <= maxTargets
    ? undefined
    : `${field} has ${count} entries, more than the limit of ${maxTargets}: select several clusters with one clusterSelector or clusterGroup, or divide it into several objects`;
}
