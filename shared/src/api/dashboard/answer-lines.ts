/** Answers of agents to requests of users, as the hub sends them: lines of JSON. */
import * as z from "zod";

export const answerLineSchema = z
  .union([
    z.object({ data: z.string().meta({ description: "The next part of the answer." }) }),
    z.object({
      end: z
        .object({ code: z.string().optional(), message: z.string().optional() })
        .meta({ description: "The last line. With a message: the answer is not complete." }),
    }),
  ])
  .meta({ title: "AnswerLine" });
