export { constraintText, groupText, strictVersionText, versionText } from "./arbitraries.ts";
export { versionDisagreements } from "./disagreements.ts";
export { readGolden, writeGolden } from "./golden-file.ts";
export {
  type Answers,
  buildOracle,
  goldenDir,
  type StartsQuestion,
  type ValuesQuestion,
} from "./oracle.ts";
export { randomVersionQuestions, versionRowQuestions } from "./questions.ts";
