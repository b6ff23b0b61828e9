/** Resolution of charts in the status of a HelmOp or a Bundle, so that a new leader continues where the last one stopped. */
import * as z from "zod";
import { described, fields, integer, plainFlag, plainText, type Typed } from "./field.ts";

export const resolutionSchema = fields(
  {
    observedGeneration: integer("The `metadata.generation` that the last attempt was made for."),
    nextAttemptTime: described(
      z.string().optional(),
      "The time of the next request to the source, RFC 3339; absent while none is scheduled.",
      { format: "date-time" },
    ),
    failures: integer("The number of failed attempts since the last success."),
    error: plainText("Why the last attempt failed; absent when it succeeded."),
    code: plainText("The code of that error, as in docs/errors.md."),
    requestFailed: plainFlag(
      "Whether a requested attempt failed; it is retried until one succeeds.",
    ),
    credentialsVersion: plainText(
      "The resource versions of the Secrets that the last attempt was made with.",
    ),
  },
  "ChartResolution",
);

export const pinCheckSchema = fields(
  {
    time: described(z.string(), "The time of the last request to the source, RFC 3339.", {
      format: "date-time",
    }),
    count: described(z.int(), "The number of requests since the first failed download."),
    error: plainText("Why the last request failed."),
  },
  "PinCheck",
);

export type ResolutionStatus = Typed<typeof resolutionSchema>;
export type PinCheck = Typed<typeof pinCheckSchema>;

export const pinCheckDescription =
  "Present while an agent cannot download a pinned chart: the source is requested again, with backoff, in case its index was corrected.";

export const rejectedCodeDescription =
  "The code of the error for which it is not accepted, as in docs/errors.md; absent while it is accepted, and where only a chart has not been resolved yet.";
