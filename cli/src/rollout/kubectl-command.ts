/** The kubectl commands that do the same as commands of ours. Pure. */

/** A change of one object, as kubectl makes it. */
export interface KubectlChange {
  /** As kubectl takes it, such as `bundlerollout` or `helmops.fleet.cattle.io`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** A merge patch; absent: the object is deleted. */
  readonly patch?: unknown;
  readonly subresource?: "status";
}

export function kubectlCommand(change: KubectlChange): string {
  const { resource, namespace, name, patch, subresource } = change;
  const object = `${resource} ${name} --namespace ${namespace}`;
  if (patch === undefined) return `kubectl delete ${object}`;
  const part = subresource === undefined ? "" : ` --subresource ${subresource}`;
  return `kubectl patch ${object}${part} --type merge --patch ${inShell(JSON.stringify(patch))}`;
}

/** One word for a POSIX shell, whatever it contains. */
function inShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
