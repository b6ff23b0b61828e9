export { createReadCalls } from "./read-calls.ts";
export { createReadYaml } from "./read-yaml.ts";
export { createReaders } from "./readers.ts";
