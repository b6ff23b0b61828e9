/** The reference page of Flux's kinds, as Markdown. */
import { kinds } from "../../fleet/crd/index.ts";
import { referencePage } from "../../fleet/reference/index.ts";
import { fluxKinds } from "../crd/index.ts";

const preface = `# Reference of Flux's kinds

Generated from the schemas in \`shared/src/api/flux\`; change those and run \`npm run generate\`.

HelmRelease is in \`helm.toolkit.fluxcd.io/v2\`; HelmChart, HelmRepository, OCIRepository, GitRepository and Bucket are in
\`source.toolkit.fluxcd.io/v1\`; Receiver is in \`notification.toolkit.fluxcd.io/v1\`, Alert and Provider in
\`notification.toolkit.fluxcd.io/v1beta3\`. All are namespaced. The fields, their limits and their defaults are Flux's;
\`targets\`, \`clusters\`, \`summary\` and \`polling\` are our own. The kinds of our own are in [api.md](api.md).

Times are RFC 3339. "When absent" is the meaning of an absent field. A path such as \`dependsOn[].name\` is the field \`name\` of
each entry of the list \`dependsOn\`.
`;

export function fluxReference(): string {
  return referencePage({ preface, kinds: fluxKinds, linked: { path: "api.md", kinds } });
}
