export { parseHelmYaml, toHelmJson } from "./helm-yaml.ts";
