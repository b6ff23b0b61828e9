export {
  type GitHttpServer,
  type GitHttpServerOptions,
  startGitHttpServer,
} from "./git-http-server.ts";
export { createRepository, type TestRepository } from "./git-repository.ts";
export { requireProgram, runProgram } from "./programs.ts";
export { readText } from "./read-text.ts";
export { serveApp } from "./served-app.ts";
export { type SshServer, startSshServer } from "./ssh-server.ts";
