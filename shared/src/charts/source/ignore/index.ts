export {
  checkIgnoreBytes,
  createIgnore,
  type IgnoreFile,
  ignoreFileName,
  maxIgnoreBytes,
} from "./ignore.ts";
