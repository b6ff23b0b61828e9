export { compareStarts } from "./disagreements.ts";
export { randomStartsQuestions, startsRowQuestions } from "./questions.ts";
