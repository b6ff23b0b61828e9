export { type CheckTemplates, createTemplateGuard } from "./template-guard.ts";
