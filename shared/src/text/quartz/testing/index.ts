export { compareStarts, faults } from "./disagreements.ts";
export { randomStartsQuestions, startsRowQuestions } from "./questions.ts";
