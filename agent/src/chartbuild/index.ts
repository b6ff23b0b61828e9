export { buildTask, definitionsReply, inspectReply, performBuildTask } from "./build-task.ts";
export { type BuildCharts, createFetchArchive } from "./fetch-archive.ts";
