export {
  AppError,
  commonErrors,
  defineErrors,
  type ErrorKind,
  messageOf,
  unreachable,
} from "./app-error.ts";
