export { formatYaml } from "./format.ts";
export { parseHelmYaml, toHelmJson } from "./helm-yaml.ts";
export { isChangedByRewriting } from "./rewriting.ts";
