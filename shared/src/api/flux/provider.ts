/** Flux's Provider: where the events of Alerts are sent. Written by users; without a status. */
import * as z from "zod";
import type { KubeObject } from "../../kubernetes/objects/index.ts";
import { described, fields, plainText, type Typed } from "../fleet/index.ts";
import { duration, localReference, shortDuration, string, suspend } from "./field.ts";

const providerTypes = [
  "slack",
  "discord",
  "msteams",
  "rocket",
  "generic",
  "generic-hmac",
  "github",
  "gitlab",
  "gitea",
  "giteapullrequestcomment",
  "bitbucketserver",
  "bitbucket",
  "azuredevops",
  "googlechat",
  "googlepubsub",
  "webex",
  "sentry",
  "azureeventhub",
  "telegram",
  "lark",
  "matrix",
  "opsgenie",
  "alertmanager",
  "grafana",
  "githubdispatch",
  "githubpullrequestcomment",
  "gitlabmergerequestcomment",
  "pagerduty",
  "datadog",
  "nats",
  "zulip",
  "otel",
] as const;

export type ProviderType = (typeof providerTypes)[number];

/** The types that set the status of a commit. */
const commitStatusTypes: readonly ProviderType[] = [
  "github",
  "gitlab",
  "gitea",
  "bitbucketserver",
  "bitbucket",
  "azuredevops",
];

const isCommitStatusType = commitStatusTypes.map((type) => `self.type == '${type}'`).join(" || ");

const longText = string({ max: 2048 }).optional();

const providerSpecSchema = fields({
  type: described(z.enum(providerTypes), "The kind of receiver. Some of them are not supported."),
  address: described(longText, "The address to send to; `address` of the Secret wins over it."),
  channel: described(longText, "The channel, where the receiver has channels."),
  username: described(longText, "The name that the receiver shows as the sender."),
  timeout: described(
    shortDuration.optional(),
    "How long sending may take, all retries included, as in `15s`. Hours are not accepted.",
    { "x-default-text": "`15s`" },
  ),
  interval: described(duration.optional(), "No effect, as in Flux."),
  secretRef: localReference(
    "A Secret with `address`, `token`, `username`, `password` or `headers`, as the type needs them.",
  ),
  certSecretRef: localReference(
    "A Secret with `tls.crt` and `tls.key`, or `ca.crt`, or all of them.",
  ),
  proxySecretRef: localReference(
    "A Secret with the `address` of a proxy, and its `username` and `password`.",
  ),
  proxy: described(
    string({ max: 2048, pattern: /^(http|https):\/\/.*$/ }).optional(),
    "Deprecated: the address of a proxy. Use `proxySecretRef`.",
  ),
  serviceAccountName: plainText("For identities of a cloud provider. Not supported."),
  commitStatusExpr: plainText(
    "A CEL expression for the name of the commit's status, with the variables `event`, `alert` and `provider`.",
  ),
  suspend,
}).meta({
  "x-kubernetes-validations": [
    {
      rule: `!has(self.commitStatusExpr) || ${isCommitStatusType}`,
      message: `commitStatusExpr is for the types ${commitStatusTypes.map((type) => `'${type}'`).join(", ")} only: remove it`,
    },
  ],
});

export type ProviderSpec = Typed<typeof providerSpecSchema>;

/** Without a spec where a user wrote none: Flux's schema does not require one. */
export interface Provider extends KubeObject {
  readonly spec?: ProviderSpec;
}

export const providerSchemas = { spec: providerSpecSchema } as const;
