/** The reference page of the kinds of rollouts, as Markdown. */
import { kinds } from "../../fleet/crd/index.ts";
import { referencePage } from "../../fleet/reference/index.ts";
import { rolloutKinds } from "../crd/index.ts";
import { rolloutApiVersion } from "../index.ts";

const preface = `# Reference of rollouts

Generated from the schemas in \`shared/src/api/rollout\`; change those and run \`npm run generate\`.

All kinds are in \`${rolloutApiVersion}\` and namespaced. The fields of \`rolloutStrategy\` are in [api.md](api.md#rolloutstrategy).
A field that is not listed here is kept unchanged.

Times are RFC 3339. "When absent" is the meaning of an absent field; it is not written into the object. A path such as
\`stages[].gates\` is the field \`gates\` of each entry of the list \`stages\`.
`;

export function rolloutReference(): string {
  return referencePage({ preface, kinds: rolloutKinds, linked: { path: "api.md", kinds } });
}
