export { freePort } from "./free-port.ts";
export { isAlive } from "./identity.ts";
export { openJournal, readJournal } from "./journal.ts";
export { withLock } from "./lock.ts";
export { diskFullError, exitError, isPortInUse, logTail } from "./process-errors.ts";
export {
  endInOrder,
  endRecorded,
  layers,
  type ProcessRecord,
  type ProcessWatcher,
  processRecord,
  type Watchers,
  watchersOf,
} from "./process-record.ts";
export { type Reaper, startReaper } from "./reaper.ts";
export { type RunningProcess, startProcess } from "./start-process.ts";
export { startServer } from "./start-server.ts";
export { waitUntil } from "./wait-until.ts";
