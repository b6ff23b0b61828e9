export {
  createLog,
  createRepeatFilter,
  type Log,
  type LogLevel,
  lineLog,
  logLevels,
  silentLog,
} from "./log.ts";
