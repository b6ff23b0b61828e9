export { createBuildCharts, createWithDefinitions } from "./build-charts.ts";
export { createReadCalls } from "./read-calls.ts";
export { createReadRecords } from "./read-records.ts";
export { createReadTemplates } from "./read-templates.ts";
export { createReadYaml } from "./read-yaml.ts";
export { createReaders } from "./readers.ts";
