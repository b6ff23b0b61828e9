/** Fields of Flux's HelmRelease that a HelmOp does not have, and whose absence would change what runs, where or as whom. Pure. */

/** By name: what to do instead; undefined: the value is what happens anyway. */
const fields: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  kubeConfig: () => "the agent of each cluster installs: select the clusters with targets",
  postRenderStrategy: (value) =>
    value === "combined"
      ? undefined
      : "hooks are always changed with the other objects (combined): remove it",
  serviceAccountName: () => "set serviceAccount",
  targetNamespace: () => "set namespace",
  valuesFrom: () => "set helm.valuesFrom",
  waitStrategy: (value) =>
    typeof value === "object" && value !== null && Reflect.get(value, "name") === "poller"
      ? undefined
      : "objects are always ready by the rules of kstatus (poller): remove it",
};

/** Other unknown fields are kept, and named by Accepted. */
export function fluxFieldProblem(options: object): string | undefined {
  for (const [field, instead] of Object.entries(fields)) {
    const value: unknown = Reflect.get(options, field);
    const what = value === undefined || value === null ? undefined : instead(value);
    if (what !== undefined) return `${field} of a HelmRelease has no effect here: ${what}`;
  }
  return undefined;
}
