/**
 * What the first cluster of a Bundle received for a chart whose pin does not say which bytes it means: all clusters get the same bytes, or
 * nothing. Pure.
 */
import type { SourceDigest } from "@flotilla/proto";
import type { BundleDeployment } from "@flotilla/shared/api";

/** The limit of one Bundle: usually there is one. */
const mostSources = 8;

/**
 * For each pin the digest that was reported first, by the hub's clock. `deployments`: of the Bundle. The cluster that was first is bound
 * by its own report.
 */
export function boundSources(deployments: readonly BundleDeployment[]): readonly SourceDigest[] {
  const first = new Map<string, Reported>();
  for (const { metadata, status } of deployments) {
    if (status?.source == null) continue;
    const { pin, digest, since } = status.source;
    const reported = { pin, digest, order: `${since} ${metadata.namespace} ${metadata.name}` };
    const known = first.get(pin);
    if (known === undefined || reported.order < known.order) first.set(pin, reported);
  }
  return [...first.values()]
    .sort((a, b) => (a.order < b.order ? 1 : -1))
    .slice(0, mostSources)
    .map(({ pin, digest }) => ({ pin, digest }));
}

interface Reported extends SourceDigest {
  /** Smaller is earlier. */
  readonly order: string;
}
