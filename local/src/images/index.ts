export { bundleScripts, type ProgramName, programs } from "./bundle.ts";
export type { Architecture } from "./debian-packages.ts";
export { type AgentTools, elfArchitecture, writeImageTree } from "./image-tree.ts";
export { ensureImageTrees } from "./local-images.ts";
export { buildPage } from "./page.ts";
