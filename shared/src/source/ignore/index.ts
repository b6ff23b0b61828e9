export {
  createIgnore,
  type Ignore,
  type IgnoreFile,
  type IgnoreOptions,
  ignoreFileName,
  maxIgnorePatterns,
} from "./ignore.ts";
