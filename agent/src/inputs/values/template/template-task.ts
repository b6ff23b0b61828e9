/** What is read in the templates of values, before and after they are rendered. A reader does it where it may take long. Pure. */
import { toHelmJson } from "@flotilla/shared/yaml";
import * as z from "zod";
import { TemplateError } from "./lex-template.ts";
import { parseRendered, reread } from "./reread.ts";
import { translateTemplate } from "./translate-template.ts";

const renderedSchema = z.object({
  text: z.string(),
  rendered: z.string(),
  /** `whole`: the result is a value by itself, wherever it stands. */
  place: z.enum(["key", "value", "item", "whole"]),
});

export const templateTask = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("translate"), texts: z.array(z.string()) }),
  z.object({ kind: z.literal("reread"), all: z.array(renderedSchema) }),
]);
export type TemplateTask = Readonly<z.infer<typeof templateTask>>;

/** `number`: of the first that is invalid. */
const invalid = z.object({ number: z.number(), why: z.string() });

/** What a task results in. */
export const templateReplies = {
  /** For Helm's `tpl`. */
  translate: z.union([z.object({ texts: z.array(z.string()) }), invalid]),
  /** The JSON of a list: numbers that JSON.parse would round stay exact. */
  reread: z.union([z.object({ json: z.string() }), invalid]),
} as const;
export type TemplateReplies = {
  readonly [Kind in keyof typeof templateReplies]: Readonly<
    z.infer<(typeof templateReplies)[Kind]>
  >;
};

/** Characters that take less time than a reader does: YAML takes some 2 ms for each 1,000. */
const shortCharacters = 16 * 1024;

export function isLongTask(task: TemplateTask): boolean {
  const texts = task.kind === "translate" ? task.texts : task.all.map(({ rendered }) => rendered);
  return texts.reduce((sum, { length }) => sum + length, 0) > shortCharacters;
}

export function performTemplateTask(task: TemplateTask): TemplateReplies[keyof TemplateReplies] {
  switch (task.kind) {
    case "translate": {
      const found = each(task.texts, translateTemplate);
      return "why" in found ? found : { texts: found.results };
    }
    case "reread": {
      const found = each(task.all, ({ text, rendered, place }) =>
        place === "whole" ? parseRendered(rendered) : reread(text, rendered, place),
      );
      return "why" in found ? found : { json: toHelmJson(found.results) };
    }
  }
}

function each<T, R>(
  all: readonly T[],
  read: (one: T, number: number) => R,
): { readonly results: R[] } | z.infer<typeof invalid> {
  const results: R[] = [];
  for (const [number, one] of all.entries()) {
    try {
      results.push(read(one, number));
    } catch (thrown) {
      if (!(thrown instanceof TemplateError)) throw thrown;
      return { number, why: thrown.message };
    }
  }
  return { results };
}
