export { type ProgramName, programs } from "./bundle.ts";
export type { Architecture } from "./debian-packages.ts";
export { elfArchitecture, type ImageTreeOptions, writeImageTree } from "./image-tree.ts";
