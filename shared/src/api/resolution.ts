/** What the status of a HelmOp or a Bundle keeps of resolving charts, so that any leader goes on where the last one was. */
import { z } from "zod";
import { described, fields, integer, plainFlag, plainText, type Typed } from "./field.ts";

export const resolutionSchema = fields(
  {
    observedGeneration: integer("The `metadata.generation` that the last attempt was made for."),
    nextAttemptTime: described(
      z.string().optional(),
      "When the source is asked next, RFC 3339; absent while nothing is scheduled.",
      { format: "date-time" },
    ),
    failures: integer("Attempts that failed since the last that succeeded."),
    error: plainText("Why the last attempt failed; absent when it succeeded."),
    requestFailed: plainFlag(
      "Whether an attempt that somebody requested failed; it is retried until one succeeds.",
    ),
    credentialsVersion: plainText(
      "The resource versions of the Secrets that the last attempt was made with.",
    ),
  },
  "ChartResolution",
);

export const pinCheckSchema = fields(
  {
    time: described(z.string(), "When the source was read last, RFC 3339.", {
      format: "date-time",
    }),
    count: described(z.int(), "How often it was read since the first failure to fetch."),
    error: plainText("Why it could not be read."),
  },
  "PinCheck",
);

export type ResolutionStatus = Typed<typeof resolutionSchema>;
export type PinCheck = Typed<typeof pinCheckSchema>;

export const pinCheckDescription =
  "Present while an agent cannot fetch a chart as it was pinned: the source is read again, ever less often, in case its index was corrected.";
