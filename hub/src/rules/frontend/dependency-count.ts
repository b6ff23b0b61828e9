/** The limit of `dependsOn`. The CRDs have none, so that no stored object breaks. Pure. */

/** Users of Fleet and Flux have some tens at most; one with a selector stands for any number of Bundles. */
const maxDependencies = 100;

/** The sentence for a list of dependencies that is too long. */
export function dependencyCountProblem(
  dependsOn: readonly unknown[] | null | undefined,
): string | undefined {
  const count = dependsOn?.length ?? 0;
  return count <= maxDependencies
    ? undefined
    : `spec.dependsOn has ${count} entries, more than the limit of ${maxDependencies}: leave out those that other entries depend on themselves`;
}
