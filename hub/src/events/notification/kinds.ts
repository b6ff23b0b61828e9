/** The kinds whose events Alerts select: Flux's that this hub has, and the fleet's. */
import { clusters } from "@flotilla/shared/api";
import { appDefinition, appKinds } from "@flotilla/shared/api/apps";

const sourceGroup = "source.toolkit.fluxcd.io";

const groupOfKind: Readonly<Record<string, string>> = {
  ...Object.fromEntries(appKinds.map((kind) => [kind, appDefinition(kind).resource.group])),
  [clusters.kind]: clusters.group,
  HelmChart: sourceGroup,
  HelmRepository: sourceGroup,
  OCIRepository: sourceGroup,
  GitRepository: sourceGroup,
  Bucket: sourceGroup,
};

export const notifiedKinds: readonly string[] = Object.keys(groupOfKind);

/** Whether events of a kind are ever sent: not events of Policies, tokens or the Alerts themselves. */
export function isNotified(apiVersion: string, kind: string): boolean {
  const [group = ""] = apiVersion.split("/");
  return groupOfKind[kind] === group;
}
