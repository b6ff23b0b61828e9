/** What the statuses of all sources have in common. */
import * as z from "zod";
import { described, fields, integer, plainText, resolutionSchema } from "../fleet/index.ts";
import { conditionsSchema } from "./condition.ts";
import { lastHandledReconcileAt, string, stringMap, timestamp } from "./field.ts";

export const artifactSchema = fields(
  {
    path: described(
      z.string(),
      "A path for the artifact, as Flux has it; no file is stored there.",
    ),
    url: described(
      z.string(),
      "The address of the source itself, from which agents download. It never has credentials.",
    ),
    revision: described(
      z.string(),
      "The revision of the source, for people: a commit, a version, a tag with its digest.",
    ),
    digest: described(
      string({ pattern: /^[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[a-zA-Z0-9=_-]+$/ }),
      "The digest, as in `sha256:…`.",
    ),
    lastUpdateTime: timestamp("When the artifact changed last, RFC 3339."),
    size: integer("The size in bytes, where it is known."),
    metadata: stringMap("More about the artifact, such as annotations of an OCI manifest."),
  },
  "Artifact",
);

const pollingSchema = resolutionSchema
  .extend({
    lastAttemptTime: timestamp(
      "The time of the last request to the source, RFC 3339, with any result.",
    ).optional(),
  })
  .meta({ title: "SourcePolling" });

export const sourceStatusFields = {
  observedGeneration: integer("The `metadata.generation` that the status is for."),
  conditions: conditionsSchema,
  artifact: described(artifactSchema.optional(), "The last revision that was found."),
  url: plainText("The address of the artifact."),
  lastHandledReconcileAt,
  polling: described(
    pollingSchema.optional(),
    "The schedule of requests and retries, and the result of the last one. Flux has no such field.",
  ),
} as const;
