export { createAnswers } from "./answers.ts";
export {
  type AnswerRequest,
  createOpenRequests,
  type OpenRequests,
  rejectRequest,
} from "./open-requests.ts";
