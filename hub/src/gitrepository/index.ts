export { chartsOfGitRepositories } from "./charts.ts";
export { createGitRepositoryController } from "./controller.ts";
export { createGitParts, type GitParts } from "./git-parts.ts";
