export { type ProgramName, programs } from "./bundle.ts";
export type { Architecture } from "./debian-packages.ts";
export { elfArchitecture, writeImageTree } from "./image-tree.ts";
export { ensureImageTrees } from "./local-images.ts";
