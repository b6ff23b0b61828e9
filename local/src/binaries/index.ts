export { ensureDebianPrograms } from "./debian-programs.ts";
export { downloadClient } from "./download.ts";
export { ensureBinaries, toolNames } from "./ensure-binaries.ts";
export { plainProgress } from "./plain-progress.ts";
export type { ReportProgress } from "./progress.ts";
export { publisherBases, type ToolName } from "./tools.ts";
