/** The types of Providers that are supported; every other one of Flux's is refused by name. */
import { alertmanager } from "./alertmanager.ts";
import { generic, genericHmac } from "./generic.ts";
import { gitea, github, gitlab } from "./git-hosts.ts";
import { grafana } from "./grafana.ts";
import { msteams } from "./msteams.ts";
import { pagerduty } from "./pagerduty.ts";
import type { BuildDelivery } from "./provider-contract.ts";
import { discord, slack } from "./slack.ts";

export type { OutgoingRequest, ProviderSettings } from "./provider-contract.ts";

const builders: Readonly<Record<string, BuildDelivery>> = {
  generic,
  "generic-hmac": genericHmac,
  slack,
  msteams,
  discord,
  alertmanager,
  pagerduty,
  grafana,
  github,
  gitlab,
  gitea,
};

export const providerTypes: readonly string[] = Object.keys(builders);

/** Undefined for a type that is not supported. */
export function builderOf(type: string): BuildDelivery | undefined {
  return Object.hasOwn(builders, type) ? builders[type] : undefined;
}

const gitTypes: ReadonlySet<string> = new Set(["github", "gitlab", "gitea"]);

/** Whether events that only update the status of a commit are for this type. */
export function takesCommitUpdates(type: string): boolean {
  return gitTypes.has(type) || type.startsWith("generic");
}

/** `SecretRef` keys that a type has no use for. */
export function usesClientCertificate(type: string): boolean {
  return type !== "discord";
}
