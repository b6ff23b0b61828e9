/**
 * A Policy: what the HelmOps and Bundles of its namespace may do. Its fields are at the top level, as in Fleet, and it has
 * no status. Several Policies of a namespace add up.
 */
import type { KubeObject } from "../kube/objects/object.ts";
import { described, fields, flag, list, type Typed, text } from "./field.ts";

const patterns =
  "Regular expressions as Go knows them (RE2), each of which has to match as a whole; the very text is allowed too. Absent or empty: all.";

const gitRepoPolicy = fields({
  defaultServiceAccount: text("The ServiceAccount of a GitRepo that names none."),
  defaultClientSecretName: text("The client Secret of a GitRepo that names none."),
  allowedClientSecretNames: list("The client Secrets that GitRepos may name."),
  allowedRepoPatterns: list("The repositories that GitRepos may name."),
});

const helmOpPolicy = fields({
  defaultServiceAccount: text("The ServiceAccount of a HelmOp that names none."),
  defaultHelmSecretName: text(
    "The Secret with the credentials for the chart's source, of a HelmOp that names none.",
  ),
  allowedHelmSecretNames: list(
    "The Secrets that may be named for the chart's source. Absent or empty: all.",
  ),
  allowedHelmRepoPatterns: list(
    `The repositories that charts may come from, also the archives that \`chart\` may give the address of where \`allowedChartPatterns\` is empty. ${patterns}`,
  ),
  allowedChartPatterns: list(`What \`helm.chart\` may be. ${patterns}`),
});

export const policySchema = fields({
  requireServiceAccount: flag(
    "Refuse what names no ServiceAccount, neither itself nor by a default. Namespaces are then not made either, unless `allowNamespaceCreation` is set.",
  ),
  allowedServiceAccounts: list("The ServiceAccounts that may be named. Absent or empty: all."),
  allowNamespaceCreation: flag(
    "Have the release's namespace made although `requireServiceAccount` is set.",
  ),
  gitRepo: described(
    gitRepoPolicy.nullish(),
    "Fleet's rules for GitRepos. Flotilla has none, so they have no effect.",
  ),
  helmOp: described(
    helmOpPolicy.nullish(),
    "Rules for where charts come from, of HelmOps and of Bundles that were not made for one; and defaults for HelmOps.",
  ),
});

type PolicyFields = Typed<typeof policySchema>;

export interface Policy extends KubeObject, PolicyFields {}
