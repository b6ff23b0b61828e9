import type { ReadTemplates } from "../render-values.ts";
import { performTemplateTask, templateReplies } from "../template/index.ts";

/** In this process, however long they are. */
export const readTemplatesHere: ReadTemplates = {
  translate: async (texts) =>
    await templateReplies.translate.parseAsync(
      performTemplateTask({ kind: "translate", texts: [...texts] }),
    ),
  reread: async (all) =>
    await templateReplies.reread.parseAsync(performTemplateTask({ kind: "reread", all: [...all] })),
};
