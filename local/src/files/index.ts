export { privateMode, readJson, replaceFile, writeJson } from "./atomic-file.ts";
