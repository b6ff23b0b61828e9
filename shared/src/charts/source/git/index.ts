export { accessToGit, createGitClient, type GitClient } from "./client.ts";
export { gitErrors } from "./errors.ts";
export type { WantedFile } from "./read-files.ts";
export type { ResolvedReference } from "./reference.ts";
export { parseRemote } from "./remote.ts";
export { cleanPath } from "./tree.ts";
export type { SignatureKeys, SignatureMode } from "./verify.ts";
