export { TemplateError } from "./lex-template.ts";
export {
  isLongTask,
  performTemplateTask,
  type TemplateReplies,
  type TemplateTask,
  templateReplies,
  templateTask,
} from "./template-task.ts";
export {
  findTexts,
  labelIn,
  replaceTexts,
  type TemplateText,
  type Values,
} from "./template-texts.ts";
export { missingKeyIn } from "./translate-template.ts";
