export { accessSecrets, gitAccess } from "./access.ts";
export { chartsOfGitRepositories } from "./charts.ts";
export { createGitRepositoryController } from "./controller.ts";
export { createTokenMinter, type MintToken } from "./github-app.ts";
export { createProjectSecret } from "./token-secret.ts";
