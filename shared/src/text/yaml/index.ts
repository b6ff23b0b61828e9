export { formatYaml } from "./format.ts";
export { parseHelmYaml, readHelmYaml, toHelmJson } from "./helm-yaml.ts";
export { isChangedByRewriting } from "./rewriting.ts";
