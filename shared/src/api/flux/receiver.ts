/** Flux's Receiver: a webhook that requests a reconciliation of objects. Written by users. */
import * as z from "zod";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import { described, fields, integer, plainText, type Typed } from "../fleet/index.ts";
import { conditionsSchema } from "./condition.ts";
import { receiverResourceSchema } from "./event-source.ts";
import {
  duration,
  lastHandledReconcileAt,
  localReference,
  string,
  strings,
  suspend,
} from "./field.ts";

/** The limit of `spec.resources`; Flux's definitions have no limit. */
export const maxResources = 500;

const receiverTypes = [
  "generic",
  "generic-hmac",
  "generic-oidc",
  "github",
  "gitlab",
  "bitbucket",
  "harbor",
  "dockerhub",
  "quay",
  "gcr",
  "nexus",
  "acr",
  "cdevents",
] as const;

const oidcProviderSchema = fields(
  {
    issuerURL: described(string({ pattern: /^https?:\/\// }), "The issuer of the tokens."),
    audience: described(z.string().optional(), "The audience of the tokens.", {
      "x-default-text": "`notification-controller`",
    }),
    variables: described(
      z
        .array(
          fields({
            name: described(z.string(), "The name, as in `vars.name`."),
            expression: described(z.string(), "A CEL expression for the value."),
          }),
        )
        .optional(),
      "Values for the validations.",
    ),
    validations: described(
      z
        .array(
          fields({
            expression: described(z.string(), "A CEL expression that must be true."),
            message: described(z.string(), "What is wrong when it is not."),
          }),
        )
        .min(1),
      "What the claims of a token must be.",
    ),
  },
  "OIDCProvider",
);

const receiverSpecSchema = fields({
  type: described(
    z.enum(receiverTypes),
    "Who sends the requests: it decides how they are authenticated and read. Some types are not supported.",
  ),
  interval: described(duration.default("10m"), "How often the Secret is read again."),
  events: strings("The events that are handled, such as `push`; others are rejected.", {
    absent: "all",
  }),
  resources: described(
    z.array(receiverResourceSchema).max(maxResources),
    "The objects for which a reconciliation is requested.",
  ),
  resourceFilter: plainText(
    "A CEL expression that is true for the requests that are for an object, with the variables `req` and `res`.",
  ),
  secretRef: localReference("A Secret with `token`."),
  oidcProviders: described(
    z.array(oidcProviderSchema).optional(),
    "Issuers of tokens, for `generic-oidc`.",
    { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["issuerURL"] },
  ),
  suspend,
}).meta({
  "x-kubernetes-validations": [
    {
      rule: "self.type != 'generic-oidc' || (has(self.oidcProviders) && size(self.oidcProviders) > 0)",
      message: "the type 'generic-oidc' needs oidcProviders",
    },
    {
      rule: "self.type != 'generic-oidc' || !has(self.secretRef)",
      message: "the type 'generic-oidc' has no secretRef: remove it",
    },
    {
      rule: "self.type == 'generic-oidc' || has(self.secretRef)",
      message: "secretRef is missing: name a Secret with a token",
    },
    {
      rule: "self.type == 'generic-oidc' || !has(self.oidcProviders) || size(self.oidcProviders) == 0",
      message: "oidcProviders is for the type 'generic-oidc' only: remove it",
    },
  ],
});

const receiverStatusSchema = fields({
  observedGeneration: integer("The `metadata.generation` that the status is for."),
  conditions: conditionsSchema,
  webhookPath: plainText("The path of the webhook, `/hook/…`. Who knows it can send requests."),
  lastHandledReconcileAt,
});

export type ReceiverSpec = Typed<typeof receiverSpecSchema>;
export type ReceiverStatus = Typed<typeof receiverStatusSchema>;

/** Without a spec where a user wrote none: Flux's schema does not require one. */
export interface Receiver extends KubeObject {
  readonly spec?: ReceiverSpec;
  readonly status?: ReceiverStatus;
}

export const receiverSchemas = { spec: receiverSpecSchema, status: receiverStatusSchema } as const;
