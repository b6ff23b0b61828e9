/**
 * The Helm release of a BundleDeployment as Fleet's field `status.release` has it: `namespace/name:revision`. The agent reports the
 * parts one by one; this is the one place that joins them and takes them apart. Pure.
 */

interface ReleaseId {
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
}

export function formatReleaseId({ namespace, name, revision }: ReleaseId): string {
  return `${namespace}/${name}:${revision}`;
}

/** Undefined: nothing is installed. */
export function parseReleaseId(release: string | undefined): ReleaseId | undefined {
  const [, namespace, name, revision] = /^([^/]*)\/(.*):(\d+)$/.exec(release ?? "") ?? [];
  if (namespace === undefined || name === undefined) return undefined;
  return { namespace, name, revision: Number(revision) };
}
