/** What a program of its own loads, such as the plugin of Helm. */
export { runInSandbox, type SandboxResult } from "./run-in-sandbox.ts";
export { type Sandbox, sandboxSchema } from "./sandbox.ts";
