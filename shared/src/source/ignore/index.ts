export {
  createIgnore,
  type IgnoreFile,
  ignoreFileName,
} from "./ignore.ts";
