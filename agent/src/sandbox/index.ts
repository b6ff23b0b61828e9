export { openSandbox } from "./kernel/open-sandbox.ts";
export { runInSandbox, type Sandbox, type SandboxResult } from "./run/index.ts";
