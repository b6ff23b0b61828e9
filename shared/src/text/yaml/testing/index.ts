export { damagedDocument, yamlDocument } from "./arbitraries.ts";
export { yamlDisagreements } from "./disagreements.ts";
export { randomYaml, yamlRows } from "./questions.ts";
export { lenientRows, rejectedRows } from "./rows.ts";
