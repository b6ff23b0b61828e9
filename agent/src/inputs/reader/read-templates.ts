/** Templates in values, read by readers where that may take long. */
import { createHash } from "node:crypto";
import { canonicalJson } from "@flotilla/shared/json";
import type { ReadTemplates } from "../values/render-values.ts";
import {
  isLongTask,
  performTemplateTask,
  type TemplateTask,
  templateReplies,
} from "../values/template/index.ts";
import type { Readers } from "./readers.ts";

export function createReadTemplates(readers: Pick<Readers, "run">): ReadTemplates {
  async function perform(task: TemplateTask): Promise<unknown> {
    if (!isLongTask(task)) return performTemplateTask(task);
    const digest = createHash("sha256").update(canonicalJson(task)).digest("hex");
    return await readers.run(
      { kind: "templates", task },
      { key: `templates sha256:${digest}`, what: "read the templates in the values" },
    );
  }

  return {
    translate: async (texts) =>
      templateReplies.translate.parse(await perform({ kind: "translate", texts: [...texts] })),
    reread: async (all) =>
      templateReplies.reread.parse(await perform({ kind: "reread", all: [...all] })),
  };
}
