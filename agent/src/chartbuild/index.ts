export { buildTask, inspectReply, performBuildTask } from "./build-task.ts";
export { type BuildCharts, type CheckOuts, createFetchArchive } from "./fetch-archive.ts";
