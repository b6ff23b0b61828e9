export { ensureHubNamespace, ensureWorkspaces } from "./ensure.ts";
